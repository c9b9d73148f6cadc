"""Outcomes: freezing, sameness, counting, JSON."""

from __future__ import annotations

import array
import asyncio
import copy
import json
import math
import pickle
from collections import Counter, UserList, deque, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverdict.errors import OutputError
from dpverdict.mechanism.outcome import Mapping, Outcome, Raised, freeze, from_json, key, same, text, to_json
from dpverdict.mechanism.tally import Tally, all_raised, from_array, listed, tally

NAN = math.nan
Pair = namedtuple("Pair", "left right")


class Colour(Enum):
    RED = 1


class Level(IntEnum):
    LOW = 1


@dataclass
class Answer:
    hits: int
    scores: list[float]


class Frame:
    """As a data frame."""

    def to_numpy(self) -> Any:
        return np.array([[1.0, 2.0]])


class Tensor:
    """As a tensor: a scalar's list is a number."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def tolist(self) -> Any:
        return self.content


class Broken:
    def tolist(self) -> Any:
        raise RuntimeError("it is on another device")

    def __repr__(self) -> str:
        raise ValueError("not even this works")


FROZEN = [
    (1, 1),
    (1.5, 1.5),
    (True, True),
    (None, None),
    ("text", "text"),
    (b"\x00", b"\x00"),
    (bytearray(b"a"), b"a"),
    (memoryview(b"a"), b"a"),
    ([1, [2, []]], (1, (2, ()))),
    ((1, [2]), (1, (2,))),
    (Pair(1, [2]), (1, (2,))),
    (range(3), (0, 1, 2)),
    (deque([1, 2]), (1, 2)),
    (UserList([1, [2]]), (1, (2,))),
    (array.array("d", [1.0, 2.0]), (1.0, 2.0)),
    ({3, 1, 2}, (1, 2, 3)),
    (frozenset({"b", "a"}), ("a", "b")),
    ({"a": [1], 2: None}, Mapping([("a", (1,)), (2, None)])),
    (Counter("aab"), Mapping([("a", 2), ("b", 1)])),
    (Answer(1, [0.5]), Mapping([("hits", 1), ("scores", (0.5,))])),
    (np.float32(0.5), 0.5),
    (np.float64(0.5), 0.5),
    (np.longdouble(0.5), 0.5),
    (np.int8(-3), -3),
    (np.uint64(2**64 - 1), 2**64 - 1),
    (np.bool_(True), True),
    (np.str_("a"), "a"),
    (np.bytes_(b"a"), b"a"),
    (np.array(2.5), 2.5),
    (np.array([[1, 2], [3, 4]]), ((1, 2), (3, 4))),
    (np.array([True]), (True,)),
    (np.zeros((2, 0)), ((), ())),
    (np.array([[1], [1, 2]], dtype=object), ((1,), (1, 2))),
    (np.array([(1, 2.5)], dtype=[("a", int), ("b", float)]), ((1, 2.5),)),
    (np.ma.masked_array([1, 2], [False, True]), (1, None)),
    (1 + 2j, (1.0, 2.0)),
    (np.complex128(1 + 2j), (1.0, 2.0)),
    (Fraction(1, 2), 0.5),
    (Fraction(10**400), math.inf),
    (Decimal("-0.5"), -0.5),
    (Decimal("sNaN"), NAN),
    (Colour.RED, "RED"),
    (Level.LOW, 1),
    (Frame(), ((1.0, 2.0),)),
    (Tensor(1.5), 1.5),
    (Tensor([[1], [2]]), ((1,), (2,))),
    ([Tensor(True), np.float16(1)], (True, 1.0)),
    (Raised("ValueError"), Raised("ValueError")),
]


@pytest.mark.parametrize(("output", "outcome"), FROZEN, ids=lambda item: type(item).__name__)
def test_what_can_be_frozen(output: Any, outcome: Outcome) -> None:
    frozen = freeze(output)
    assert same(frozen, outcome)
    assert type(frozen) is type(outcome)
    assert same(freeze(frozen), frozen)
    assert same(from_json(json.loads(json.dumps(to_json(frozen), allow_nan=False))), frozen)


def endless() -> Any:
    content: list[Any] = []
    content.append(content)
    return content


async def coroutine() -> int:
    return 1


NOT_FROZEN = [
    (object(), ["object", "--observe"]),
    ([1, {"a": object()}], ["output[1]['a']", "--observe"]),
    ((number for number in range(3)), ["generator", "list("]),
    (iter([1]), ["list("]),
    (print, ["call"]),
    (int, ["type"]),
    (Broken(), ["Broken", "it is on another device"]),
    (endless(), ["contains itself"]),
    ({"a": {frozenset({1}): object()}}, ["output['a'][frozenset({1})]"]),
    (ValueError("no outcome"), ["ValueError"]),
    (np.array([object()]), ["object"]),
    ({math.nan: 1, float("nan"): 2}, ["same"]),
]


@pytest.mark.parametrize(("output", "shown"), NOT_FROZEN, ids=lambda item: type(item).__name__)
def test_what_cannot_be_frozen_is_said(output: Any, shown: list[str]) -> None:
    with pytest.raises(OutputError) as caught:
        freeze(output)
    for part in shown:
        assert part in str(caught.value)
    assert caught.value.place
    assert caught.value.why
    assert caught.value.fix


def test_coroutines_cannot_be_frozen() -> None:
    waiting = coroutine()
    with pytest.raises(OutputError, match="coroutine"):
        freeze(waiting)
    assert asyncio.run(waiting) == 1


DIFFERENT: list[Outcome] = [
    True, False, 1, 0, -0.0, 0.5, NAN, math.inf, -math.inf, "1", "nan", "", None, b"1", b"", (), (1,), (True,), (NAN,),
    (-0.0,), (0,), ((1,),), Mapping(), Mapping([("a", 1)]), Mapping([("a", True)]), Mapping([(1, "a")]),
    Mapping([("a", 1), ("b", 2)]), Mapping([("b", 2), ("a", 1)]), (("a", 1),), Raised("ValueError"), "ValueError",
    2**70, 2**53 + 1,
]  # fmt: skip


def test_these_outcomes_all_differ_and_are_the_same_as_themselves() -> None:
    assert len({key(outcome) for outcome in DIFFERENT}) == len(DIFFERENT)
    for outcome in DIFFERENT:
        for other in (copy.deepcopy(outcome), pickle.loads(pickle.dumps(outcome))):
            assert same(outcome, other)
        assert pickle.loads(pickle.dumps(key(outcome))) == key(outcome)


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, 1.0), (0, 0.0), (NAN, -NAN), (NAN, np.float64("nan").item()), ((1, 0.0), (1.0, 0)), (2**53, float(2**53))],
)
def test_equal_numbers_are_the_same(left: Outcome, right: Outcome) -> None:
    assert same(left, right)
    assert hash(key(left)) == hash(key(right))


def test_mappings() -> None:
    mapping = Mapping([("a", 1), (True, 2), (1, 3), (NAN, 4)])
    assert (mapping["a"], mapping[True], mapping[1.0], mapping[float("nan")]) == (1, 2, 3, 4)
    assert len(mapping) == 4
    assert "b" not in mapping
    assert mapping != {"a": 1}
    assert hash(mapping) == hash(Mapping(mapping.items()))
    with pytest.raises(KeyError):
        mapping["b"]
    with pytest.raises(ValueError, match="once"):
        Mapping([("a", 1), ("a", 2)])
    with pytest.raises(AttributeError):
        mapping.other = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("outcome", "shown"),
    [
        ((True, 0.5, (None,)), "[True, 0.5, [None]]"),
        (Mapping([("a", (1,))]), "{'a': [1]}"),
        (Raised("ValueError"), "raises ValueError"),
        (tuple(range(1000)), "[0, 1, 2…"),
        ((1 << 20_000,), "[0x10000…"),
        ("a\nb", "'a\\nb'"),
    ],
)
def test_outcomes_on_one_line(outcome: Outcome, shown: str) -> None:
    line = text(outcome)
    assert len(line) <= 80
    assert line == shown or (shown.endswith("…") and line.startswith(shown[:-1]) and line.endswith("…"))


@pytest.mark.parametrize(
    "content",
    [{"$float": "x"}, {"$int": 1.5}, {"$error": 3}, {"$what": 1}, {"$float": "1", "a": 2}, {"$pairs": [[1]]}, {1, 2},
     {"$bytes": "0"}, {"$object": 3}, {"$pairs": [[1, 2], [1, 3]]}],
)  # fmt: skip
def test_json_that_stands_for_no_outcome(content: Any) -> None:
    with pytest.raises(OutputError):
        from_json(content)


# --- properties ----------------------------------------------------------------------------------------------------

scalars = (
    st.none() | st.booleans() | st.integers() | st.integers(-3, 3) | st.floats()
    | st.sampled_from([0.0, -0.0, NAN, 1.0]) | st.text(max_size=3) | st.binary(max_size=3)
)  # fmt: skip
outputs = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2) | st.integers(0, 3), inner),
    max_leaves=12,
)


@given(outputs)
def test_freezing_keeps_everything(output: Any) -> None:
    frozen = freeze(output)
    again = freeze(copy.deepcopy(output))
    assert key(frozen) == key(again)
    assert hash(key(frozen)) == hash(key(again))
    assert same(freeze(frozen), frozen)
    assert same(from_json(json.loads(json.dumps(to_json(frozen), allow_nan=False))), frozen)
    assert same(pickle.loads(pickle.dumps(frozen)), frozen)
    assert tally([frozen, again])[frozen] == 2
    assert isinstance(text(frozen), str)


def canonical(output: Any) -> str:
    """What is the same, said in another way: by the text of types and values."""
    if isinstance(output, bool) or output is None or isinstance(output, str | bytes):
        return repr(output)
    if isinstance(output, int):
        return f"number {Fraction(output)}"
    if isinstance(output, float):
        return f"number {Fraction(output)}" if math.isfinite(output) and str(output) != "-0.0" else repr(output)
    if isinstance(output, dict):
        return "{" + ", ".join(f"{canonical(name)}: {canonical(item)}" for name, item in output.items()) + "}"
    return f"[{', '.join(map(canonical, output))}]"


@given(outputs, outputs)
def test_sameness_is_that_of_a_written_form(left: Any, right: Any) -> None:
    assert same(freeze(left), freeze(right)) == (canonical(left) == canonical(right))


columns = st.sampled_from(["bool", "int8", "uint64", "int64", "float32", "float64", "U2"])


@given(columns, st.integers(0, 40), st.sampled_from([(), (1,), (3,), (2, 2), (0,)]), st.data())
def test_arrays_are_counted_like_their_rows(dtype: str, runs: int, shape: tuple[int, ...], data: st.DataObject) -> None:
    values = {
        "bool": [True, False],
        "int8": [-128, 127, 0],
        "uint64": [0, 1, 2**64 - 1, 2**63],
        "int64": [-(2**63), 2**63 - 1, 5],
        "float32": [0.0, -0.0, NAN, 0.1],
        "float64": [0.0, -0.0, NAN, -NAN, math.inf, 1.0],
        "U2": ["", "a", "ab"],
    }[dtype]
    count = runs * math.prod(shape)
    content = data.draw(st.lists(st.sampled_from(values), min_size=count, max_size=count))
    rows = from_array(np.array(content, dtype=dtype).reshape(runs, *shape))
    one_by_one = [freeze(row) for row in (rows.tolist() if isinstance(rows, np.ndarray) else rows)]
    counted = tally(rows)
    assert isinstance(rows, np.ndarray)
    assert counted == tally(one_by_one)
    assert counted.runs == runs
    assert all(same(left, right) for left, right in zip(listed(rows), one_by_one, strict=True))


# --- tallies -------------------------------------------------------------------------------------------------------


def test_tallies_add_up() -> None:
    whole = Tally()
    for part in ([1, True, NAN], np.array([1.0, NAN]), [Raised("A"), (1,)]):
        whole.add(tally(part))
    assert whole.runs == 7
    assert (whole[1], whole[True], whole[NAN], whole[Raised("A")], whole[(1,)], whole["none"]) == (2, 1, 2, 1, 1, 0)
    assert len(whole) == 5
    assert True in whole
    assert False not in whole
    assert whole == tally([NAN, NAN, 1, 1, True, Raised("A"), (1,)])
    assert whole != {1: 2}
    assert "7 runs" in repr(whole)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([1 + 2j, 1 + 2j]), [(1.0, 2.0)] * 2),
        (np.array([1, 2], dtype=">i4"), [1, 2]),
        (np.array([1.5], dtype=np.longdouble), [1.5]),
        (np.array([[1], None], dtype=object), [(1,), None]),
        (np.ma.masked_array([1, 2], [True, False]), [None, 2]),
        (np.array([(1, 2.5)], dtype=[("a", int), ("b", float)]), [(1, 2.5)]),
    ],
)
def test_unusual_arrays(array: Any, expected: list[Outcome]) -> None:
    found = from_array(array)
    assert all(map(same, listed(found), expected))
    assert tally(found) == tally(expected)


def test_many_columns_do_not_overflow_the_codes() -> None:
    generator = np.random.default_rng(1)
    rows = generator.integers(0, 1000, size=(300, 40))
    rows[150:] = rows[:150]
    assert set(tally(rows).values()) == {2}
    assert tally(rows) == tally([tuple(row) for row in rows.tolist()])


def test_all_raised() -> None:
    assert all_raised([Raised("A"), Raised("B")])
    assert not all_raised([Raised("A"), None])
    assert not all_raised([])
    assert not all_raised(np.array([1]))
