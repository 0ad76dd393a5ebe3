"""Mutations of whole files: what disks, transfers, other tools and people with bad intent make of them."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

LARGEST_STEPS = 6
WORDS = (0, 1, 2, 3, 4, 0x0F, 0x10, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0xFFFFFF)
WORDS += (0x01000000, 0x40000000, 0x7FFFFFFF, 0x80000000, 0xC0000000, 0xFFFFFFFE, 0xFFFFFFFF)
FLOATS = (0.0, -0.0, 1e-45, 1e-38, 1.0, -1.0, 1e6, 3.4e38, -3.4e38, float("inf"), -float("inf"), float("nan"))


def mutations(inputs: list[bytes], seed: int, count: int) -> Iterator[bytes]:
    """So many damaged inputs, the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        data = bytearray(chance.choice(inputs))
        for _ in range(chance.randint(1, LARGEST_STEPS)):
            chance.choice(STEPS)(data, chance, inputs)
        yield bytes(data)


def _place(data: bytearray, chance: random.Random, size: int = 1) -> int:
    """Anywhere, and often where headers and tables are: in front, or at the end."""
    last = max(len(data) - size, 0)
    kind = chance.random()
    if kind < 0.4:
        return min(chance.randrange(0, 0x90), last)
    if kind < 0.5:
        return max(last - chance.randrange(0, 0x60), 0)
    return chance.randint(0, last)


def _flip(data: bytearray, chance: random.Random, inputs: list[bytes]) -> None:
    if data:
        data[_place(data, chance)] ^= 1 << chance.randrange(8)


def _byte(data: bytearray, chance: random.Random, inputs: list[bytes]) -> None:
    if data:
        data[_place(data, chance)] = chance.randrange(256)


def _word(data: bytearray, chance: random.Random, inputs: list[bytes]) -> None:
    size = chance.choice((1, 2, 4, 4, 4))
    at = _place(data, chance, size) // size * size
    value = chance.choice((*WORDS, len(data), len(data) - 16, chance.getrandbits(32)))
    data[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "big")


def _nudge(data: bytearray, chance: random.Random, inputs: list[bytes]) -> None:
    """A number that is slightly wrong: an off-by-one, a pointer into the next record."""
    at = _place(data, chance, 4) // 4 * 4
    value = int.from_bytes(data[at : at + 4], "big") + chance.choice((-32, -16, -2, -1, 1, 2, 16, 32))
    data[at : at + 4] = (value & 0xFFFFFFFF).to_bytes(4, "big")


def _float(data: bytearray, chance: random.Random, inputs: list[bytes]) -> None:
    at = _place(data, chance, 4) // 4 * 4
    data[at : at + 4] = struct.pack(">f", chance.choice(FLOATS))


def _cut(data: bytearray, chance: random.Random, inputs: list[bytes]) -> None:
    del data[_place(data, chance) :]


def _drop(data: bytearray, chance: random.Random, inputs: list[bytes]) -> None:
    at = _place(data, chance)
    del data[at : at + chance.choice((1, 2, 4, 16, 32, 100))]


def _repeat(data: bytearray, chance: random.Random, inputs: list[bytes]) -> None:
    at, size = _place(data, chance), chance.choice((1, 4, 16, 32, 100))
    data[at:at] = data[at : at + size]


def _copy_word(data: bytearray, chance: random.Random, inputs: list[bytes]) -> None:
    """A pointer that another place has, too."""
    there, here = (_place(data, chance, 4) // 4 * 4 for _ in range(2))
    data[here : here + 4] = data[there : there + 4]


def _zeros(data: bytearray, chance: random.Random, inputs: list[bytes]) -> None:
    """What an interrupted copy leaves."""
    at = _place(data, chance)
    size = min(chance.choice((4, 16, 512, 4096)), len(data) - at)
    data[at : at + size] = bytes(size)


def _splice(data: bytearray, chance: random.Random, inputs: list[bytes]) -> None:
    other = chance.choice(inputs)
    at = _place(data, chance)
    data[at:] = other[min(at, len(other)) :]


STEPS = (_flip, _byte, _word, _word, _word, _nudge, _nudge, _float, _cut, _drop, _repeat, _copy_word, _zeros, _splice)
