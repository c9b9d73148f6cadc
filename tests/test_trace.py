"""Tracing: which programs come out, and that a function may be written the way Python is written."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpverdict
from dpverdict.catalog import find
from dpverdict.errors import InputError, MechanismError
from dpverdict.execute import seeds
from dpverdict.execute.array_noise import NumpyNoise
from dpverdict.mechanism import Mechanism, mechanism
from dpverdict.mechanism.constants import number
from dpverdict.mechanism.explain import explain
from dpverdict.mechanism.graph import draws_of, in_order
from dpverdict.mechanism.noise import RealNoise
from dpverdict.mechanism.structure import (
    BranchNode,
    Draw,
    EmitNode,
    Epsilon,
    Kind,
    Program,
    RaiseNode,
    ReturnNode,
)
from dpverdict.reading.sample import Sampler, tally


def lines(program: Program) -> list[str]:
    """The program's tree, without the summary."""
    return [line.strip() for line in explain(program).split("\n\n", 1)[1].splitlines()]


def branches(program: Program) -> int:
    return sum(isinstance(node, BranchNode) for node in in_order(program.root))


def outputs(made: Mechanism, given: Any, epsilon: float | None = 1.0, runs: int = 2000, **arguments: Any) -> set[Any]:
    """The outputs that show in some runs of the traced program."""
    program = made.program_for(given, arguments)
    batch = Sampler(program, given, epsilon, arguments or None).batch(NumpyNoise(seeds.generator(1, "trace", 0)), runs)
    return set(tally(batch))


# --- how many paths, draws and outputs ------------------------------------------------------------------------


def test_svt1_with_thirty_queries_has_a_path_per_stop() -> None:
    svt1 = find("svt1").mechanism
    assert svt1.program_for((0,) * 30).paths == 31
    # Only from the tenth answer on can the count reach ten: earlier stops are pruned by bounds (21 stops, or none).
    assert svt1.program_for((0,) * 30, {"stop_after": 10}).paths == 22
    assert svt1.program_for((0,) * 30, {"stop_after": 31}).paths == 1


def test_a_noisy_maximum_of_ten_is_one_return() -> None:
    program = find("noisy-maximum").mechanism.program_for((0,) * 10)
    assert program.paths == 1
    assert [type(node).__name__ for node in in_order(program.root)] == ["DrawNode"] * 10 + ["EmitNode", "ReturnNode"]


def test_svt6_written_with_branches_has_every_output() -> None:
    @mechanism
    def branching(noise: Any, queries: Any, epsilon: Any) -> Any:
        limit = noise.laplace(0, 2 / epsilon)
        answers = []
        for query in queries:
            if noise.laplace(query, 2 / epsilon) >= limit:
                answers.append(True)
            else:
                answers.append(False)
        return answers

    program = branching.program_for((0,) * 10)
    assert program.paths == 1024
    assert len(draws_of(program.root)) == 11
    assert ways(program) == 2**10


def ways(program: Program) -> int:
    """How many different sequences of emitted constants there are."""
    found: dict[int, int] = {}
    for node in reversed(in_order(program.root)):
        match node:
            case BranchNode(_, yes, no):
                found[id(node)] = found[id(yes)] + found[id(no)]
            case ReturnNode() | RaiseNode():
                found[id(node)] = 1
            case _:
                found[id(node)] = found[id(node.then)]
    return found[id(program.root)]


def test_svt2_with_ten_queries_and_no_stop_uses_21_draws() -> None:
    program = find("svt2").mechanism.program_for((0.5,) * 10, {"stop_after": 11})
    assert program.paths == 1024
    # Eleven thresholds (one more after each hit), and ten queries, whichever threshold they meet.
    assert len(draws_of(program.root)) == 21


def test_exclusive_branches_share_draws_and_no_path_uses_one_twice() -> None:
    @mechanism
    def twice(noise: Any, x: Any, epsilon: Any) -> Any:
        if noise.laplace(x, 1 / epsilon) > 0:
            return noise.laplace(x, 1 / epsilon)
        return noise.laplace(x, 1 / epsilon) + noise.laplace(x, 1 / epsilon)

    program = twice.program_for(0.0)
    assert [draw.occurrence for draw in draws_of(program.root)] == [1, 2, 3]
    for path in paths(program.root):
        drawn = [node.draw for node in path if hasattr(node, "draw")]
        assert len(set(drawn)) == len(drawn)


