"""Verdicts of the exact decision: published ones, symmetry and pruning against all pairs, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx

from dpverdict.evidence.verdict import Proved, Refuted, Undecided
from dpverdict.evidence.verify.comparisons import Space, comparisons
from dpverdict.evidence.verify.coverage import groups
from dpverdict.mechanism import mechanism
from dpverdict.proving import Question, Work, answer
from dpverdict.search.decision import settle
from exact_questions import question

QUIET = Work(out=None)
TWICE = {"stop_after": 2}

PROVED: list[tuple[str, int, dict[str, Any]]] = [
    ("svt1", 3, {}),
    ("svt1", 4, {}),
    ("svt1", 3, {"args": TWICE}),
    ("svt1", 3, {"factor": "3/4"}),
    ("svt1", 1, {"factor": "1/4"}),
    ("svt2", 3, {}),
    ("svt2", 3, {"args": TWICE, "factor": "3/8"}),
    ("svt6", 2, {}),
    ("noisy-maximum", 3, {}),
    ("noisy-maximum-exponential", 3, {}),
    ("randomised-response", 2, {"domain": "0,1", "adjacency": "substitute:1"}),
    ("svt4", 1, {}),
]

REFUTED: list[tuple[str, int, dict[str, Any]]] = [
    ("svt4", 2, {}),
    ("svt5", 2, {}),
    ("svt6", 3, {}),
    ("svt1", 3, {"factor": "74/100"}),
    ("svt1", 1, {"factor": "24/100"}),
    ("svt2", 3, {"args": TWICE, "factor": "37/100"}),
    ("svt-countdown", 5, {"args": TWICE}),
    ("randomised-response", 2, {"domain": "0,1", "adjacency": "any"}),
]


@pytest.mark.parametrize(("name", "length", "given"), PROVED)
def test_what_holds_is_proved(name: str, length: int, given: dict[str, Any]) -> None:
    verdict = answer(question(name, length, **given), QUIET)
    assert isinstance(verdict, Proved)
    assert verdict.checked.confirmed > 0


@pytest.mark.parametrize(("name", "length", "given"), REFUTED)
def test_what_fails_is_refuted(name: str, length: int, given: dict[str, Any]) -> None:
    asked = question(name, length, **given)
    verdict = answer(asked, QUIET)
    assert isinstance(verdict, Refuted)
    assert asked.claim.why_not_about(verdict.witness.input, verdict.witness.neighbour) is None
    assert verdict.witness.epsilon is not None
    factor = Fraction(given.get("factor", 1))
    assert verdict.lower_bound > float(factor * verdict.witness.epsilon) * (1 - 1e-12)


@pytest.mark.parametrize(("name", "length", "given"), [*PROVED, *REFUTED])
def test_symmetry_and_pruning_change_no_verdict(name: str, length: int, given: dict[str, Any]) -> None:
    """Against every ordered pair of neighbours, each output of both distributions compared."""
    asked = question(name, min(length, 3), **given)
    pruned = settle(asked.space())
    plain = settle(question(name, min(length, 3), prune=False, **given).space())
    everything = settle(_PairByPair(asked.claim, asked.space().program_for))
    verdicts = {progress.violation is None for progress in (pruned, plain, everything)}
    assert len(verdicts) == 1
    assert [progress.open for progress in (pruned, plain, everything)] == [[], [], []]


class _PairByPair(Space):
    """Without the program's symmetries."""

    def symbolic(self) -> None:
        return None


@pytest.mark.parametrize("name", ["svt1", "svt4", "noisy-maximum", "svt6"])
def test_the_hardest_neighbour_is_the_hardest(name: str) -> None:
    """Pruned pairs have the least probability of all neighbours, at several ε."""
    asked = question(name, 3)
    for pruned in comparisons(asked.space()):
        exact, _ = asked.space().on(pruned.input)
        for a, b in asked.claim.neighbourhood.pairs(asked.claim.domain):
            if list(a) == list(pruned.input):
                other = exact.probability(pruned.output, list(b), pruned.within)
                for epsilon in (Fraction(1, 3), Fraction(2)):
                    here, there = pruned.neighbour_probability.value(epsilon), other.value(epsilon)
                    assert not here > there


def test_argmax_outputs_are_one_group() -> None:
    asked = question("noisy-maximum", 4)
    symbolic = asked.space().symbolic()
    assert symbolic is not None
    exact, inputs, _ = symbolic
    from dpverdict.evidence.verify.comparisons import coordinates_of, regions_by_output

    found = groups(regions_by_output(exact), coordinates_of(exact, inputs, True), inputs)
    assert [len(group.outputs) for group in found] == [4]
    assert sorted(map(len, found[0].blocks)) == [1, 3]
    assert found[0].rises is not None


# --- premises that must not be assumed ------------------------------------------------------------------------------


@mechanism
def scale_from_query(noise: Any, queries: Any, epsilon: Any) -> Any:
    """The first query sets a scale: nothing is monotone in it, and it cannot be swapped."""
    wide = noise.laplace(0, scale=2 / epsilon) if queries[0] > 0 else noise.laplace(0, scale=1 / epsilon)
    return [wide + queries[1] >= 1, noise.laplace(queries[2], scale=1 / epsilon) >= 0]


@mechanism
def both_ways(noise: Any, queries: Any, epsilon: Any) -> Any:
    """A query that counts for and against the same output."""
    x = noise.laplace(queries[0], scale=2 / epsilon)
    return (x >= 0) & (noise.laplace(0, scale=2 / epsilon) >= queries[0])


