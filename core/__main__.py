"""Runs the command line: `python -m core COMMAND`."""

import sys

if __name__ == "__main__":
    try:
        import numpy  # noqa: F401 - only to report that it is missing
    except ImportError as error:
        reason = str(error).strip().partition("\n")[0]
        install = f"install it with `{sys.executable} -m pip install numpy`"
        print(f"error: numpy: this Python can't import it ({reason}); {install}", file=sys.stderr)
        sys.exit(2)

    from .cli.main import main

    sys.exit(main())
