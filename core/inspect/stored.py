"""A hull as its file stores it, with every word that the file says beyond the geometry."""

from __future__ import annotations

import numpy as np

from ..formats import mcol
from ..formats.mcol import Carried, Hull


def as_stored(hull: Hull) -> Hull:
    """The hull itself, or what reading its file would give if it was never in one.

    Raises `FormatError` if it can't be stored.
    """
    return mcol.decode(mcol.encode(hull)) if hull.carried is None else hull


def carried(hull: Hull) -> Carried:
    """What the hull's file says beyond the geometry. Raises `ValueError` if it was never in one."""
    if hull.carried is None:
        raise ValueError("this hull comes from no file")
    return hull.carried


def cell_records(hull: Hull) -> np.ndarray:
    """The cell records (n,) of the hull's file, dtype `mcol_records.CELL`. Raises `ValueError` if there are none."""
    records = carried(hull).cells
    if records is None:
        raise ValueError("this hull comes from no file")
    return records