@mechanism
def leaky(noise: Any, queries: Any, epsilon: Any) -> Any:
    """An output that is the input."""
    return [noise.laplace(queries[0], scale=1 / epsilon) >= 0, queries[1]]


@mechanism
def whole_noise(noise: Any, queries: Any, epsilon: Any) -> Any:
    """Geometric noise against a threshold."""
    return [noise.discrete_laplace(query, scale=2 / epsilon) >= 1 for query in queries]


@pytest.mark.parametrize("program", [scale_from_query, both_ways, whole_noise])
@pytest.mark.parametrize("factor", ["1/2", "1", "3/2", "3"])
def test_premises_are_checked(program: Any, factor: str) -> None:
    """Pruned or not, and pair by pair: the same verdict, whatever the factor."""
    length = 3 if program is scale_from_query else 1 if program is both_ways else 2
    asked = question(program, length, factor=factor)
    runs = [settle(asked.space()), settle(question(program, length, prune=False, factor=factor).space())]
    runs.append(settle(_PairByPair(asked.claim, asked.space().program_for)))
    assert len({progress.violation is None for progress in runs}) == 1


def test_an_input_that_is_released_is_found() -> None:
    verdict = answer(question(leaky, 2), QUIET)
    assert isinstance(verdict, Refuted)
    assert verdict.lower_bound == float("inf")


# --- ε ranges -------------------------------------------------------------------------------------------------------


@mechanism
def large_epsilon(noise: Any, value: Any, epsilon: Any) -> Any:
    """Right for ε up to 1, with half the noise beyond."""
    return noise.laplace(value, scale=(1 if epsilon <= 1 else 0.5) / epsilon) >= 0


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({"epsilon_range": "0,1"}, Proved),
        ({"epsilon": "1"}, Proved),
        ({"epsilon": "1/2"}, Proved),
        ({"epsilon": "3/2"}, Refuted),
        ({"epsilon_range": "1/2,2"}, Refuted),
        ({}, Refuted),
        ({"factor": "2"}, Proved),
    ],
)
def test_ranges_of_epsilon(given: dict[str, Any], verdict: type) -> None:
    assert isinstance(answer(question(large_epsilon, None, **given), QUIET), verdict)


@mechanism
def reciprocal(noise: Any, value: Any, epsilon: Any) -> Any:
    """Noise of scale ε where 1/ε belongs (DiPC's second histogram)."""
    return noise.laplace(value, scale=epsilon) >= 0


def test_noise_that_is_no_multiple_of_the_reciprocal() -> None:
    assert isinstance(answer(question(reciprocal, None, epsilon="1/4"), QUIET), Refuted)
    assert isinstance(answer(question(reciprocal, None, epsilon="2"), QUIET), Proved)


@mechanism
def fixed(noise: Any, value: Any) -> Any:
    """No ε at all: Laplace noise of scale 10."""
    return noise.laplace(value, scale=10) >= 0


def test_a_mechanism_without_epsilon() -> None:
    assert isinstance(answer(question(fixed, None, claim="pure:1/10"), QUIET), Proved)
    refuted = answer(question(fixed, None, claim="pure:9/100"), QUIET)
    assert isinstance(refuted, Refuted)
    assert refuted.witness.epsilon is None


@mechanism
def second_response(noise: Any, value: Any, epsilon: Any) -> Any:
    """DiPC's Rand2: the chance (1 - ε)/2 is none where ε > 1, and the draw raises an error there."""
    return noise.bernoulli((1 - epsilon) / 2) ^ value


@pytest.mark.parametrize(("epsilon", "verdict"), [("0,1/2", Refuted), ("0,1", Refuted), ("2,3", Proved)])
def test_a_chance_that_ends_at_an_epsilon(epsilon: str, verdict: type) -> None:
    asked = question(second_response, None, domain="boolean", adjacency="any", epsilon_range=epsilon)
    assert isinstance(answer(asked, QUIET), verdict)


def test_counterexamples_are_confirmed_independently() -> None:
    """The probabilities of SVT4's witness against closed forms that were integrated by hand."""
    verdict = answer(question("svt4", 2, epsilon="1"), QUIET)
    assert isinstance(verdict, Refuted)
    with ctx.workprec(120):
        e = [(arb(-k) / 4).exp() for k in range(5)]
        here = arb(1) / 2 - 9 * e[1] / 16 + 13 * e[3] / 56 - 9 * e[4] / 112
        assert abs(here - arb(str(verdict.probabilities["input_value"]))) < 1e-25


def test_time_is_bounded() -> None:
    verdict = answer(question("svt1", 6, prune=False), Work(seconds=1e-6, out=None))
    assert isinstance(verdict, Undecided)
    assert "time is up" in verdict.reason
    assert verdict.partial["complete"] is False


def test_a_question_is_about_the_arguments_that_are_given() -> None:
    asked: Question = question("svt1", 2, args=TWICE)
    assert asked.arguments["stop_after"] == 2


@mechanism
def always_raises(noise: Any, value: Any, epsilon: Any) -> Any:
    """A typo, say."""
    raise LookupError("no answer")


def test_a_mechanism_that_always_raises_is_told_of() -> None:
    verdict = answer(question(always_raises, None), QUIET)
    assert isinstance(verdict, Proved)
    assert "raises LookupError" in verdict.findings[0]
    assert not answer(question("svt1", 1), QUIET).findings
