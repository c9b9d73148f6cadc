"""Checks a proof of a claim with δ > 0: all pairs are derived again, and every sign and every room is settled again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpverdict.claim.values import plain
from dpverdict.evidence.verdict import Checked
from dpverdict.evidence.verify import set_json
from dpverdict.evidence.verify.comparisons import Comparison, Space
from dpverdict.evidence.verify.inequality import Bound
from dpverdict.evidence.verify.proof import SAMPLED, Numbers, check_probability, is_confirmed
from dpverdict.evidence.verify.refusal import DoesNotHold
from dpverdict.evidence.verify.sets import SetComparison, SetProof, SetQuestion, proves, set_questions


def to_json(question: SetQuestion, proof: SetProof) -> list[object]:
    """An entry of the certificate."""
    return [*_pair(question.comparison), set_json.to_json(proof, question)]


def check(space: Space, entries: Sequence[Any]) -> Checked:
    """Settle everything again.  Raises `DoesNotHold`."""
    listed, settled, confirmed = iter(entries), 0, 0
    seen, numbers = set[tuple[int, Bound]](), Numbers()
    for question in set_questions(space):
        comparison, entry = question.comparison, next(listed, None)
        if entry is None:
            raise DoesNotHold(f"it says nothing about {_shown(comparison)}")
        if not (isinstance(entry, list) and len(entry) == 3 and entry[:2] == _pair(comparison)):
            raise DoesNotHold(f"{entry!r} stands where {_shown(comparison)} have to")
        if not proves(_proof(entry, question), question):
            raise DoesNotHold(f"it does not show that δ is enough for {_shown(comparison)}: {entry[2]!r}")
        for chance in comparison.chances:
            for probability in (chance.probability, chance.neighbour_probability):
                at = numbers.of(probability), question.bound
                if at not in seen:
                    seen.add(at)
                    check_probability(probability, question.bound)
        if settled in SAMPLED:
            # One output of each sampled pair, another one each time.
            confirmed += is_confirmed(space, _of_output(comparison, settled % len(comparison.chances)), question.bound)
        settled += 1
    if next(listed, None) is not None:
        raise DoesNotHold(f"it lists more than the {settled} pairs that there are")
    return Checked(settled, 0, confirmed)


def _proof(entry: Sequence[Any], question: SetQuestion) -> SetProof:
    try:
        return set_json.from_json(entry[2], question)
    except ValueError as error:
        raise DoesNotHold(str(error)) from None


def _of_output(pair: SetComparison, at: int) -> Comparison:
    one = pair.chances[at]
    here, there = one.probability, one.neighbour_probability
    return Comparison(one.output, pair.input, pair.neighbour, here, there, pair.within, pair.unit)


def _pair(comparison: SetComparison) -> list[object]:
    return [plain(comparison.input), plain(comparison.neighbour)]


def _shown(comparison: SetComparison) -> str:
    return f"the inputs {plain(comparison.input)!r} and {plain(comparison.neighbour)!r}"
