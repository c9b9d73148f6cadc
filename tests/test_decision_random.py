"""Random programs: symmetry and pruning change no verdict, and verdicts obey what follows from the definition."""

from __future__ import annotations

from typing import Any

import pytest

from dpverdict.claim import from_arguments
from dpverdict.errors import DPVerdictError
from dpverdict.evidence.verify.comparisons import Space
from dpverdict.mechanism import Mechanism
from dpverdict.proving import Question
from dpverdict.reading.exact.exact_program import ExactProgram
from dpverdict.search.decision import settle
from several_inputs import program

FACTORS = ("1/2", "3/4", "1", "2")
RELATIONS = ("linf:1", "l1:1", "substitute:1", "monotone:1", "any", "linf:2")


class PairByPair(Space):
    """Every ordered pair and every output of both distributions, without the program's symmetries."""

    def symbolic(self) -> None:
        return None


def holds(space: Space) -> bool | None:
    """Whether the claim holds; None where that stays open.  Raises what the exact reading refuses."""
    found = settle(space)
    if found.violation is not None:
        return False
    return None if found.open else True


def spaces(mechanism: Mechanism, shared: dict[str, Any], **claim: Any) -> list[Space]:
    """With symmetry and pruning, with symmetry, and without either; what `shared` knows is not found again."""
    asked = Question("random", mechanism, mechanism.arguments({}), from_arguments(**claim), prune=True)
    find, programs, memo = asked.space().program_for, shared.setdefault("programs", {}), shared.setdefault("memo", {})

    def program_for(given: Any) -> ExactProgram:
        if str(given) not in programs:
            programs[str(given)] = find(given)
        found: ExactProgram = programs[str(given)]
        return found

    kinds = ((Space, True), (Space, False), (PairByPair, False))
    return [kind(asked.claim, program_for, prune, memo=memo) for kind, prune in kinds]


def check(seed: int) -> bool:
    """Whether the program was decided; on the way, all three ways agree, and so do all factors."""
    length, relation = (2, 2, 3)[seed // 6 % 3], RELATIONS[seed % len(RELATIONS)]
    domain = "-1,0,1" if length == 2 else "0,1"
    mechanism, shared, before = program(seed, length), dict[str, Any](), None
    for factor in FACTORS:
        listed = spaces(mechanism, shared, domain=domain, length=length, adjacency=relation, factor=factor)
        try:
            found = [holds(space) for space in listed]
        except DPVerdictError:
            return False
        assert len(set(found)) == 1, (seed, relation, factor, found)
        assert not (before and not found[0]), (seed, "a larger factor is a weaker claim")
        before = found[0]
    return True


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_symmetry_and_pruning_change_no_verdict(first: int) -> None:
    assert sum(check(seed) for seed in range(first, first + 10)) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 2000, 50))
def test_symmetry_and_pruning_change_no_verdict_at_length(first: int) -> None:
    assert sum(check(seed) for seed in range(first, first + 50)) >= 25


# --- what follows from the definition -------------------------------------------------------------------------------


def close(a: Any, b: Any) -> bool:
    """The relation linf:1, as a user writes it."""
    return all(abs(one - other) <= 1 for one, other in zip(a, b, strict=True))


def verdict(mechanism: Mechanism, **claim: Any) -> bool | None:
    """With all that is saved; None where it stays open or is refused."""
    asked = Question("random", mechanism, mechanism.arguments({}), from_arguments(**claim), prune=True)
    try:
        return holds(asked.space())
    except DPVerdictError:
        return None


def turned(mechanism: Mechanism) -> Mechanism:
    """The inputs in reverse order."""

    def run(noise: Any, queries: Any, epsilon: Any) -> Any:
        return mechanism.function(noise, [queries[at] for at in reversed(range(len(queries)))], epsilon)

    return Mechanism(run)


def renamed(mechanism: Mechanism) -> Mechanism:
    """Each output with a name in front."""

    def run(noise: Any, queries: Any, epsilon: Any) -> Any:
        return ["answer", mechanism.function(noise, queries, epsilon)]

    return Mechanism(run)


def coarser(mechanism: Mechanism) -> Mechanism:
    """Outputs of which less is told."""

    def run(noise: Any, queries: Any, epsilon: Any) -> Any:
        found = mechanism.function(noise, queries, epsilon)
        return found[:1] if isinstance(found, list) else 0

    return Mechanism(run)


@pytest.mark.parametrize("seed", range(100, 124))
def test_names_and_orders_change_nothing_and_less_output_is_no_worse(seed: int) -> None:
    mechanism, domain = program(seed, 2), "-1,0,1"
    for factor in ("1/2", "1"):
        claim = {"domain": domain, "length": 2, "factor": factor}
        found = verdict(mechanism, **claim)
        same = [verdict(turned(mechanism), **claim), verdict(renamed(mechanism), **claim)]
        same.append(verdict(mechanism, adjacency=close, **claim))
        assert len({found, *same}) == 1, (seed, factor, found, same)
        if found:
            assert verdict(coarser(mechanism), **claim) is True