def paths(node: Any) -> list[list[Any]]:
    match node:
        case BranchNode(_, yes, no):
            return [[node, *rest] for side in (yes, no) for rest in paths(side)]
        case ReturnNode() | RaiseNode():
            return [[node]]
        case _:
            return [[node, *rest] for rest in paths(node.then)]


# --- ε, numbers and booleans --------------------------------------------------------------------------------------


def test_epsilon_is_known_to_be_positive() -> None:
    @mechanism
    def careful(noise: Any, x: Any, epsilon: Any) -> Any:
        if epsilon <= 0 or not epsilon or 2 / epsilon < 0 or dpverdict.exp(epsilon) < 1:
            raise ValueError("epsilon must be positive")
        keep = dpverdict.exp(epsilon) / (1 + dpverdict.exp(epsilon))
        assert 0 <= keep <= 1
        return noise.bernoulli(keep)

    program = careful.program_for(0)
    assert program.paths == 1
    assert lines(program)[0] == "bernoulli1 ~ Bernoulli(exp(ε)/(exp(ε) + 1))"


def test_epsilon_may_have_another_name_or_none() -> None:
    @mechanism(epsilon="budget")
    def named(noise: Any, x: Any, budget: Any, unit: float = 1) -> Any:
        return noise.laplace(x, unit / budget)

    assert named.epsilon_name == "budget"
    assert "laplace1 ~ Laplace(input, 3/ε)" in lines(named.program_for(0.0, {"unit": 3}))
    fixed = named.program_for(0.0, {"budget": 2})
    assert "laplace1 ~ Laplace(input, 1/2)" in lines(fixed)
    assert mechanism(lambda noise, x: noise.laplace(x)).epsilon_name is None


def test_floats_are_read_as_shortest_decimals_and_shown() -> None:
    @mechanism
    def decimal(noise: Any, x: Any, epsilon: Any) -> Any:
        return noise.laplace(0.1 * x, 0.25 / epsilon) >= 1 / 3

    program = decimal.program_for(0.0)
    assert program.decimals == ("0.1", "0.3333333333333333")
    text = explain(program)
    assert "the float 0.1 is read as 1/10" in text
    assert "the float 0.3333333333333333 is read as 3333333333333333/10000000000000000" in text
    assert "0.25" not in text  # exact in binary: nothing to tell
    assert "laplace1 ~ Laplace((1/10)·input, (1/4)/ε)" in text


def test_arithmetic_stays_exact() -> None:
    @mechanism
    def exactly(noise: Any, x: Any, epsilon: Any) -> Any:
        return [(x / 3) * 3, x - x, (2 / epsilon) * epsilon, epsilon**0.5 * epsilon**0.5, x**2 / x if x else 0]

    program = exactly.program_for(1.0)
    emitted = [node.term for node in in_order(program.root) if isinstance(node, EmitNode)]
    assert emitted[1:3] == [number(0), number(2)]
    assert Epsilon() in emitted


def test_booleans_count_as_numbers() -> None:
    @mechanism
    def counted(noise: Any, flags: Any) -> Any:
        coins = [noise.bernoulli(0.5) for _ in flags]
        hits = 0
        for coin in coins:
            hits += coin
        return [hits, sum(coins), coins[0] * 2 - 1, hits == 2, coins[0] & coins[1], not coins[0], coins[0] * coins[1]]

    found = outputs(counted, (True, False), None)
    assert found == {
        (a + b, a + b, a * 2 - 1, a + b == 2, a and b, not a, int(a and b))
        for a in (False, True)
        for b in (False, True)
    }
    for row in found:
        assert [type(item) for item in row] == [int, int, int, bool, bool, bool, int]


def test_a_count_is_settled_by_what_was_decided() -> None:
    @mechanism
    def counted(noise: Any, x: Any) -> Any:
        coins = [noise.bernoulli(0.5) for _ in range(3)]
        if sum(coins) == 3:
            return coins  # all of them, without asking
        if sum(coins) > 3 or sum(coins) < 0:
            raise AssertionError
        return None

    assert "emit True" in lines(counted.program_for(0))
    assert outputs(counted, 0, None) == {(True, True, True), None}


