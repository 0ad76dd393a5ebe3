"""What build.py runs: packaging, environments, tests, a release, the demo and the speed table."""
