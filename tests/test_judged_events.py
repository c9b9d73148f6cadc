"""Exact probabilities of events, against closed forms and against samples put before the one evaluation function.

False alarms: each of the fewer than 100 comparisons with a sample fails by chance with probability `ALPHA` at most.
Power: an edge moved by 1/4 is found (`test_a_wrong_edge_is_told_apart`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpverdict import choose, maximum, mechanism
from dpverdict.catalog.histogram import histogram
from dpverdict.catalog.sparse_vector import numerical_svt, svt1, svt3
from dpverdict.errors import UnreadableError
from dpverdict.evidence.events import (
    Box,
    Event,
    Interval,
    OutputEquals,
    ScoreAbove,
    ScoreBelow,
    Union,
    edge,
    happened,
    membership,
)
from dpverdict.evidence.features import (
    Coordinate,
    CountOf,
    Distance,
    Feature,
    FormOf,
    KindOf,
    Length,
    LogRatio,
    OrderStatistic,
    Special,
    Sum,
)
from dpverdict.evidence.leaves import Form, Kind
from dpverdict.evidence.scores import Histogram, Layer, Linear, Network, Tree, Trees
from dpverdict.evidence.verify.judged_events import judge_of
from dpverdict.execute.array_noise import NumpyNoise
from dpverdict.execute.seeds import generator
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.constants import number, to_python, truth
from dpverdict.mechanism.evaluate import Known, evaluate
from dpverdict.mechanism.laws import Bernoulli, Laplace
from dpverdict.mechanism.outcome import freeze
from dpverdict.mechanism.structure import Constant, Draw, ReturnNode, Sequence
from dpverdict.mechanism.structure import Kind as Sort
from dpverdict.reading.exact.exact_program import ExactProgram
from dpverdict.reading.sample import Sampler, decode
from plain_runs import tail_bound

ALPHA = 1e-10
RUNS = 40_000


@mechanism
def single(noise: Any, value: Any, epsilon: Any) -> Any:
    return noise.laplace(value, scale=1 / epsilon)


@mechanism
def several(noise: Any, values: Any, epsilon: Any) -> Any:
    return [noise.laplace(value, scale=1 / epsilon) for value in values]


@mechanism
def clamped(noise: Any, value: Any, epsilon: Any) -> Any:
    return maximum(0, noise.laplace(value, scale=1 / epsilon))


@mechanism
def whole(noise: Any, values: Any, epsilon: Any) -> Any:
    return [noise.discrete_laplace(value, scale=1 / epsilon) for value in values]


@mechanism
def reported(noise: Any, value: Any, epsilon: Any) -> Any:
    first = noise.laplace(value, scale=1 / epsilon)
    return {"count": first, "more": (noise.bernoulli(Fraction(1, 4)), choose(first >= 2, 7, first))}


@mechanism
def stopping(noise: Any, value: Any, epsilon: Any) -> Any:
    noisy = noise.laplace(value, scale=1 / epsilon)
    if noisy > 2:
        raise OverflowError
    return noisy if noisy > 0 else 0.1


@mechanism
def nothing(noise: Any, value: Any, epsilon: Any) -> Any:
    noise.laplace(value, scale=1 / epsilon)
    return 0


def at_least(feature: Feature, low: int) -> Box:
    return Box((Interval(feature, low),))


def at_most(feature: Feature, high: int) -> Box:
    return Box((Interval(feature, None, high),))


def probability(made: Mechanism, given: Any, event: Event, epsilon: Fraction = Fraction(1)) -> float:
    exact = ExactProgram.of(made.program_for(given), judge_of(event))
    exact.distribution(given)  # an error if it does not sum to 1
    return float(exact.probability(True, given).digits(exact.unit(given).at(epsilon)))


def text(made: Mechanism, given: Any, event: Event) -> str:
    exact = ExactProgram.of(made.program_for(given), judge_of(event))
    return exact.probability(True, given).text()


def sampled(made: Mechanism, given: Any, event: Event, seed: int) -> int:
    source = generator(seed, "judged events", 0)
    batch = Sampler(made.program_for(given), given, 1.0).batch(NumpyNoise(source), RUNS)
    return int(np.count_nonzero(happened(event, [freeze(output) for output in decode(batch)], source)))


COORDINATES = (Coordinate(0, -2), Coordinate(1, -1))
TREE = Tree(asks=(0, 1, 1), thresholds=(2, -1, 3), yes=(1, -1, -3), no=(2, -2, -4), leaves=(5, -3, 0, 2))
STUMP = Tree(asks=(1,), thresholds=(0,), yes=(-1,), no=(-2,), leaves=(1, -1))
BARE = Tree(asks=(), thresholds=(), yes=(), no=(), leaves=(3,))
TABLE = Histogram((Coordinate(0, -2),), ((-4, 0, 3, 6),), ((0, 2, 2, -1, 1),))
TABLES = Histogram(COORDINATES, ((-1, 3), (0, 2)), ((0, 3, 1), (2, 0, 1)))

CASES: list[tuple[Mechanism, Any, Event]] = [
    (single, 0, at_least(Coordinate(0), 1)),
    (single, 0, at_most(Coordinate(0), -1)),
    (single, Fraction(1, 2), Box((Interval(Coordinate(0, -3), -5, 4),))),
    (single, 0, Box((Interval(Coordinate(0, -1), -3, 4), Interval(Coordinate(0, 1), 0, None)))),
    (single, 1, at_least(Distance(0, 0.5, -1), 2)),
    (single, 1, at_most(Distance(0, -0.25, -2), 3)),
    (single, 1, at_least(LogRatio(0, 1.0, 0.0, -2), 2)),
    (single, 1, at_most(LogRatio(0, -0.5, 1.5, -2), -5)),
    (single, 1, at_least(LogRatio(0, 1.0, 0.0, -2), 4)),
    (single, 0, ScoreAbove(TABLE, 0, Fraction(1, 3))),
    (single, 0, ScoreBelow(TABLE, 1, Fraction(2, 7))),
    (single, 0, ScoreAbove(Linear((Coordinate(0, -2), Length()), (-3, 5)), 1)),
    (single, 0, ScoreBelow(Linear((Coordinate(0, -1), KindOf(0)), (7, -2)), 9, Fraction(1, 2))),
    (single, 0, ScoreAbove(Linear((Coordinate(0, -1), Coordinate(5)), (7, -2)), 7, Fraction(1, 2))),
    (single, 0, Union((at_least(Coordinate(0), 1), at_most(Coordinate(0, -1), -2), OutputEquals(0.5)))),
    (several, [0, 1], at_least(OrderStatistic(-1, -1), 3)),
    (several, [0, 1, 1], at_most(OrderStatistic(1, -1), 1)),
    (several, [0, 1, 0], Box((Interval(OrderStatistic(0), -1, 0), Interval(OrderStatistic(-1), None, 1)))),
    (several, [0, 1], Box((Interval(Coordinate(0, -1), 1), Interval(Coordinate(1, -1), None, 3)))),
    (several, [0, 1], ScoreAbove(Trees(COORDINATES, (TREE, STUMP, BARE)), 2, Fraction(1, 5))),
    (several, [1, 0], ScoreBelow(Trees(COORDINATES, (TREE,)), 2, Fraction(1, 5))),
    (several, [0, 1], ScoreAbove(TABLES, 2, Fraction(3, 4))),
    (clamped, 0, at_most(Coordinate(0), 0)),
    (clamped, 0, at_least(Coordinate(0, -4), 1)),
    (clamped, 0, OutputEquals(0)),
    (whole, [0, 1], at_least(OrderStatistic(-1), 2)),
    (whole, [0, 1], OutputEquals((0, 2))),
    (whole, [0, 1], Box((Interval(CountOf(0), 1, 1),))),
    (whole, [0, 1], Box((Interval(Coordinate(0, 1), 0, 0), Interval(Coordinate(1), None, 1)))),
    (reported, 1, Box((Interval(Coordinate(1), 1), Interval(Coordinate(3), 1), Interval(Coordinate(4), 7, 7)))),
    (reported, 1, Box((Interval(CountOf("more"), 1, 1), Interval(CountOf(7), 1), Interval(FormOf(), Form.DICTIONARY)))),
    (reported, 1, ScoreAbove(Linear((Coordinate(3), Coordinate(4, -1)), (9, 2)), 10, Fraction(1, 2))),
    (stopping, 1, Box((Interval(KindOf(0), Kind.RAISED),))),
    (stopping, 1, at_most(Coordinate(0, -2), 2)),
    (numerical_svt, [1, 0, 1], at_least(Sum(-1), 3)),
    (numerical_svt, [1, 0, 1], Box((Interval(Length(), 2, 2), Interval(Coordinate(1), 0)))),
    (numerical_svt, [1, 0], Box((Interval(OrderStatistic(-1), 1, None), Interval(Special("nan"), None, 0)))),
    (svt3, [0, 1], Box((Interval(CountOf(False), 1, 1), Interval(Coordinate(1, -1), None, 1)))),
    (svt1, [0, 1, 0], ScoreAbove(Linear((CountOf(False), Length()), (2, -1)), 0, Fraction(1, 3))),
    (svt1, [0, 1, 0], Union((OutputEquals([True]), OutputEquals([False, False, True])))),
    (histogram, [1, 2], Box((Interval(Coordinate(0), 1), Interval(Coordinate(1, -1), None, 4)))),
]


@pytest.mark.parametrize("at", range(len(CASES)))
def test_samples_agree(at: int) -> None:
    made, given, event = CASES[at]
    found = probability(made, given, event)
    assert 0.001 < found < 0.999
    assert tail_bound(sampled(made, given, event, at), RUNS, found) > ALPHA


@pytest.mark.parametrize("seed", range(30))
def test_random_scores_agree_with_samples(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    features: tuple[Feature, ...] = (Coordinate(0, -1), OrderStatistic(-1, -1), Distance(1, 0.5, -1), Coordinate(2))
    edges = tuple(tuple(sorted(set(drawn.integers(-3, 5, size=2).tolist()))) for _ in features)
    tables = tuple(tuple(drawn.integers(-2, 3, size=len(part) + 1).tolist()) for part in edges)
    event = ScoreAbove(Histogram(features, edges, tables), int(drawn.integers(-2, 3)), Fraction(1, 3))
    found = probability(several, [0, 1], event)
    hits = sampled(several, [0, 1], event, 1000 + seed)
    assert hits == found * RUNS if found in (0, 1) else tail_bound(hits, RUNS, found) > ALPHA


def test_a_wrong_edge_is_told_apart() -> None:
    hits = sampled(single, 0, at_least(Coordinate(0, -2), 5), 1)
    assert tail_bound(hits, RUNS, probability(single, 0, at_least(Coordinate(0, -2), 4))) < ALPHA


# --- the judge beside the one evaluation function, at points ----------------------------------------------------------

DRAWN = tuple(Draw(Laplace(number(0), number(1)), place) for place in range(3))
SHAPE = ReturnNode(Sequence("list", None))


def random_feature(drawn: np.random.Generator) -> Feature:
    step, place = int(drawn.integers(-2, 2)), int(drawn.integers(0, 6))
    centres = [float(found) for found in drawn.integers(-4, 5, size=2) / 4]
    features: list[Feature] = [
        Coordinate(place, step),
        OrderStatistic(int(drawn.integers(-5, 5)), step),
        Distance(place, centres[0], step),
        LogRatio(place, centres[0], centres[1], step),
        CountOf([0, 1, 0.5, True, "low", None][place]),
        KindOf(place),
        Special("negative-zero"),
        Length(),
    ]
    return features[int(drawn.integers(0, len(features)))]


def random_event(drawn: np.random.Generator, depth: int = 0) -> Event:
    features = tuple(random_feature(drawn) for _ in range(int(drawn.integers(1, 4))))
    low, high = sorted(drawn.integers(-4, 5, size=2).tolist())
    tie = Fraction(int(drawn.integers(0, 3)), 3) if depth < 2 else Fraction(0)
    match int(drawn.integers(0, 6 if not depth else 5)):
        case 0:
            return Box(tuple(Interval(feature, low, [high, None][at % 2]) for at, feature in enumerate(features)))
        case 1:
            return Box(tuple(Interval(feature, None, high) for feature in features))
        case 2:
            edges = tuple(tuple(sorted(set(drawn.integers(-4, 5, size=3).tolist()))) for _ in features)
            tables = tuple(tuple(drawn.integers(-2, 3, size=len(part) + 1).tolist()) for part in edges)
            return ScoreAbove(Histogram(features, edges, tables), low, tie)
        case 3:
            known = (KindOf(1), Length(), CountOf(1), Coordinate(9))
            weights = tuple(drawn.integers(-3, 4, size=5).tolist())
            return ScoreBelow(Linear((features[0], *known), weights), high, tie)
        case 4:
            asks, thresholds = (tuple(part.tolist()) for part in drawn.integers(0, len(features), size=(2, 3)))
            tree = Tree(asks, thresholds, (1, -1, -2), (2, -3, -4), tuple(drawn.integers(-3, 4, size=4).tolist()))
            return ScoreBelow(Trees(features, (tree, BARE)), high, tie)
        case _:
            return Union((random_event(drawn, 1), random_event(drawn, 2), OutputEquals((0, 1, 0.5))))


@pytest.mark.parametrize("seed", range(300))
def test_a_judge_agrees_with_the_evaluation_at_points(seed: int) -> None:
    """Points are multiples of 1/4, so that many lie on an edge."""
    drawn = np.random.default_rng(seed)
    event = random_event(drawn)
    judge, tie = judge_of(event), edge(event)
    parts = [DRAWN[0], DRAWN[1], DRAWN[2], number(1), truth(True), number(Fraction(1, 2)), Constant(Sort.TEXT, "low")]
    for _ in range(20):
        slots = tuple(parts[int(at)] for at in drawn.permutation(len(parts))[: int(drawn.integers(1, 6))])
        values = {draw: float(drawn.integers(-8, 9)) / 4 for draw in DRAWN}
        outcome = freeze([values[slot] if isinstance(slot, Draw) else to_python(slot) for slot in slots])
        inside, at_edge = membership(event, [outcome])
        for coin in (False, True):
            known = Known(None, 1.0, {}, {**values, Draw(Bernoulli(number(tie)), -1): coin})
            found = judge(SHAPE, slots, lambda term, known=known: bool(evaluate(term, known)))
            assert found == bool(inside[0] or (coin and at_edge[0])), (event, outcome)


# --- closed forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "given", "event", "expected"),
    [
        (single, 0, at_least(Coordinate(0), 1), "1/2*exp(-eps)"),
        (single, 0, at_most(Coordinate(0), -1), "1/2"),
        (single, 0, Box((Interval(Coordinate(0, -1), 1, 3),)), "1/2*exp(-1/2*eps) - 1/2*exp(-2*eps)"),
        (single, 0, OutputEquals(0.0), "0"),
        (several, [0, 0], at_least(OrderStatistic(0), 1), "1/4*exp(-2*eps)"),
        (several, [0, 0], at_least(OrderStatistic(-1), 1), "exp(-eps) - 1/4*exp(-2*eps)"),
        (clamped, -1, OutputEquals(0), "1 - 1/2*exp(-eps)"),
        (clamped, -1, at_most(Coordinate(0, -3), -1), "0"),
        (clamped, -1, at_least(Coordinate(0, -3), 0), "1"),
        (nothing, 0, at_most(Coordinate(0), 0), "1"),
        (nothing, 0, at_least(Coordinate(0), 0), "1"),
        (nothing, 0, at_least(Coordinate(0), 1), "0"),
        (nothing, 0, at_most(Coordinate(0, -10), -1), "0"),
        (single, 0, Box((Interval(Coordinate(1)),)), "0"),
        (single, 0, Box((Interval(Coordinate(0), -(1 << 40), 1 << 40),)), "1"),
        (single, 0, ScoreAbove(Linear((Coordinate(0),), (0,)), 0, Fraction(1, 4)), "1/4"),
    ],
)
def test_closed_forms(made: Mechanism, given: Any, event: Event, expected: str) -> None:
    assert text(made, given, event) == expected


def test_whole_numbers_have_atoms() -> None:
    """Pr[X = 0] = (1 - w) / (1 + w), and what is below 0 has half of the rest."""
    w = math.exp(-1)
    zero = (1 - w) / (1 + w)
    assert probability(whole, [0], OutputEquals((0,))) == pytest.approx(zero, abs=1e-14)
    assert probability(whole, [0], at_most(Coordinate(0), -1)) == pytest.approx((1 - zero) / 2, abs=1e-14)
    assert probability(whole, [0], at_most(Coordinate(0), 0)) == pytest.approx((1 + zero) / 2, abs=1e-14)


@pytest.mark.parametrize(
    "event",
    [
        at_least(Sum(), 1),
        ScoreAbove(Linear((Coordinate(0), Coordinate(1)), (1, 1)), 0),
        ScoreAbove(Network((Coordinate(0),), (Layer(((1,),), (0,), 0),)), 0),
        at_least(Coordinate(0), 1 << 30),
        at_least(Coordinate(0, -30), 1),
    ],
)
def test_what_has_no_exact_form_here_is_refused(event: Event) -> None:
    with pytest.raises(UnreadableError, match="an event that asks about"):
        probability(several, [0, 1], event)


def test_a_network_of_what_is_known_is_read() -> None:
    event = ScoreAbove(Network((Length(),), (Layer(((1,),), (0,), 0),)), 1)
    assert text(several, [0, 1], event) == "1"