def test_discretise_and_choose_do_not_fork() -> None:
    @mechanism
    def coarse(noise: Any, x: Any, epsilon: Any) -> Any:
        noisy = noise.laplace(x, 1 / epsilon)
        return dpverdict.discretise(noisy, [-1, 0, 2.5]), dpverdict.choose(noisy > 0, 1, -1)

    program = coarse.program_for(0.0)
    assert branches(program) == 0
    assert outputs(coarse, 0.0) == {(-1, -1), (0, -1), (2.5, 1)}
    assert dpverdict.discretise(-0.5, [-1, 0, 2.5]) == 0
    assert dpverdict.discretise([7.0, -7.0], [-1, 0, 2.5]).tolist() == [2.5, -1]
    with pytest.raises(ValueError, match="ascending"):
        dpverdict.discretise(0.5, [1, 0])


# --- inputs: symbolic first, concrete where a value is asked for --------------------------------------------------


def demanding(use: Any) -> Mechanism:
    calls: list[Any] = []

    def asked(noise: Any, x: Any, epsilon: Any) -> Any:
        calls.append(x)
        return use(noise, x) + noise.laplace(0, 1 / epsilon)

    made = Mechanism(asked)
    made.calls = calls  # type: ignore[attr-defined]
    return made


LETTERS = {0: 3, 1: 4, 2: 5}
DEMANDS: list[tuple[Any, str]] = [
    (lambda noise, x: int(x), "int()"),
    (lambda noise, x: [5, 6, 7][x], "an index"),
    (lambda noise, x: LETTERS[x], "a hash (dictionary key or set member)"),
    (lambda noise, x: math.floor(x), "floor()"),
    (lambda noise, x: float(x), "float()"),
    (lambda noise, x: len(str(x)), "text"),
    (lambda noise, x: sum(range(x)), "an index"),
    (lambda noise, x: len(f"{x:d}"), "text"),
    (lambda noise, x: math.exp(x), "float()"),
]


@pytest.mark.parametrize(("use", "demand"), DEMANDS, ids=[demand for _, demand in DEMANDS])
def test_a_demand_for_a_value_falls_back_to_one_program_per_input(use: Any, demand: str) -> None:
    made = demanding(use)
    program = made.program_for(2)
    assert program.concrete == 2
    assert (
        program.why_concrete == f"{__file__.rsplit('/', 1)[-1]}, line {use.__code__.co_firstlineno} asks for {demand}"
    )
    assert program.why_concrete in explain(program)


def test_fall_back_is_lazy_and_remembered() -> None:
    made = demanding(lambda noise, x: int(x))
    calls = made.calls  # type: ignore[attr-defined]
    assert not calls
    first = made.program_for(2)
    assert {type(x) for x in calls} != {int}  # it was tried with a symbol first
    executed = len(calls)
    assert made.program_for(2) is first
    assert len(calls) == executed
    made.program_for(3)
    assert {x for x in calls[executed:] if type(x) is int} == {3}


def test_inputs_of_one_form_share_a_program() -> None:
    laplace = demanding(lambda noise, x: x)
    calls = laplace.calls  # type: ignore[attr-defined]
    first = laplace.program_for(2)
    executed = len(calls)
    assert laplace.program_for(7) is first
    assert first.concrete is None
    assert len(calls) == executed
    assert laplace.program_for(7.5) is not first  # a real number is another form than a whole one
    assert laplace.program_for(True) is not first


def test_an_input_that_is_no_number_is_concrete() -> None:
    @mechanism
    def greeting(noise: Any, name: Any, epsilon: Any) -> Any:
        return len(name) + noise.discrete_laplace(0, 1 / epsilon)

    program = greeting.program_for("Ada")
    assert program.concrete == "Ada"
    assert program.why_concrete == "the input holds something that is no number"


@pytest.mark.parametrize(
    ("given", "use"),
    [
        ([1, 2.5, True], lambda x: x[0] + x[1] + x[2]),
        ((1, (2, 3)), lambda x: x[0] + x[1][1]),
        ({"age": 3, "rows": [1, 2]}, lambda x: x["age"] * x["rows"][1]),
        (np.array([[1.0, 2.0], [3.0, 4.0]]), lambda x: x[1, 0] + x.sum(axis=0)[1]),
        (np.float64(2.5), lambda x: x * 2),
        ([], sum),
    ],
)
def test_inputs_may_be_nested(given: Any, use: Any) -> None:
    made = mechanism(lambda noise, x: use(x) + noise.choice([0, 100]))
    program = made.program_for(given)
    assert program.concrete is None
    assert outputs(made, given, None) == {use(given), use(given) + 100}


