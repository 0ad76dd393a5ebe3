"""Whatever is encoded in these tests is decoded again, on the spot, and must be what was encoded."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from core.formats import chunk, collision_set, idxd, ipfb, mcol, regn
from tests.support.tally import cases

LEFT_OUT = {
    "carried",  # what is written from it is compared by the bytes
    "parts",  # compared one by one
    "relocation",  # may be spelled again
}


def assert_same(found: object, expected: object, where: str) -> None:
    """Two models have the same values, bit for bit."""
    if isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray) and found.shape == expected.shape, where
        assert np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f"), where
    elif dataclasses.is_dataclass(expected):
        for field in dataclasses.fields(expected):
            if field.name not in LEFT_OUT:
                assert_same(getattr(found, field.name), getattr(expected, field.name), f"{where}.{field.name}")
        if hasattr(expected, "parts"):
            assert_same(list(found.parts), list(expected.parts), f"{where}.parts")
    elif isinstance(expected, (list, tuple)) and not hasattr(expected, "_fields"):
        assert isinstance(found, Sequence) and len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, other, f"{where}[{number}]")
    else:
        assert found == expected, where


def _checked(module, encode: Callable[..., bytes]) -> Callable[..., bytes]:
    @functools.wraps(encode)
    def encode_and_decode(model: object, *arguments: object) -> bytes:
        data = encode(model, *arguments)
        with cases("what is encoded is decoded"):
            again = chunk.decode(data, model.magic) if module is chunk else module.decode(data)
            assert_same(again, model, module.__name__)
            assert encode(again) == data
        return data

    return encode_and_decode


@pytest.fixture(autouse=True, scope="module")
def _what_is_encoded_is_decoded() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (chunk, mcol, collision_set, idxd, ipfb, regn):
            patch.setattr(module, "encode", _checked(module, module.encode))
        yield
