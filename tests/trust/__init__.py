"""What is promised, tried on thousands of cases: docs/TRUST.md tells which. Each run tries the same ones."""