def test_parameters_can_stay_symbolic() -> None:
    svt1 = find("svt1").mechanism
    program = svt1.program_for((0, 1), symbolic=frozenset({"threshold"}))
    assert lines(program)[0] == "laplace1 ~ Laplace(threshold, 2/ε)"
    assert svt1.program_for((0, 1)) is not program
    batch = Sampler(program, (0, 1), 1.0, {"threshold": 1e6, "stop_after": 1}).batch(
        NumpyNoise(seeds.generator(1, "symbolic", 0)), 100
    )
    assert dict(tally(batch)) == {(False, False): 100}


# --- vectors ---------------------------------------------------------------------------------------------------------

WEIGHTS = np.array([1.0, 2.0, -1.0])
VECTORS: list[tuple[str, Any]] = [
    ("np.argmax", np.argmax),
    ("argmax", lambda v: v.argmax() + 0),
    ("argmin", lambda v: np.argmin(v) + 0),
    ("dpverdict.argmax", lambda v: dpverdict.argmax(list(v))),
    ("dpverdict.argmin", lambda v: dpverdict.argmin(list(v))),
    ("max", lambda v: v.max() + 0),
    ("np.min", lambda v: np.min(v) + 0),
    ("dpverdict.maximum", lambda v: dpverdict.maximum(*v)),
    ("dpverdict.minimum", dpverdict.minimum),
    ("sum", lambda v: v.sum() + sum(v) + np.sum(v)),
    ("mean", np.mean),
    ("cumsum", lambda v: list(np.cumsum(v))),
    ("sort", lambda v: list(np.sort(v))),
    ("sort in place", lambda v: sorted_copy(v)[-2]),
    ("abs", lambda v: list(np.abs(v - 1))),
    ("comparison", lambda v: list(v >= 1)),
    ("where", lambda v: list(np.where(v > 0, v, 0))),
    ("clip", lambda v: list(np.clip(v, -1, 1))),
    ("maximum", lambda v: list(np.maximum(v, 0.5))),
    ("count_nonzero", lambda v: np.count_nonzero(v > 0)),
    ("any and all", lambda v: [np.any(v > 1), np.all(v > -1)]),
    ("logic", lambda v: list(np.logical_and(v > 0, ~(v > 1)) | (v < -1))),
    ("matrix product", lambda v: [v @ WEIGHTS, *(np.outer(WEIGHTS, WEIGHTS) @ v), np.dot(v, WEIGHTS)]),
    ("numpy's scalars", lambda v: [np.sqrt(2.0) * v[0], v[1] / np.float64(3), np.float64(1) <= v[2]]),
    ("slices", lambda v: list(v[1:] - v[:-1])),
    ("reshape", lambda v: list(np.stack([v, v]).max(axis=0))),
    ("astype", lambda v: list((v > 0).astype(int))),
    ("square root of inputs", lambda v: list(v * np.sqrt(2.0))),
]


def sorted_copy(v: Any) -> Any:
    copied = v.copy()
    copied.sort()
    return copied


@pytest.mark.parametrize(("name", "use"), VECTORS, ids=[name for name, _ in VECTORS])
def test_vectors_have_numpys_functions(name: str, use: Any) -> None:
    """`program_for` replays every program beside its function on the same noise, so that none is wrong here."""
    made = mechanism(lambda noise, x: use(noise.laplace(x, 1.0, size=3)))
    program = made.program_for([0.0, 1.0, 2.0])
    assert program.concrete is None
    assert len(draws_of(program.root)) == 3
    assert program.paths == 1


def test_numpys_functions_work_on_inputs_and_epsilon() -> None:
    @mechanism
    def several(noise: Any, x: Any, epsilon: Any) -> Any:
        scale = np.sqrt(2.0) * np.exp(epsilon) / np.log(1 + epsilon) + dpverdict.sqrt(epsilon) + dpverdict.log(2)
        return noise.normal(np.sum(x) / np.max([1, 3]), scale)

    program = several.program_for(np.array([1.0, 2.0]))
    assert program.concrete is None
    assert len(draws_of(program.root)) == 1


# --- how it ends -----------------------------------------------------------------------------------------------------


def test_a_raised_exception_is_an_outcome() -> None:
    class OwnError(Exception):
        pass

    @mechanism
    def fragile(noise: Any, x: Any) -> Any:
        first = noise.choice([0, 1, 2, 3])
        if first == 0:
            raise OwnError("away with it")
        if first == 1:
            return {}["nothing"]
        try:
            return 10 // (first - 2)
        except ZeroDivisionError:
            return "caught"

    found = {getattr(outcome, "exception", outcome) for outcome in outputs(fragile, 0, None)}
    assert found == {"OwnError", "KeyError", "caught", 10}


