"""RAPPOR: a value is hashed into a Bloom filter, whose bits are reported with randomised response."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpverdict.catalog.citations import ERLINGSSON_PIHUR_KOROLOVA
from dpverdict.catalog.entry import Entry, Kind, Promise, Truth
from dpverdict.mechanism import mechanism
from dpverdict.mechanism.noise import Noise

_WORD = 0xFFFFFFFF


def _rotated(word: int, by: int) -> int:
    return ((word << by) | (word >> (32 - by))) & _WORD


def _scrambled(block: int) -> int:
    return _rotated(block * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD


def murmur3_32(data: bytes, seed: int = 0) -> int:
    """MurmurHash3's 32-bit hash as a signed number.

    Written by hand: the published RAPPOR experiments hash with it, and it is not worth a dependency.
    """
    state = seed & _WORD
    whole = len(data) - len(data) % 4
    for start in range(0, whole, 4):
        state ^= _scrambled(int.from_bytes(data[start : start + 4], "little"))
        state = (_rotated(state, 13) * 5 + 0xE6546B64) & _WORD
    # An empty rest is the block 0, which scrambles to 0.
    state ^= _scrambled(int.from_bytes(data[whole:], "little")) ^ len(data)
    state = (state ^ state >> 16) * 0x85EBCA6B & _WORD
    state = (state ^ state >> 13) * 0xC2B2AE35 & _WORD
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


def bloom_filter(value: int, length: int, hashes: int) -> list[bool]:
    """The bits of a Bloom filter that holds the decimal text of `value`."""
    text = str(int(value)).encode()
    positions = {murmur3_32(text, seed) % length for seed in range(hashes)}
    return [position in positions for position in range(length)]


def _permanent(noise: Noise, bits: list[bool], f: float) -> list[Any]:
    """Every bit, replaced by a fair coin with probability f: RAPPOR's step 2."""
    return [noise.bernoulli(1 - f / 2 if bit else f / 2) for bit in bits]


@mechanism
def one_time_rappor(noise: Noise, value: Any, f: float = 0.95, length: int = 20, hashes: int = 4) -> list[Any]:
    """RAPPOR's steps 1 and 2: the Bloom filter's bits with permanent randomised response."""
    return _permanent(noise, bloom_filter(value, length, hashes), f)


@mechanism
def rappor(noise: Noise, value: Any, f: float = 0.75, p: float = 0.45, q: float = 0.55) -> list[Any]:
    """RAPPOR's steps 1 to 3, with 20 bits and 4 hashes: permanent, then instantaneous randomised response."""
    permanent = _permanent(noise, bloom_filter(value, length=20, hashes=4), f)
    return [noise.bernoulli(q * bit + p * (1 - bit)) for bit in permanent]


_NOTES = (
    "murmur3 of the decimal text, seeds 0 to 3; 0 sets the bits 0, 11, 18 and 1 sets 3, 10, 13: each has a collision"
)

# Shared with the entries of DP-Sniper, whose claims and inputs are others.
RAPPOR_TRUTHS = (
    Truth(
        Kind.EXACT,
        "a value that is hashed to 4 bits reports each with probability 41/80 instead of 39/80, so the loss is "
        "ln(41/39) = 0.0500104 per differing bit: 0.40008 for 8 bits, as for 3 and 4. The claim 0.4 is a rounded "
        "0.40008 and fails to the letter",
        ERLINGSSON_PIHUR_KOROLOVA,
        value=8 * math.log(41 / 39),
        loss="8*log(41/39)",
    ),
    Truth(
        Kind.EXACT,
        "0 and 1 differ in 6 bits only: 0.30006",
        about="the inputs 0 and 1",
        value=6 * math.log(41 / 39),
        loss="6*log(41/39)",
    ),
)
ONE_TIME_TRUTHS = (
    Truth(
        Kind.EXACT,
        "the loss is ln(21/19) = 0.1000835 per differing bit: 0.80067 for 8 bits, as for 3 and 4, so the claim 0.8 "
        "fails to the letter (the paper's bound is 2·h·ln((2 - f)/f) = 0.80067)",
        ERLINGSSON_PIHUR_KOROLOVA,
        value=8 * math.log(21 / 19),
        loss="8*log(21/19)",
    ),
    Truth(
        Kind.EXACT,
        "0 and 1 differ in 6 bits only: 0.60050",
        about="the inputs 0 and 1",
        value=6 * math.log(21 / 19),
        loss="6*log(21/19)",
    ),
)

ENTRIES = (
    Entry(
        name="rappor",
        title="RAPPOR (permanent and instantaneous randomised response)",
        mechanism=rappor,
        paper=ERLINGSSON_PIHUR_KOROLOVA,
        promise=Promise("pure", Fraction(2, 5), 0),
        adjacency="any",
        domain="integer:0,99",
        example=0,
        neighbour=1,
        holds=False,
        truths=RAPPOR_TRUTHS,
        notes=f"f = 0.75, p = 0.45, q = 0.55, 20 bits, 4 hashes ({_NOTES})",
    ),
    Entry(
        name="one-time-rappor",
        title="One-time RAPPOR (permanent randomised response only)",
        mechanism=one_time_rappor,
        paper=ERLINGSSON_PIHUR_KOROLOVA,
        promise=Promise("pure", Fraction(4, 5), 0),
        adjacency="any",
        domain="integer:0,99",
        example=0,
        neighbour=1,
        holds=False,
        truths=ONE_TIME_TRUTHS,
        notes=f"f = 0.95, 20 bits, 4 hashes ({_NOTES})",
    ),
)
