"""The only place that makes random generators.

Every stream derives from (seed, job, phase, block) alone, so a result does not depend on how many workers there
were, and any block can be redone by itself.
"""

from __future__ import annotations

import hashlib
import json
import random
import secrets

import numpy

from dpverdict.errors import UsageError

_DERIVATION = 1
"""Part of what is hashed: a change of the way seeds are derived must change this number."""

_POOL_WORDS = 8


def generator(seed: int, job: str, block: int, phase: str = "run") -> numpy.random.Generator:
    """The generator of one block of a job: the same on every platform, in every process and release."""
    return numpy.random.Generator(numpy.random.SFC64(sequence(seed, job, block, phase)))


def sequence(seed: int, job: str, block: int, phase: str = "run") -> numpy.random.SeedSequence:
    """The seed sequence that `generator` starts from, for sources of noise that are not NumPy's."""
    whole = [_DERIVATION, _whole_number("seed", seed), _digest(job), phase, _whole_number("block", block)]
    return numpy.random.SeedSequence(int(_digest(json.dumps(whole)), 16), pool_size=_POOL_WORDS)


def seed_globals(seed: int, job: str, block: int, phase: str = "run") -> None:
    """Seed `random` and `numpy.random` of this process, for code that draws from them whatever it is given.

    Only worker processes do this: they would otherwise carry state from block to block, or share it.
    """
    # Both are Mersenne twisters: from the same words they would give the same numbers.
    one, other = sequence(seed, job, block, phase).spawn(2)
    random.seed(sum(int(word) << 32 * place for place, word in enumerate(one.generate_state(_POOL_WORDS))))
    numpy.random.seed(other.generate_state(_POOL_WORDS))  # noqa: NPY002  (other people's code uses it)


def fresh_seed() -> int:
    """A seed from the operating system's entropy; 53 bits, so that every JSON reader keeps it exact."""
    return secrets.randbits(53)


def _digest(text: str) -> str:
    # Surrogates can stand in a path name that is no valid UTF-8.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _whole_number(what: str, given: object) -> int:
    if isinstance(given, (int, numpy.integer)) and not isinstance(given, bool) and given >= 0:
        return int(given)
    raise UsageError(
        "USAGE-101",
        f"a {what} must be a whole number, at least 0; got {given!r}",
        why="runs can be repeated only from a number that is written down exactly",
        fix="--seed 1",
    )
