"""Where the arrays of a hull stand in its file: their order, their alignment, and the bytes between them.

docs/FORMATS.md, sections 3 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .binary import padding

ROW = 16
"""What the game's own files align every array to."""

WORD = 4
ALIGNMENT = {"spheres": WORD, "vertices": WORD, "triangles": 2, "cells": WORD, "lists": WORD, "indices": 2}
"""What an array can't do without: the game reads its elements at once, and the relocation table names whole words."""


@dataclass(frozen=True, slots=True)
class Block:
    """Where an array stood in the source file: its name, its size in bytes, and the bytes up to the next one."""

    name: str
    size: int
    spare: bytes


@dataclass(frozen=True, slots=True)
class Gap:
    """The bytes behind an array, or behind the header.

    `kept` are those that stay wherever the array ends, and `padding` is how many zeros in front of them bring what
    follows to a multiple of `alignment`.
    """

    padding: int
    kept: bytes
    alignment: int


def gaps(lead: bytes, blocks: Sequence[Block], start: int) -> Iterator[Gap]:
    """The bytes behind the header, which ends at `start`, and behind each array, as the source file has them.

    `lead` are the first of these.
    """
    end = start
    for size, spare in ((0, lead), *((block.size, block.spare) for block in blocks)):
        end += size
        following = end + len(spare)
        alignment = natural_alignment(following)
        zeros = padding(end, alignment)
        zeros -= len(spare[:zeros].lstrip(b"\0"))  # from the first other byte on, somebody put them there
        yield Gap(zeros, spare[zeros:], alignment)
        end = following


def natural_alignment(offset: int) -> int:
    """The largest power of two that divides an offset, up to a `ROW`."""
    return min(offset & -offset, ROW) or ROW


def place(
    lead: bytes, blocks: Sequence[Block], sizes: Mapping[str, int], start: int
) -> tuple[dict[str, int], list[tuple[int, bytes]], int]:
    """Where each array goes when it has these sizes in bytes, the bytes between with their offsets, and where the
    payload ends.

    Arrays of the source's sizes stand as in the source. Otherwise each one is aligned as it was there, or better
    where the game needs it, and all bytes between that aren't padding stay.
    """
    resized = any(sizes[block.name] != block.size for block in blocks)
    at: dict[str, int] = {}
    spares = []
    end = start
    needed = [*(ALIGNMENT[block.name] for block in blocks), WORD]  # the payload consists of words
    names = [*(block.name for block in blocks), ""]
    for gap, least, name in zip(gaps(lead, blocks, start), needed, names, strict=True):
        zeros = padding(end + len(gap.kept), max(gap.alignment, least)) if resized else gap.padding
        spare = bytes(zeros) + gap.kept
        spares.append((end, spare))
        end += len(spare)
        if name:
            at[name] = end
            end += sizes[name]
    return at, spares, end
