"""Values survive the way to an executable and back exactly, and what is not exact is refused."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from child_programs import PRELUDE, PYTHON, generator
from dpverdict.mechanism.executable import Executable
from dpverdict.mechanism.executable.values import ValueMistakeError, from_text, to_array, to_outcome, to_text
from dpverdict.mechanism.outcome import Mapping, Outcome, freeze, same, to_json
from dpverdict.mechanism.tally import listed


@pytest.fixture(scope="module")
def echo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executable]:
    """Gives back the text of its input: what dpverdict writes, it must read as the same."""
    path = tmp_path_factory.mktemp("echo") / "echo.py"
    body = """
hello()
for line in sys.stdin:
    head, _, rest = line.partition(',"input":')
    asked = json.loads(head + "}")
    text = rest.rstrip("\\n")[:-1]
    say('{"id":%d,"outcomes":[%s]}' % (asked["id"], ",".join([text] * asked["runs"])))
"""
    path.write_text(PRELUDE + body)
    with Executable(f"{PYTHON} {path}") as executable:
        yield executable


def float_of_bits(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


any_float = st.integers(0, 2**64 - 1).map(float_of_bits) | st.floats()
scalar = (
    st.none()
    | st.booleans()
    | any_float
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers(-(2**20_000), 2**20_000)
    | st.text(st.characters(), max_size=20)  # surrogates and line ends too
    | st.binary(max_size=20)
)
value = st.recursive(
    scalar,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4) | st.sampled_from(["$float", "$object", "$x", "\n"]), inner, max_size=3)
        | st.dictionaries(st.integers(), inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(value)
def test_every_value_survives_the_way_there_and_back(echo: Executable, content: object) -> None:
    first, second = listed(echo.run(content, 2, generator()))
    assert same(first, freeze(content))
    assert same(second, freeze(content))
    # What is the same may differ in kind: 1 and 1.0, or a list's dtype.
    assert type(first) is type(freeze(content))


@settings(max_examples=200, deadline=None)
@given(st.lists(any_float, min_size=1, max_size=200))
def test_all_floats_survive_bit_by_bit(echo: Executable, floats: list[float]) -> None:
    (outcome,) = listed(echo.run(floats, 1, generator()))
    for got, sent in zip(outcome, floats, strict=True):  # type: ignore[arg-type]
        assert math.isnan(sent) if math.isnan(got) else struct.pack("<d", got) == struct.pack("<d", sent)


@given(any_float)
def test_every_way_to_write_a_float(number: float) -> None:
    texts = [json.dumps(number), to_text({"$float": number.hex()}), to_text({"$float": repr(number)})]
    texts.append(to_text({"$float": f"{number:.17g}"}))
    if math.isfinite(number):
        texts += [f"{number:.17g}", f"{number:.40e}"]
    for text in texts:
        (content,) = from_text(f"[{text}]")
        assert same(to_outcome(content), number)
        array = to_array([content])
        if isinstance(content, float):
            assert array is not None
            assert same(array.tolist()[0], number)


@given(st.integers())
def test_every_way_to_write_an_integer(number: int) -> None:
    for text in (str(number), to_text({"$int": str(number)}), to_text({"$int": hex(number)})):
        assert to_outcome(from_text(text)) == number


@given(st.lists(st.integers(-(2**64), 2**64), min_size=1, max_size=5))
def test_integers_of_any_size_in_a_batch(numbers: list[int]) -> None:
    array = to_array(from_text(json.dumps(numbers)))
    assert (array is None) == any(not -(2**63) <= number < 2**63 for number in numbers)
    assert array is None or array.tolist() == numbers


@pytest.mark.parametrize("text", ["[-0]", '["-0",-0]', "[[1,-0]]", '{"a":-0}', "[-0.0]", "[-0e5]", "[ -0 ]"])
def test_minus_zero_is_a_float(text: str) -> None:
    def last(outcome: Outcome) -> Outcome:
        while isinstance(outcome, tuple | Mapping):
            outcome = list(outcome.values())[-1] if isinstance(outcome, Mapping) else outcome[-1]
        return outcome

    assert same(last(to_outcome(from_text(text))), -0.0)


@pytest.mark.parametrize("content", [[1, True], [1, 2.5], ["a"], [[1], [1, 2]], [[]], [], [None], [[1, "a"]], [2**63]])
def test_what_is_no_array(content: list[object]) -> None:
    assert to_array(content) is None


MISTAKES = [
    '{"$float":1.5}',
    '{"$float":"1_0"}',
    '{"$float":" 1"}',
    '{"$float":"١"}',
    '{"$float":"0x"}',
    '{"$float":"1e999"}',
    '{"$float":"0x1p9999"}',
    '{"$float":"1.0","more":1}',
    '{"$int":5}',
    '{"$int":"5.0"}',
    '{"$int":"0b1"}',
    '{"$int":"' + "9" * 5000 + '"}',
    '{"$bytes":"0"}',
    '{"$bytes":"zz"}',
    '{"$object":[1]}',
    '{"$pairs":{"a":1}}',
    '{"$pairs":[[1,2],[1.0,3]]}',
    '{"$pairs":[[1]]}',
    '{"$unknown":1}',
    '{"$error":1}',
    '{"$error":""}',
    '[{"$error":"ValueError"}]',
    '{"a":1,"a":2}',
    "1e999",
    "[-1e400]",
    "[" * 150 + "]" * 150,
]


@pytest.mark.parametrize("text", MISTAKES, ids=lambda text: text[:30])
def test_values_that_are_refused(text: str) -> None:
    with pytest.raises(ValueMistakeError) as caught:
        to_outcome(from_text(text))
    assert caught.value.why
    assert caught.value.fix


def test_an_overflow_inside_a_batch_is_refused() -> None:
    with pytest.raises(ValueMistakeError):
        to_array(from_text("[1.0,1e999]"))
    array = to_array(from_text("[1.0,Infinity,-Infinity,NaN]"))
    assert array is not None
    assert same(tuple(array.tolist()), (1.0, math.inf, -math.inf, math.nan))


def test_outcomes_are_written_as_the_protocol_says() -> None:
    content = to_json(freeze({"$a": [1, 2**64, math.inf], "b": b"\x00\xff"}))
    assert content == {"$object": {"$a": [1, {"$int": hex(2**64)}, {"$float": "inf"}], "b": {"$bytes": "00ff"}}}
