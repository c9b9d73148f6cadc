"""Events as data: what they mean, that batches and forms make no difference, and that they read back as they were."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverdict.errors import EvidenceError
from dpverdict.evidence.event_text import digest, from_json, from_text, text, to_json
from dpverdict.evidence.events import (
    MINUS,
    NEITHER,
    PLUS,
    Bins,
    Box,
    Event,
    Interval,
    OutputEquals,
    ScoreAbove,
    ScoreBelow,
    Sides,
    Union,
    count_bins,
    count_sides,
    edge,
    happened,
    sides_of,
)
from dpverdict.evidence.features import (
    ABSENT,
    LIMIT,
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
    extract,
)
from dpverdict.evidence.leaves import Form, Kind, leaf, leaves
from dpverdict.evidence.scores import Histogram, Layer, Linear, Network, Tree, Trees, score
from dpverdict.execute import seeds
from dpverdict.mechanism.outcome import Mapping, Outcome, Raised, same
from dpverdict.mechanism.tally import listed

NAN, INF = math.nan, math.inf
OUTCOMES: list[Outcome] = [
    None,
    True,
    1,
    1.0,
    -0.0,
    NAN,
    INF,
    10**400,
    -(10**400),
    "a",
    b"a",
    Raised("ValueError"),
    (),
    (1.5, -2.5, True, "a", None),
    (3.0, (1.0, NAN), -INF),
    Mapping([("a", 1.0), ("b", (2, 3))]),
]
FEATURES: list[Feature] = [
    Length(),
    FormOf(),
    KindOf(0),
    KindOf(7),
    CountOf(1),
    CountOf("a"),
    CountOf(True),
    CountOf(None),
    CountOf(NAN),
    CountOf(Raised("ValueError")),
    Special("nan"),
    Special("infinite"),
    Special("negative-zero"),
    Coordinate(0),
    Coordinate(2, -3),
    OrderStatistic(0),
    OrderStatistic(-1),
    OrderStatistic(1, 1),
    Sum(-1),
    Distance(0, 0.5, -2),
    LogRatio(0, 0.0, 1.0, -4),
]
SIMPLE = tuple(FEATURES)
SCORES = [
    Histogram(SIMPLE[:2], ((0, 2), ()), ((5, 6, 7), (100,))),
    Linear((Coordinate(0, -4), Sum(-4)), (3, -2)),
    Network((Coordinate(0), Sum()), (Layer(((2, -1), (1, 1)), (1, 0), 1), Layer(((1, -3),), (4,), 0))),
    Trees(SIMPLE, (Tree((13, 0), (0, 1), (1, -3), (-2, -1), (10, 20, 30)), Tree((), (), (), (), (1000,)))),
]
EVENTS: list[Event] = [
    *(OutputEquals(outcome) for outcome in OUTCOMES),
    Box((Interval(Coordinate(0), 0, 2), Interval(Length(), None, 4))),
    Box((Interval(Coordinate(2)),)),
    *(ScoreAbove(each, 6, Fraction(1, 3)) for each in SCORES),
    *(ScoreBelow(each, 6) for each in SCORES),
    Union((OutputEquals("a"), ScoreAbove(SCORES[1], 0, Fraction(2, 3)), Box((Interval(Sum(), None, -1),)))),
]


def generator(seed: int = 1) -> np.random.Generator:
    return seeds.generator(seed, "events", 0)


def feature(what: Feature, outcome: Outcome) -> int:
    return int(extract([what], leaves([outcome]))[0, 0])


# --- features --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "outcome", "value"),
    [
        (Length(), (1, (2, 3), Mapping([("a", 4)])), 5),
        (Length(), (), 0),
        (Length(), "text", 1),
        (FormOf(), 3, Form.SINGLE),
        (FormOf(), (3,), Form.LIST),
        (FormOf(), Mapping([]), Form.DICTIONARY),
        (FormOf(), Raised("E"), Form.RAISED),
        (KindOf(0), None, Kind.NONE),
        (KindOf(1), (1, True), Kind.BOOLEAN),
        (KindOf(1), (1,), Kind.ABSENT),
        (CountOf(1), (1, 1.0, True, "1"), 2),
        (CountOf(NAN), (NAN, None, 1), 1),
        (CountOf(b"x"), (b"x", "x"), 1),
        (Special("negative-zero"), (-0.0, 0.0, False, None), 1),
        (Special("infinite"), (INF, -INF, 10**400), 3),
        (Special("nan"), (NAN, None, "nan"), 1),
        (Coordinate(1, -2), (0, 1.3), 5),
        (Coordinate(1, 2), (0, -1.3), -1),
        (Coordinate(0), "text", ABSENT),
        (Coordinate(0), NAN, ABSENT),
        (Coordinate(0), INF, LIMIT),
        (Coordinate(0), -(10**400), -LIMIT),
        (Coordinate(0, -1000), 1e300, LIMIT),
        (OrderStatistic(0), ("a", 3, 1, NAN, 2), 1),
        (OrderStatistic(-1), ("a", 3, 1, NAN, 2), 3),
        (OrderStatistic(3), ("a", 3, 1, NAN, 2), ABSENT),
        (OrderStatistic(-4), ("a", 3, 1, NAN, 2), ABSENT),
        (Sum(-1), (1.5, True, "a", NAN, -0.5), 4),
        (Sum(), (INF, INF), LIMIT),
        (Sum(), None, 0),
        (Distance(0, 1.0, -1), -1.0, 4),
        (Distance(0, -1.7e308), 1.7e308, LIMIT),
        (LogRatio(0, 0.0, 1.0, -2), -5.0, 4),
        (LogRatio(0, 0.0, 1.0, -2), 0.75, -2),
        (LogRatio(0, 0.0, 1.0, -2), INF, -4),
        (LogRatio(0, 0.0, 1.0, -2), -INF, 4),
        (LogRatio(0, 0.0, 1.0, -2), NAN, ABSENT),
    ],
)
def test_what_a_feature_is(what: Feature, outcome: Outcome, value: int) -> None:
    assert feature(what, outcome) == value


def test_a_leaf_is_one_value() -> None:
    with pytest.raises(TypeError, match="no leaf"):
        leaf((1, 2))


NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-(2**70), 2**70),
    st.booleans(),
    st.none(),
    st.text(max_size=2),
)
ANY_OUTCOME = st.recursive(NUMBERS, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=8)


@settings(deadline=None)
@given(st.lists(ANY_OUTCOME, min_size=1, max_size=6))
def test_a_run_is_looked_at_by_itself(outcomes: list[Outcome]) -> None:
    """In a batch, alone, and in the opposite order: features, scores and events are the same."""
    together = extract(FEATURES, leaves(outcomes))
    for at, outcome in enumerate(outcomes):
        assert np.array_equal(extract(FEATURES, leaves([outcome]))[0], together[at])
    for each in SCORES:
        whole = score(each, leaves(outcomes))
        assert [int(score(each, leaves([outcome]))[0]) for outcome in outcomes] == whole.tolist()
        assert score(each, leaves(outcomes[::-1])).tolist() == whole[::-1].tolist()


ARRAYS = [
    np.array([True, False, True]),
    np.array([3, -1, 2**62], dtype=np.int64),
    np.array([3, 0, 2**64 - 1], dtype=np.uint64),
    np.array([0.1, -0.0, np.nan, np.inf], dtype=np.float32),
    np.array([[0.1, -0.0, 1.0], [np.nan, 1e300, 0.0]]),
    np.arange(24).reshape(2, 3, 4),
    np.zeros((3, 0)),
    np.array(["a", "bc", "a"]),
    np.array([b"a", b"bc"]),
    np.zeros(0),
    np.zeros((0, 2)),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_an_array_is_the_list_of_its_rows(array: np.ndarray[Any, Any]) -> None:
    rows = listed(array)
    assert np.array_equal(extract(FEATURES, leaves(array)), extract(FEATURES, leaves(rows)))
    wanted = [
        *OUTCOMES,
        *rows,
        0.1,
        3.0,
        0,
        2**62 + 1,
        "abc",
        (0.1, -0.0),
        (0.0, 0.0, 0.0),
        (0.1, 0.0, 1.0),
        ((1, 2), (3,)),
    ]
    for outcome in wanted:
        found = happened(OutputEquals(outcome), array, generator())
        assert found.tolist() == [same(row, outcome) for row in rows]
        assert np.array_equal(found, happened(OutputEquals(outcome), rows, generator()))


def test_no_features_are_no_columns() -> None:
    assert extract([], leaves([1, 2])).shape == (2, 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: KindOf(-1),
        lambda: Coordinate(True),
        lambda: Coordinate(0, 1001),
        lambda: Coordinate(1.0),  # type: ignore[arg-type]
        lambda: CountOf((1,)),
        lambda: CountOf(Mapping([])),
        lambda: Special("odd"),  # type: ignore[arg-type]
        lambda: Distance(0, INF),
        lambda: Distance(0, 1),
        lambda: LogRatio(0, 0.0, NAN),
        lambda: Interval(Length(), LIMIT + 1),
        lambda: Box(()),
        lambda: Union(()),
        lambda: Union((ScoreAbove(SCORES[0], 0, Fraction(1, 2)), ScoreBelow(SCORES[0], 0, Fraction(1, 2)))),
        lambda: ScoreAbove(SCORES[0], 2**63),
        lambda: ScoreAbove(SCORES[0], 0, Fraction(1)),
        lambda: ScoreAbove(SCORES[0], 0, Fraction(1, 2**33)),
        lambda: ScoreBelow(SCORES[0], 0, 0.5),  # type: ignore[arg-type]
        lambda: Histogram((), (), ()),
        lambda: Histogram((Length(),), (), ()),
        lambda: Histogram((Length(),), ((1, 1),), ((1, 2, 3),)),
        lambda: Histogram((Length(),), ((1,),), ((1,),)),
        lambda: Histogram((Length(),), ((),), ((LIMIT + 1,),)),
        lambda: Linear((Length(),), (1, 2)),
        lambda: Linear((Length(),), (2**20 + 1,)),
        lambda: Layer(((1,),), (1, 2), 0),
        lambda: Layer(((1,),), (1,), 41),
        lambda: Layer(((2**21,),), (1,), 0),
        lambda: Network((Length(),), (Layer(((1, 2),), (1,), 0),)),
        lambda: Network((Length(),), (Layer(((1,), (2,)), (1, 1), 0),)),
        lambda: Tree((0,), (), (), (), (1,)),
        lambda: Tree((0,), (0,), (0,), (-1,), (1,)),
        lambda: Tree((0,), (0,), (-2,), (-1,), (1,)),
        lambda: Tree((), (), (), (), ()),
        lambda: Trees((Length(),), (Tree((1,), (0,), (-1,), (-1,), (1,)),)),
        lambda: Bins(SCORES[0], (1, 1)),
        lambda: Bins(SCORES[0], tuple(range(32))),
        lambda: Bins(SCORES[0], (2**63,)),
    ],
)
def test_what_is_no_event(make: Callable[[], object]) -> None:
    with pytest.raises(EvidenceError, match="cannot be made of this"):
        make()


def test_an_outcome_that_is_too_long_to_be_added_up() -> None:
    with pytest.raises(EvidenceError, match="1,048,577 leaves"):
        happened(Box((Interval(Sum(), 0),)), np.zeros((1, 2**20 + 1), dtype=bool), generator())


# --- scores ----------------------------------------------------------------------------------------------------------


def test_scores() -> None:
    runs = leaves([(1.0, 2.0), (-5.0, 0.5), "text", ()])
    assert score(SCORES[0], runs).tolist() == [7 + 100, 7 + 100, 6 + 100, 6 + 100]
    assert score(SCORES[1], runs).tolist() == [3 * 16 - 2 * 48, -3 * 80 + 2 * 72, 0, 0]
    # Hidden: ((2x - s + 1) >> 1, (x + s) >> 1), cut at 0; out: h₁ - 3h₂ + 4.
    assert score(SCORES[2], runs).tolist() == [0 - 3 * 2 + 4, 0 - 0 + 4, 4, 4]
    # Leaf -1 is leaves[0]: more than 0 in the first coordinate; else by the length.
    assert score(SCORES[3], runs).tolist() == [1020, 1010, 1030, 1030]


def test_scores_cannot_overflow() -> None:
    """The largest features, weights and biases that are allowed."""
    largest = (1 << 20,) * 1024
    features = (Coordinate(0),) * 1024
    runs = leaves([INF, -INF])
    exact = 1024 * 2**20 * 2**31
    assert score(Linear(features, largest), runs).tolist() == [exact, -exact]
    network = Network(features, (Layer((largest,), (2**52,), 0),))
    assert score(network, runs).tolist() == [exact + 2**52, 2**52 - exact]
    table = Histogram(features, ((),) * 1024, ((LIMIT,),) * 1024)
    assert score(table, runs).tolist() == [1024 * LIMIT] * 2


def test_what_is_absent_adds_nothing_to_a_weighted_sum() -> None:
    assert score(Linear((Coordinate(5), Coordinate(0)), (7, 1)), leaves([(3,), (4,)])).tolist() == [3, 4]


# --- events ----------------------------------------------------------------------------------------------------------


def test_an_absent_feature_is_in_no_interval() -> None:
    everywhere = Box((Interval(Coordinate(0)),))
    assert happened(everywhere, [1.0, NAN, "a", (), INF], generator()).tolist() == [True, False, False, False, True]
    inside = Box((Interval(Coordinate(0), 0, 1), Interval(Coordinate(1), None, 5)))
    assert happened(inside, [(0, 5), (1, 6), (2, 5), (1.9, -9)], generator()).tolist() == [True, False, False, True]


def test_scores_above_and_below() -> None:
    values = np.array([1, 2, 3])
    identity = Linear((Coordinate(0),), (1,))
    assert happened(ScoreAbove(identity, 2), values, generator()).tolist() == [False, False, True]
    assert happened(ScoreBelow(identity, 2), values, generator()).tolist() == [True, False, False]
    both = Union((ScoreAbove(identity, 2), OutputEquals(1)))
    assert happened(both, values, generator()).tolist() == [True, False, True]
    assert edge(both) == 0
    assert edge(Union((OutputEquals(1), ScoreAbove(identity, 2, Fraction(1, 3))))) == Fraction(1, 3)


@pytest.mark.parametrize("kind", [ScoreAbove, ScoreBelow])
def test_a_coin_decides_at_the_edge(kind: type[ScoreAbove]) -> None:
    """Chance 1/3 of 90,000 ties: Hoeffding, false alarm 2e-9; 0.3 must fail."""
    event = kind(Linear((Coordinate(0),), (1,)), 2, Fraction(1, 3))
    rate = happened(event, np.full(90_000, 2), generator()).mean()
    margin = math.sqrt(math.log(1e9) / 2 / 90_000)
    assert abs(rate - 1 / 3) < margin < 1 / 3 - 0.3
    assert happened(event, np.array([1, 3]), generator()).tolist() == [kind is ScoreBelow, kind is ScoreAbove]


def test_a_coin_does_not_depend_on_the_outcome() -> None:
    """The coins of a run are the same whatever the other runs are."""
    event = ScoreAbove(Linear((Coordinate(0),), (1,)), 2, Fraction(1, 2))
    ties = happened(event, np.full(1000, 2), generator())
    some = np.where(np.arange(1000) % 2, 2, 0)
    assert np.array_equal(happened(event, some, generator()), ties & (some == 2))


def test_sides_are_disjoint() -> None:
    identity = Linear((Coordinate(0),), (1,))
    values = np.repeat([0, 1, 2], 1000)
    overlapping = Sides(ScoreAbove(identity, 1, Fraction(1, 2)), ScoreBelow(identity, 1, Fraction(1, 2)))
    found = sides_of(overlapping, values, generator())
    counts = count_sides(found)
    assert (counts.runs, counts.plus + counts.minus + int(np.sum(found == NEITHER))) == (3000, 3000)
    assert set(found[:1000]) == {MINUS}
    assert set(found[1000:2000]) == {PLUS, NEITHER, MINUS}
    assert set(found[2000:]) == {PLUS}
    # A tie is in S⁺ with chance 1/2, and in S⁻ with 1/4: 5 standard deviations are 79 and 68.
    assert abs(int(np.sum(found[1000:2000] == PLUS)) - 500) < 100
    assert abs(int(np.sum(found[1000:2000] == MINUS)) - 250) < 90
    alone = sides_of(Sides(overlapping.plus), values, generator())
    assert np.array_equal(alone == PLUS, found == PLUS)
    assert MINUS not in alone


def test_bins() -> None:
    identity = Linear((Coordinate(0),), (1,))
    assert count_bins(Bins(identity, (0, 10)), np.array([-5, 0, 3, 10, 11])) == (1, 2, 2)
    assert count_bins(Bins(identity, ()), np.array([1, 2])) == (2,)


# --- as text ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: digest(event)[:8])
def test_events_read_back(event: Event) -> None:
    written = text(event)
    assert text(from_text(written)) == written
    assert from_text(written) == event
    assert hash(from_text(written)) == hash(event)
    assert digest(from_json(to_json(event))) == digest(event)
    for one, other in zip(
        happened(event, OUTCOMES, generator()),
        happened(from_text(written), OUTCOMES, generator()),  # type: ignore[arg-type]
        strict=True,
    ):
        assert one == other


def test_every_feature_reads_back() -> None:
    for what in FEATURES:
        sides = Sides(Box((Interval(what, 1, 2),)))
        assert text(from_text(text(sides))) == text(sides)
    bins = Bins(SCORES[3], (1, 2, 3))
    assert from_text(text(bins)) == bins
    sides = Sides(EVENTS[-1], EVENTS[-2])
    assert from_text(text(sides)) == sides


def test_different_outcomes_are_different_events() -> None:
    """Python's == would take each of these for the same."""
    for one, other in ((1, True), (0.0, -0.0), ((0,), (False,))):
        assert OutputEquals(one) != OutputEquals(other)
    assert CountOf(1) != CountOf(True)
    assert OutputEquals(1) == OutputEquals(1.0)


