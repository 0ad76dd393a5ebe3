"""Runs the command line: `python -m core COMMAND`."""

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main())
