"""An error probability as something that is owned: it can be split, and it is spent once.

If every statement is wrong with at most the probability that was spent on it, all of them together are wrong with at
most what there was at the start (the union bound), whatever they have to do with each other.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NoReturn

from dpverdict.claim.exact_numbers import exact, text_of
from dpverdict.errors import EvidenceError

_LEAST = Fraction(1, 10**300)


class Allowance:
    """An error probability, exact.  `spend` or `split` uses it up; doing either again raises `EvidenceError`.

    This is the one object of its room that changes: a copy of it could be spent a second time, so there are none.
    """

    __slots__ = ("_probability", "_used_for")

    def __init__(self, probability: Fraction | float | str) -> None:
        self._probability = error_probability(probability)
        self._used_for: str | None = None

    @property
    def probability(self) -> Fraction:
        """How much it is, or was."""
        return self._probability

    def spend(self, purpose: str) -> Fraction:
        """The probability, for one statement.  The purpose is what an error says if somebody asks again."""
        if self._used_for is not None:
            raise EvidenceError(
                "EVID-001",
                f"an error probability of {text_of(self._probability)} is spent twice",
                place=f"first for: {self._used_for}; now for: {purpose}",
                why="two statements that are each wrong with this probability are wrong with up to twice as much",
                fix="split the allowance before the first statement, and give each its own part",
            )
        self._used_for = purpose
        return self._probability

    def split(self, *weights: Fraction | float | str) -> tuple[Allowance, ...]:
        """Parts in proportion to the weights, which together are exactly the whole."""
        shares = [exact(weight, "weights=") for weight in weights]
        if not shares or min(shares) <= 0:
            raise EvidenceError(
                "EVID-002",
                "an allowance is split by positive weights",
                place=f"got {', '.join(map(str, weights)) or 'none'}",
                why="a part of 0 allows no statement, and a negative one would make the others larger than the whole",
                fix="allowance.split(9, 1)",
            )
        whole = self.spend(f"a split into {len(shares)}")
        return tuple(Allowance(whole * share / sum(shares)) for share in shares)

    def __reduce__(self) -> NoReturn:
        raise EvidenceError(
            "EVID-003",
            "an allowance cannot be copied",
            why="the copy could be spent a second time",
            fix="spend or split it here, and pass on the number or the parts",
        )

    def __repr__(self) -> str:
        state = "unspent" if self._used_for is None else f"spent for: {self._used_for}"
        return f"<allowance of {text_of(self._probability)}, {state}>"


def error_probability(value: Fraction | float | str) -> Fraction:
    """The exact number, if it is an error probability: from 1e-300 to below 1/2.

    From 1/2 on, a lower and an upper bound could pass each other, and nobody means it.
    """
    probability = exact(value, "alpha=")
    if _LEAST <= probability < Fraction(1, 2):
        return probability
    raise EvidenceError(
        "EVID-004",
        "an error probability lies above 0 and below 1/2",
        place=f"alpha={text_of(probability)}",
        why="no number of runs shows anything at 0 (the least here is 1e-300); from 1/2 on a coin says as much",
        fix="alpha=1e-6 for a verdict, alpha=0.05 for a bound as in the papers",
    )
