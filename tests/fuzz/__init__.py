"""Hostile input for every reader: what is done with it, what must not happen, and small inputs to start from.

`tools/fuzz.py` runs it for as long as one likes, `tests/trust/test_fuzz.py` a short seeded part in every test run.
"""
