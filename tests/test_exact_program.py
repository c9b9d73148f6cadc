"""What the exact reading reads and what it refuses; `distribution` in Python and on the command line."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpverdict import argmax, discretise, distribution, exp, mechanism
from dpverdict.catalog import find
from dpverdict.catalog.sparse_vector import svt1, svt6
from dpverdict.cli import main
from dpverdict.errors import DPVerdictError, InputError, UnreadableError, UntraceableError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.structure import Input
from dpverdict.reading.exact.epsilon_ranges import EpsilonRange
from dpverdict.reading.exact.exact_program import ExactProgram, assert_sums_to_one
from dpverdict.reading.exact.exponential import Quotient
from dpverdict.reading.why_not import why_not


def rows(function: Callable[..., Any], given: Any, **options: Any) -> dict[str, str]:
    return {str(row.output): row.probability for row in distribution(mechanism(function), given, **options).outputs}


# --- other units, conditions on ε, exceptions ----------------------------------------------------------------------


def test_scales_that_grow_with_epsilon() -> None:
    def hist2(noise: Any, counts: Any, epsilon: Any) -> Any:
        return [discretise(noise.laplace(count, scale=epsilon), [-1, 0, 1]) for count in counts]

    found = distribution(mechanism(hist2), [-1], epsilon=Fraction(1, 2))
    assert [row.probability for row in found.outputs] == ["1/2", "1/2 - 1/2*exp(-(1/eps))", "1/2*exp(-(1/eps))"]
    assert found.outputs[2].value == "0.0676676416183063459469997474862"  # e^-2 / 2


def test_a_fixed_epsilon() -> None:
    def program(noise: Any, x: Any, epsilon: Any) -> Any:
        return noise.laplace(x, scale=1 / epsilon) <= noise.laplace(0, scale=1)

    found = distribution(mechanism(program), 1, args={"epsilon": 0.5})
    values = [Fraction(str(row.value)) for row in found.outputs]
    # For rates a = 1/2, b = 1 and a distance of 1: (b² e^-a - a² e^-b) / (2 (b² - a²)).
    assert float(min(values)) == pytest.approx((math.exp(-0.5) - 0.25 * math.exp(-1)) / 1.5, rel=1e-12)
    assert sum(values) == pytest.approx(1, abs=1e-29)


def test_conditions_on_epsilon_cut_its_range() -> None:
    def rand2(noise: Any, bits: Any, epsilon: Any) -> Any:
        return [bit != noise.bernoulli((1 - epsilon) / 2) for bit in bits]

    found = distribution(mechanism(rand2), [True])
    shown = [(str(row.output), row.probability, str(row.within)) for row in found.outputs]
    assert shown == [
        ("(False,)", "1/2 - 1/2*eps", "(0, 1]"),
        ("(True,)", "1/2 + 1/2*eps", "(0, 1]"),
        ("Raised(exception='ValueError')", "1", "(1, inf)"),
    ]
    assert [row.value for row in distribution(mechanism(rand2), [True], epsilon=2).outputs] == [
        "1.00000000000000000000000000000"
    ]
    exact = ExactProgram.of(mechanism(rand2).program_for([True]))
    with pytest.raises(UnreadableError, match="behaves in different ways"):
        exact.distribution([True])
    one, two = Fraction(1), Fraction(2)
    with pytest.raises(UnreadableError, match="behaves in different ways"):
        exact.distribution([True], EpsilonRange(one / 2, two))
    assert len(exact.distribution([True], EpsilonRange(Fraction(0), one, False, True)).outputs) == 2
    assert len(exact.distribution([True], EpsilonRange(one, two)).outputs) == 1
    assert len(exact.distribution([True], EpsilonRange(one, one, True, True)).outputs) == 2


def test_exceptions_and_shapes_are_outputs() -> None:
    def program(noise: Any, x: Any, epsilon: Any) -> Any:
        if noise.laplace(x, scale=1 / epsilon) > 1:
            raise ValueError
        return {"a": noise.exponential_mechanism([x, 0, 1], epsilon / 2), "b": (1, "t")}

    found = distribution(mechanism(program), 0).to_json()["outputs"]
    assert isinstance(found, list)
    assert found[0] == {"output": None, "exception": "ValueError", "probability": "1/2*exp(-eps)"}
    assert found[1]["output"] == {"a": 0, "b": [1, "t"]}
    assert found[3]["probability"] == "(1 - 1/2*exp(-eps)) / (1 + 2*exp(-1/2*eps))"


def test_outputs_may_depend_on_the_input() -> None:
    def program(noise: Any, x: Any, epsilon: Any) -> Any:
        return x + noise.bernoulli(1 / (1 + exp(epsilon)))

    assert rows(program, 3) == {"3": "(1) / (1 + exp(-eps))", "4": "(exp(-eps)) / (1 + exp(-eps))"}


def test_counts_sums_and_even_noise() -> None:
    def count(noise: Any, xs: Any, epsilon: Any) -> Any:
        return sum(noise.laplace(x, scale=1 / epsilon) > 0 for x in xs)

    def summed(noise: Any, xs: Any, epsilon: Any) -> Any:
        return argmax([sum(noise.laplace(x, scale=1 / epsilon) for x in xs), 1])

    def even(noise: Any, x: Any, epsilon: Any) -> Any:
        return noise.laplace(x, scale=1 / epsilon) > noise.uniform(-1, 1)

    assert rows(count, [0, 1, 1])["0"] == "1/8*exp(-2*eps)"
    assert rows(summed, [0, 1, 1])["1"] == "1/2*exp(-eps) + 5/16*eps*exp(-eps) + 1/16*eps^2*exp(-eps)"
    # ∫ over u in (-1, 1) of e^{-(1 - u)}/4 at a distance of 1: (1 - e^-2ε) / (4ε).
    assert rows(even, 1)["False"] == "(1/4 - 1/4*exp(-2*eps)) / (eps)"


def test_a_comparison_of_noise_with_itself_and_of_whole_numbers_for_equality() -> None:
    def program(noise: Any, x: Any, epsilon: Any) -> Any:
        a, b = noise.discrete_laplace(x, scale=1 / epsilon), noise.discrete_laplace(0, scale=1 / epsilon)
        return a == b, a <= a

    # Two equal laws at the same place: Σ p_i² = (1 - r)² (1 + r²) / ((1 + r)² (1 - r²)).
    found = ExactProgram.of(mechanism(program).program_for(0)).probability((True, True), 0)
    r = "exp(-eps)"
    assert found == Quotient.parse(f"(1 - {r} + exp(-2*eps) - exp(-3*eps)) / (1 + 3*{r} + 3*exp(-2*eps) + exp(-3*eps))")


def test_scales_may_depend_on_the_input_where_they_are_defined() -> None:
    def program(noise: Any, x: Any, epsilon: Any) -> Any:
        if x <= 0:
            return "no scale"
        return noise.laplace(0, scale=x / epsilon) <= 1

    exact = ExactProgram.of(mechanism(program).program_for(1))
    assert [one.output for one in exact.distribution(0).outputs] == ["no scale"]
    assert exact.probability(False, 2) == Quotient.parse("1/2*exp(-1/2*eps)")


def test_whole_noise_beside_real_noise_and_multiples_of_it() -> None:
    def program(noise: Any, x: Any, epsilon: Any) -> Any:
        few = noise.truncated_geometric(-1, 1, scale=1 / epsilon)
        return noise.laplace(x, scale=1 / epsilon) <= few, 2 * noise.discrete_laplace(0, scale=1 / epsilon) < few

    found, epsilon = ExactProgram.of(mechanism(program).program_for(0)), Fraction(2, 3)
    values = {one.output: float(one.probability.digits(epsilon)) for one in found.distribution(0).outputs}
    r, expected = math.exp(-epsilon), dict.fromkeys(values, 0.0)
    for few, weight in ((-1, r / (1 + r)), (0, (1 - r) / (1 + r)), (1, r / (1 + r))):
        below = 1 - math.exp(-epsilon * few) / 2 if few >= 0 else math.exp(epsilon * few) / 2
        # 2 k < few: k ≤ -1 for -1 and 0, k ≤ 0 for 1.
        whole = 1 / (1 + r) if few == 1 else r / (1 + r)
        for one, p in ((True, below), (False, 1 - below)):
            for two, q in ((True, whole), (False, 1 - whole)):
                expected[one, two] += weight * p * q
    assert values == pytest.approx(expected, rel=1e-12)


def test_sums_of_two_whole_numbers() -> None:
    def program(noise: Any, x: Any, epsilon: Any) -> Any:
        return noise.discrete_laplace(x, scale=1 / epsilon) + noise.discrete_laplace(0, scale=1 / epsilon) <= 0

    r = "exp(-eps)"
    # Pr[X + Y = 0] = (1 - r)(1 + r²)/(1 + r)³, and the sum is symmetric.
    exact = ExactProgram.of(mechanism(program).program_for(0))
    tie = Quotient.parse(f"(1 - {r} + exp(-2*eps) - exp(-3*eps)) / (1 + 3*{r} + 3*exp(-2*eps) + exp(-3*eps))")
    assert exact.probability(True, 0) + exact.probability(True, 0) == Quotient.parse("1") + tie


def test_orders_of_whole_numbers_count_ties() -> None:
    def program(noise: Any, xs: Any, epsilon: Any) -> Any:
        a, b, c, d = (noise.discrete_laplace(x, scale=1 / epsilon) for x in xs)
        return (a <= b) & (a < c) & (b <= d) & (c < d)

    found = ExactProgram.of(mechanism(program).program_for([0, 0, 0, 0])).probability(True, [0, 1, 0, 1])
    r = math.exp(-1)
    masses = {k: (1 - r) / (1 + r) * r ** abs(k) for k in range(-40, 41)}
    total = 0.0
    for a, d in itertools.product(range(-40, 40), repeat=2):
        between_b = sum(masses[b - 1] for b in range(max(a, -39), d + 1))
        between_c = sum(masses[c] for c in range(a + 1, d))
        total += masses[a] * masses.get(d - 1, 0.0) * between_b * between_c
    assert float(found.digits(Fraction(1))) == pytest.approx(total, rel=1e-10)


def test_order_statistics_of_arrays() -> None:
    def program(noise: Any, xs: Any, epsilon: Any) -> Any:
        ascending = np.sort(noise.laplace(np.asarray(xs), scale=1 / epsilon))
        return ascending[1] > 1, discretise(ascending[0], [-1, 0])

    exact = ExactProgram.of(mechanism(program).program_for([0, 1, 2]))
    found = {one.output: one.probability for one in exact.distribution([0, 1, 2]).outputs}
    assert sum((p for (above, _), p in found.items() if above), Quotient.parse("0")) == Quotient.parse("1/2")
    # The smallest is above -1 with the probability that all three are.
    tails = [Quotient.parse(f"1 - 1/2*exp(-{distance}*eps)") for distance in (1, 2, 3)]
    assert found[True, 0] + found[False, 0] == tails[0] * tails[1] * tails[2]


def test_noise_that_is_placed_by_noise() -> None:
    def program(noise: Any, x: Any, epsilon: Any) -> Any:
        first = noise.truncated_geometric(0, 2, loc=x, scale=1 / epsilon)
        return noise.truncated_geometric(0, 2, loc=first, scale=1 / epsilon)

    found = ExactProgram.of(mechanism(program).program_for(0)).distribution(0)
    r = math.exp(-1)
    low = [1 / (1 + r), r * (1 - r) / (1 + r), r**2 / (1 + r)]
    rows = [low, [r / (1 + r), (1 - r) / (1 + r), r / (1 + r)], low[::-1]]
    expected = [sum(rows[0][k] * rows[k][j] for k in range(3)) for j in range(3)]
    assert [float(one.probability.digits(Fraction(1))) for one in found.outputs] == pytest.approx(expected, rel=1e-12)


def test_a_number_that_is_not_finite_is_named() -> None:
    def program(noise: Any, x: Any, epsilon: Any) -> Any:
        return math.inf if noise.laplace(x, scale=1 / epsilon) > 0 else x

    assert distribution(mechanism(program), 0).to_json()["outputs"] == [
        {"output": "inf", "probability": "1/2"},
        {"output": 0, "probability": "1/2"},
    ]


# --- what is refused -----------------------------------------------------------------------------------------------


def mixed(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.laplace(x, scale=1 / epsilon) <= noise.laplace(0, scale=1)


def released(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.laplace(x, scale=1 / epsilon)


def endless(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.discrete_laplace(x, scale=1 / epsilon)


def gaussian(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.normal(x, scale=1 / epsilon) > 0


def root(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.laplace(x, scale=2**0.5 / epsilon) > 0.5


def threshold(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.laplace(x, scale=1 / epsilon) > 1 / epsilon


def squared(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.bernoulli(exp(-(epsilon**2)))


def scaled(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.laplace(0, scale=1 / epsilon**2) > x


def kinds(noise: Any, x: Any, epsilon: Any) -> Any:
    return noise.laplace(x, scale=1 / epsilon) > noise.discrete_laplace(0, scale=1 / epsilon)


REFUSED = [
    (mixed, "EXACT-015"),
    (released, "EXACT-002"),
    (endless, "EXACT-002"),
    (gaussian, "EXACT-013"),
    (root, "EXACT-021"),
    (threshold, "EXACT-010"),
    (squared, "EXACT-012"),
    (scaled, "EXACT-011"),
    (kinds, "EXACT-019"),
]


@pytest.mark.parametrize(("function", "code"), REFUSED)
def test_what_has_no_exact_form_says_why(function: Callable[..., Any], code: str) -> None:
    reason = why_not(mechanism(function), 1, "exact")
    assert isinstance(reason, UnreadableError)
    assert reason.code == code
    assert reason.why
    assert reason.fix


def test_the_reading_is_open_or_there_is_no_program() -> None:
    assert why_not(svt1, [0, 1], "exact") is None
    assert isinstance(why_not(Mechanism(lambda noise, x: float(noise.laplace(x))), 0, "exact"), UntraceableError)


def test_an_input_of_another_form_is_refused() -> None:
    exact = ExactProgram.of(svt1.program_for([0, 1]))
    with pytest.raises(InputError, match="another form"):
        exact.distribution([0, 1, 0])


@pytest.mark.parametrize("epsilon", [0, -1, "x", float("nan"), float("inf"), "1/0"])
def test_a_wrong_epsilon_is_refused(epsilon: Any) -> None:
    with pytest.raises(DPVerdictError, match="above 0"):
        distribution(svt1, [0], epsilon=epsilon)


def test_a_sum_that_is_not_one_is_an_error() -> None:
    outputs = ExactProgram.of(svt1.program_for([0, 1])).distribution([0, 1]).outputs
    assert_sums_to_one(outputs, "svt1")
    with pytest.raises(AssertionError, match="not to 1"):
        assert_sums_to_one(outputs[1:], "svt1")
    with pytest.raises(AssertionError, match="not to 1"):
        assert_sums_to_one((replace(outputs[0], probability=outputs[1].probability), *outputs[1:]), "svt1")


# --- one structure for all inputs ----------------------------------------------------------------------------------


def test_a_memo_changes_no_answer() -> None:
    exact, memo = ExactProgram.of(svt6.program_for([0, 0, 0])), dict[Any, Any]()
    for given in itertools.product((-1, 0, 1), repeat=3):
        shared = exact.distribution(list(given), memo=memo)
        assert shared == exact.distribution(list(given))
    assert exact.outputs() == tuple(itertools.product((True, False), repeat=3))


def test_regions_are_affine_in_the_inputs() -> None:
    exact = ExactProgram.of(svt1.program_for([0, 0]))
    (region,) = next(regions for pattern, regions in exact.regions.items() if len(pattern.slots) == 1)
    (comparison,) = region.comparisons
    assert [c for _, c in comparison.terms] == [1, -1]
    assert comparison.offset.terms == ((Input((0,), comparison.offset.terms[0][0].kind), -1),)  # type: ignore[union-attr]


def test_decimals_in_inputs_are_exact() -> None:
    found = ExactProgram.of(svt1.program_for([0.5, 1.0])).probability((True,), [0.5, 1])
    assert found == Quotient.parse("1 - 2/3*exp(-1/8*eps) + 1/6*exp(-1/4*eps)")


# --- the command ---------------------------------------------------------------------------------------------------


def test_the_command_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["distribution", "catalog:svt1", "--input", "0,1", "--epsilon", "1/2", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["outputs"] == [
        {"output": [True], "probability": "1/2", "value": "0.500000000000000000000000000000"},
        {
            "output": [False, True],
            "probability": "1/2 - 7/16*exp(-1/4*eps) + 1/6*exp(-1/2*eps) - 1/48*exp(-3/4*eps)",
            "value": "0.229389208989661735151113016435",
        },
        {
            "output": [False, False],
            "probability": "7/16*exp(-1/4*eps) - 1/6*exp(-1/2*eps) + 1/48*exp(-3/4*eps)",
            "value": "0.270610791010338264848886983565",
        },
    ]
    assert (shown["target"], shown["input"], shown["epsilon"]) == ("catalog:svt1", [0, 1], "1/2")


def test_the_command_for_people(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "def rand2(noise, bits, epsilon):\n    return [bit != noise.bernoulli((1 - epsilon) / 2) for bit in bits]\n"
    )
    assert main(["distribution", f"{file}:rand2", "--input", "true,"]) == 0
    text = capsys.readouterr().out
    assert "eps in (0, 1]:\n  [False]  1/2 - 1/2*eps\n" in text
    assert "eps in (1, inf):\n  raises ValueError  1" in text
    assert main(["distribution", "catalog:svt1", "--length", "1", "--arg", "threshold=1", "--epsilon", "2"]) == 0
    assert "threshold = 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["catalog:histogram", "--input", "1,2"], "EXACT-002"),
        (["catalog:svt1", "--input", "0,1", "--epsilon", "0"], "epsilon must be finite and above 0"),
        (["catalog:svt1", "--input", "0,nan"], "INPUT-"),
        (["catalog:svt1", "--input", "0", "--length", "1"], "USAGE-014"),
        (["catalog:svt1", "--input", "0", "--arg", "limit=1"], "INPUT-023"),
        (["catalog:svt1", "--input", "0", "--arg", "epsilon=1", "--epsilon", "1"], "USAGE-012"),
        (["exec:true", "--input", "0"], "TARGET-014"),
    ],
)
def test_wrong_words_are_explained(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["distribution", *words]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("name", ["svt1", "svt2", "svt4", "svt5", "svt6", "svt-countdown", "noisy-maximum"])
def test_catalogue_entries_are_read(name: str) -> None:
    entry = find(name)
    given = list(entry.example)
    exact = ExactProgram.of(entry.mechanism.program_for(given))
    assert exact.distribution(given).unit == exact.unit(list(entry.neighbour))