def test_a_scale_that_is_not_positive_raises_as_in_a_real_run() -> None:
    @mechanism
    def careless(noise: Any, x: Any) -> Any:
        return noise.laplace(0, x)

    assert lines(careless.program_for(1.0)) == [
        "if input > 0:",
        *("laplace1 ~ Laplace(0, input)", "emit laplace1", "return the slot"),
        *("else:", "raise ValueError"),
    ]


def swallowing(noise: Any, x: Any, epsilon: Any) -> Any:
    try:
        return math.exp(noise.laplace(x, 1 / epsilon))
    except Exception:  # noqa: BLE001 (what the tracer has to survive)
        return "swallowed"


def swallowing_all(noise: Any, x: Any, epsilon: Any) -> Any:
    try:
        return math.exp(noise.laplace(x, 1 / epsilon))
    except:  # noqa: E722
        return "swallowed"


@pytest.mark.parametrize("function", [swallowing, swallowing_all])
def test_the_tracers_stops_cannot_be_swallowed(function: Any) -> None:
    reason = Mechanism(function).why_not(0.0)
    assert reason is not None
    assert "float() of a symbolic value" in reason.message


def test_the_demand_for_concrete_inputs_cannot_be_swallowed() -> None:
    @mechanism
    def guarded(noise: Any, x: Any, epsilon: Any) -> Any:
        try:
            size = int(x)
        except:  # noqa: E722
            size = -1
        return size + noise.discrete_laplace(0, 1 / epsilon)

    program = guarded.program_for(3)
    assert program.concrete == 3
    assert lines(program)[1] == "emit discretelaplace1 + 3"


@pytest.mark.parametrize(
    ("output", "shape"),
    [
        (lambda a, b: (a, b), "a tuple of the slots"),
        (lambda a, b: np.array([a, b], dtype=object), "an array of the slots"),
        (lambda a, b: {"a": a, 2: [b, None]}, "a dict {'a': the slot, 2: a list (the slot, the slot)}"),
        (lambda a, b: [a, [b, "text"], ()], "a list (the slot, a list (the slot, the slot), a tuple ())"),
        (lambda a, b: a, "the slot"),
    ],
)
def test_outputs_have_shapes(output: Any, shape: str) -> None:
    made = mechanism(lambda noise, x: output(noise.bernoulli(0.5), noise.bernoulli(0.25)))
    assert lines(made.program_for(0))[-1] == f"return {shape}"


# --- it just runs ----------------------------------------------------------------------------------------------


def test_with_real_noise_it_just_runs() -> None:
    @mechanism
    def plain(noise: Any, x: Any, epsilon: Any, shift: float = 0) -> Any:
        """Its own words."""
        return noise.laplace(x, 1 / epsilon) + shift

    generator = seeds.generator(1, "plain", 0)
    assert isinstance(plain(RealNoise(generator), 0, epsilon=1.0), float)
    assert plain(np.random.default_rng(3), 0, 1.0, shift=5) == plain(np.random.default_rng(3), 0, 1.0) + 5
    assert plain.__doc__ == "Its own words."
    assert plain.__name__ == "plain"
    assert plain.parameter_names == ("shift",)
    assert repr(plain).startswith("<mechanism plain(noise")


@pytest.mark.parametrize(
    ("function", "code"),
    [(lambda x: x, "MECH-002"), (lambda rng, x: x, "MECH-002"), (3, "MECH-001"), (lambda noise: 0, "MECH-002")],
)
def test_what_is_no_mechanism_is_refused(function: Any, code: str) -> None:
    with pytest.raises(MechanismError) as refused:
        mechanism(function)
    assert refused.value.code == code


def test_arguments_are_checked() -> None:
    svt1 = find("svt1").mechanism
    with pytest.raises(InputError, match="no parameter called 'cut'"):
        svt1.program_for((0,), {"cut": 1})
    with pytest.raises(InputError, match="needs a value for its parameter 'x'"):
        mechanism(lambda noise, value, x: value).program_for(0)
    with pytest.raises(MechanismError, match="no parameter called 'delta'"):
        mechanism(epsilon="delta")(lambda noise, x, epsilon: x)


# --- every law -------------------------------------------------------------------------------------------------