def test_the_canonical_text_is_fixed() -> None:
    """Certificates hold digests: a change of this text makes old ones unreadable."""
    event = ScoreAbove(Linear((Coordinate(1, -3),), (2,)), 5, Fraction(1, 3))
    assert text(event) == (
        '{"is":"score-above","score":{"features":[{"index":1,"is":"coordinate","step":-3}],'
        '"is":"linear","weights":[2]},"threshold":5,"tie":"1/3"}'
    )
    assert digest(event) == "78fd5c55ce62eeb1884059da137ffeebc8a62f6f9a4ae712fd6d1118556e58e5"
    assert text(OutputEquals((1, "ü", NAN))) == '{"is":"equals","outcome":[1,"\\u00fc",{"$float":"nan"}]}'


LENGTH = {"is": "length"}
DEEP: Any = {"is": "equals", "outcome": 1}
for _ in range(40):
    DEEP = {"is": "union", "events": [DEEP]}


@pytest.mark.parametrize(
    ("content", "place", "why"),
    [
        (3, "event: 3", '"is" says which form'),
        ([], "event: []", '"is" says which form'),
        ({"is": "length"}, "event: ", '"is" says which form'),
        ({"is": ["box"]}, "event: ", '"is" says which form'),
        ({"is": "equals"}, "event: ", "has the fields outcome"),
        ({"is": "equals", "outcome": 1, "more": 2}, "event: ", "has the fields outcome"),
        ({"is": "equals", "outcome": {"$odd": 1}}, "event.outcome: ", "what dpverdict writes"),
        ({"is": "box", "intervals": 3}, "event.intervals: 3", "a list stands here"),
        (
            {"is": "box", "intervals": [{"is": "interval", "feature": LENGTH, "low": 1.5, "high": None}]},
            "event.intervals[0].low: 1.5",
            "a whole number",
        ),
        (
            {"is": "box", "intervals": [{"is": "interval", "feature": LENGTH, "low": True, "high": None}]},
            "event.intervals[0].low: True",
            "a whole number",
        ),
        (
            {
                "is": "box",
                "intervals": [
                    {"is": "interval", "feature": {"is": "special", "what": 3}, "low": None, "high": None},
                ],
            },
            "event.intervals[0].feature.what: 3",
            "a text stands here",
        ),
        *(
            (
                {
                    "is": "box",
                    "intervals": [
                        {
                            "is": "interval",
                            "feature": {"is": "distance", "index": 0, "step": 0, "centre": centre},
                            "low": None,
                            "high": None,
                        },
                    ],
                },
                "event.intervals[0].feature.centre: ",
                "a finite number",
            )
            for centre in (INF, NAN, 10**400, "1", True)
        ),
        *(
            (
                {
                    "is": "score-above",
                    "score": {"is": "linear", "features": [LENGTH], "weights": [1]},
                    "threshold": 0,
                    "tie": tie,
                },
                "event.tie: ",
                "a fraction stands here",
            )
            for tie in (0.5, "1/0", "-1/2", "1/2/3", "", "9" * 50)
        ),
        (
            {
                "is": "score-above",
                "score": {"is": "linear", "features": [LENGTH], "weights": [1]},
                "threshold": 0,
                "tie": "3/2",
            },
            "event (tie: Fraction(3, 2)): ",
            "0 to below 1",
        ),
        (DEEP, "event: ", "nested more than"),
    ],
)
def test_what_is_no_event_is_named(content: Any, place: str, why: str) -> None:
    with pytest.raises(EvidenceError, match="this is no event") as caught:
        from_json(content)
    assert caught.value.place is not None
    assert caught.value.place.startswith(place)
    assert why in caught.value.why


@pytest.mark.parametrize("written", ["", "{", "nonsense", "[" * 100_000, "1" * 5000])
def test_what_is_no_json_is_said(written: str) -> None:
    with pytest.raises(EvidenceError, match=r"an event is a JSON text|this is no event"):
        from_text(written)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["is", "events", "outcome", "plus"]), inner)
    ),
    max_leaves=10,
)


@given(JSON)
@settings(max_examples=200, deadline=None)
def test_no_content_breaks_the_reader(content: Any) -> None:
    try:
        document = from_json(content)
    except EvidenceError:
        return
    assert text(from_text(text(document))) == text(document)