LAWS: dict[str, Any] = {
    "Laplace": lambda noise, x, epsilon: noise.laplace(x, 2 / epsilon),
    "Exponential": lambda noise, x, epsilon: noise.exponential(1 / epsilon, loc=x),
    "Gaussian": lambda noise, x, epsilon: noise.normal(x, 3),
    "Gumbel": lambda noise, x, epsilon: noise.gumbel(x, 1 / epsilon),
    "Uniform": lambda noise, x, epsilon: noise.uniform(x, x + 1),
    "DiscreteLaplace": lambda noise, x, epsilon: noise.discrete_laplace(x, 1 / epsilon),
    "TruncatedDiscreteLaplace": lambda noise, x, epsilon: noise.truncated_discrete_laplace(-2, 2, x, 1 / epsilon),
    "TruncatedGeometric": lambda noise, x, epsilon: noise.truncated_geometric(-2, 2, x, 1 / epsilon),
    "DiscreteGaussian": lambda noise, x, epsilon: noise.discrete_gaussian(x, 2),
    "Bernoulli": lambda noise, x, epsilon: noise.bernoulli(1 / (1 + dpverdict.exp(epsilon))),
    "FiniteChoice": lambda noise, x, epsilon: noise.choice(["a", 2, None], p=[0.25, 0.25, 0.5]),
    "ExponentialMechanism": lambda noise, x, epsilon: noise.exponential_mechanism(
        [x, 0, 1], epsilon / 2, ["a", "b", "c"]
    ),
}
SUPPORTS: dict[str, set[Any]] = {
    "TruncatedDiscreteLaplace": {-2, -1, 0, 1, 2},
    "TruncatedGeometric": {-2, -1, 0, 1, 2},
    "Bernoulli": {False, True},
    "FiniteChoice": {"a", 2, None},
    "ExponentialMechanism": {"a", "b", "c"},
}


@pytest.mark.parametrize("name", LAWS)
def test_every_law_is_traced_and_sampled(name: str) -> None:
    made = Mechanism(LAWS[name])
    program = made.program_for(1)
    (draw,) = draws_of(program.root)
    assert draw.law.name == name
    found = outputs(made, 1)
    if name in SUPPORTS:
        assert found == SUPPORTS[name]
    else:
        wanted = int if draw.law.kind is Kind.INTEGER else float
        assert {type(value) for value in found} == {wanted}
        assert all(abs(value) < 60 for value in found)


def test_a_noisy_location_is_added() -> None:
    @mechanism
    def chained(noise: Any, x: Any, epsilon: Any) -> Any:
        return noise.laplace(noise.laplace(x, 1), 1)

    assert lines(chained.program_for(0.0))[1] == "laplace2 ~ Laplace(0, 1)"


def test_a_law_may_have_counts_as_parameters() -> None:
    @mechanism
    def adaptive(noise: Any, x: Any, epsilon: Any) -> Any:
        coin = noise.bernoulli(0.5)
        return noise.laplace(0, 1 + 2 * coin)

    program = adaptive.program_for(0)
    assert lines(program)[1] == "laplace1 ~ Laplace(0, 2·bernoulli1 + 1)"


def test_sizes_and_broadcast() -> None:
    @mechanism
    def shaped(noise: Any, x: Any) -> Any:
        grid = noise.normal(0, 1, size=(2, 3))
        row = noise.laplace(x, [1, 2, 3])
        assert grid.shape == (2, 3)
        assert row.shape == (3,)
        return list(grid.sum(axis=0) + row)

    assert len(draws_of(shaped.program_for([0.0, 1.0, 2.0]).root)) == 9


def test_equal_conditions_are_asked_once() -> None:
    @mechanism
    def asked(noise: Any, x: Any) -> Any:
        noisy = noise.laplace(0, 1)
        if noisy >= 1:
            assert 1 <= noisy  # noqa: SIM300
            assert not (noisy < 1)
            assert -noisy <= -1
            return 2 * noisy - 2 >= 0
        return None

    assert lines(asked.program_for(0)) == [
        *("laplace1 ~ Laplace(0, 1)", "if laplace1 >= 1:", "emit True", "return the slot"),
        *("else:", "emit None", "return the slot"),
    ]


def test_a_draw_is_named_by_law_and_occurrence() -> None:
    @mechanism
    def pair(noise: Any, x: Any) -> Any:
        return noise.laplace(0, 1), noise.laplace(0, Fraction(2, 2)), noise.laplace(0, 2)

    draws = draws_of(pair.program_for(0).root)
    assert [draw.occurrence for draw in draws] == [1, 2, 1]
    assert all(isinstance(draw, Draw) for draw in draws)
