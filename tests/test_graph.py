"""From paths to a graph: shared parts are one object, slots are emitted early, and nothing changes its meaning."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverdict.catalog import find
from dpverdict.execute import seeds
from dpverdict.mechanism import Mechanism, mechanism
from dpverdict.mechanism.constants import FALSE, TRUE, number
from dpverdict.mechanism.evaluate import Known, Raised, run
from dpverdict.mechanism.graph import draws_of, graph, in_order, successors
from dpverdict.mechanism.noise import RealNoise
from dpverdict.mechanism.structure import (
    BranchNode,
    DrawNode,
    EmitNode,
    RaiseNode,
    ReturnNode,
    Sequence,
    Slot,
)
from dpverdict.mechanism.trace import Decision, PathRecord, RaisedOnPath, Returned, Untraceable
from random_terms import COINS, REAL, quick


def test_equal_parts_are_one_object() -> None:
    program = find("svt1").mechanism.program_for((0,) * 10, {"stop_after": 2})
    nodes = in_order(program.root)
    assert len(set(nodes)) == len(nodes)
    assert program.paths == 10  # stops at the second to the tenth answer, or never
    # Eleven draws, ten answers, nine questions, two ends at most: the graph does not grow with the paths.
    assert len(nodes) <= 11 + 10 + 9 + 2


def test_a_graph_is_smaller_than_its_paths() -> None:
    program = find("svt2").mechanism.program_for((0.5,) * 8, {"stop_after": 9})
    assert program.paths == 256
    assert len(in_order(program.root)) < program.paths


def test_every_node_comes_before_its_successors() -> None:
    nodes = in_order(find("svt2").mechanism.program_for((0, 1, 0), {"stop_after": 2}).root)
    places = {id(node): at for at, node in enumerate(nodes)}
    assert len(places) == len(nodes)
    assert all(places[id(node)] < places[id(after)] for node in nodes for after in successors(node))


def test_slots_are_emitted_as_soon_as_all_paths_agree() -> None:
    @mechanism
    def late(noise: Any, x: Any) -> Any:
        first, second = noise.laplace(x, 1), noise.laplace(x, 2)
        return [first, second, 0] if second > 0 else [first, second, 1]

    kinds = [type(node) for node in in_order(late.program_for(0.0).root)]
    assert kinds[:5] == [DrawNode, EmitNode, DrawNode, EmitNode, BranchNode]
    assert kinds.count(ReturnNode) == 1


def test_a_branch_that_changes_nothing_is_left_out() -> None:
    @mechanism
    def idle(noise: Any, x: Any) -> Any:
        if noise.laplace(x, 1) > 0:
            return 7
        return 7

    program = idle.program_for(0.0)
    assert program.paths == 2
    assert [type(node) for node in in_order(program.root)] == [EmitNode, DrawNode, ReturnNode]


def test_paths_that_raise_agree_to_every_slot() -> None:
    @mechanism
    def fragile(noise: Any, x: Any) -> Any:
        first = noise.laplace(x, 1)
        if noise.laplace(x, 1) > 0:
            raise ValueError
        return [first, 1]

    kinds = [type(node) for node in in_order(fragile.program_for(0.0).root)]
    assert kinds[:2] == [DrawNode, EmitNode]
    assert RaiseNode in kinds


# --- paths that do not fit together ------------------------------------------------------------------------------

LIST = Sequence("list", None)
YES, NO = Decision(COINS[0], True), Decision(COINS[0], False)
DONE = Returned(Slot(), (TRUE,))


@pytest.mark.parametrize(
    "records",
    [
        [PathRecord((COINS[0], YES), DONE)],  # the other side is missing
        [PathRecord((COINS[0], YES), DONE), PathRecord((REAL[0], NO), DONE)],
        [PathRecord((COINS[0], YES), DONE), PathRecord((COINS[0], COINS[1], NO), DONE)],
        [PathRecord((COINS[0],), DONE), PathRecord((COINS[0], NO), DONE)],
        [PathRecord((COINS[0], YES), DONE), PathRecord((COINS[0], Decision(COINS[1], False)), DONE)],
        [PathRecord((COINS[0], YES), DONE), PathRecord((COINS[0], YES), DONE), PathRecord((COINS[0], NO), DONE)],
        [PathRecord((COINS[0], YES), DONE), PathRecord((NO,), DONE)],
    ],
)
def test_paths_that_contradict_each_other_are_refused(records: list[PathRecord]) -> None:
    with pytest.raises(Untraceable, match="two executions with the same noise"):
        graph(records)


def test_a_graph_by_hand() -> None:
    records = [
        PathRecord((COINS[0], YES), Returned(LIST, (TRUE, number(1)))),
        PathRecord((COINS[0], NO, REAL[0]), Returned(LIST, (TRUE, REAL[0]))),
        PathRecord((COINS[0], Decision(COINS[0], False)), RaisedOnPath("ValueError")),
    ]
    end = ReturnNode(LIST)
    assert graph(records[:2]) == EmitNode(
        TRUE,
        DrawNode(
            COINS[0],
            BranchNode(COINS[0], EmitNode(number(1), end), DrawNode(REAL[0], EmitNode(REAL[0], end))),
        ),
    )
    assert graph([records[0], records[2]]) == EmitNode(
        TRUE,
        EmitNode(number(1), DrawNode(COINS[0], BranchNode(COINS[0], ReturnNode(LIST), RaiseNode("ValueError")))),
    )
    assert FALSE not in records[0].ending.slots  # type: ignore[union-attr]


# --- random mechanisms: the graph and the function give the same on the same noise -------------------------------

Step = tuple[Any, ...]

steps = st.deferred(lambda: st.lists(step, max_size=3))
values = st.sampled_from(["last", "sum", "count", "x", "flag", "constant"])
questions = st.sampled_from(
    ["last > 0", "last <= x", "count >= 2", "count == 1", "sum < 1", "flag", "flag and last > 0"]
)
step: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("draw"), st.sampled_from(["laplace", "discrete_laplace", "bernoulli", "choice"])),
    st.tuples(st.just("append"), values),
    st.tuples(st.just("if"), questions, steps, steps),
    st.tuples(st.just("stop"), values),
    st.tuples(st.just("raise"), st.sampled_from([ValueError, KeyError])),
)
programs = st.lists(step, min_size=2, max_size=5)


class State:
    """What a random mechanism remembers while it runs."""

    def __init__(self, noise: Any, x: Any) -> None:
        self.noise, self.x = noise, x
        self.output: list[Any] = []
        self.known: dict[str, Any] = {"last": 0.5, "sum": 0, "count": 0, "x": x, "flag": False, "constant": "text"}

    def draw(self, law: str) -> None:
        arguments = {"laplace": (self.x, 2), "discrete_laplace": (0, 2), "bernoulli": (0.5,), "choice": ([-1, 0, 2],)}
        drawn = getattr(self.noise, law)(*arguments[law])
        self.known["last"] = drawn
        if law == "bernoulli":
            self.known["flag"] = drawn
            self.known["count"] = self.known["count"] + drawn
        else:
            self.known["sum"] = self.known["sum"] + drawn
            self.known["count"] = self.known["count"] + (drawn > self.x)

    def holds(self, question: str) -> bool:
        known = self.known
        return {
            "last > 0": lambda: known["last"] > 0,
            "last <= x": lambda: known["last"] <= known["x"],
            "count >= 2": lambda: known["count"] >= 2,
            "count == 1": lambda: known["count"] == 1,
            "sum < 1": lambda: known["sum"] < 1,
            "flag": lambda: known["flag"],
            "flag and last > 0": lambda: known["flag"] and known["last"] > 0,
        }[question]()

    def follow(self, program: list[Step]) -> bool:
        """Whether it has come to a stop."""
        for kind, *rest in program:
            match kind:
                case "draw":
                    self.draw(rest[0])
                case "append":
                    self.output.append(self.known[rest[0]])
                case "stop":
                    self.output.append(self.known[rest[0]])
                    return True
                case "raise":
                    raise rest[0]("away")
                case "if":
                    if self.follow(rest[1] if self.holds(rest[0]) else rest[2]):
                        return True
        return False


def random_mechanism(program: list[Step]) -> Mechanism:
    def random_one(noise: Any, x: Any) -> Any:
        state = State(noise, x)
        state.follow(program)
        return state.output

    return Mechanism(random_one)


class Recorder:
    """Real noise, remembered in order."""

    def __init__(self, block: int) -> None:
        self.real = RealNoise(seeds.generator(11, "test_graph", block))
        self.drawn: list[Any] = []

    def __getattr__(self, law: str) -> Any:
        def draw(*arguments: Any) -> Any:
            self.drawn.append(getattr(self.real, law)(*arguments))
            return self.drawn[-1]

        return draw


@quick
@given(programs, st.sampled_from([-1.0, 0.0, 0.25, 2.0]))
def test_a_graph_does_what_the_function_does(program: list[Step], x: float) -> None:
    made = random_mechanism(program)
    traced = made.program_for(x)
    for block in range(20):
        recorder = Recorder(block)
        try:
            wanted: Any = made.function(recorder, x)
        except (ValueError, KeyError) as error:
            wanted = Raised(type(error).__name__)
        noise = iter(recorder.drawn)
        found = run(traced.root, Known(x, None, {}), lambda _draw, noise=noise: next(noise))
        assert next(noise, None) is None
        assert flat(found) == pytest.approx(flat(wanted))
    assert len(draws_of(traced.root)) <= sum(isinstance(node, DrawNode) for node in in_order(traced.root))


def flat(output: Any) -> list[Any]:
    if isinstance(output, Raised):
        return [output.exception]
    return [f"{item}" if isinstance(item, (str, bool)) else item for item in output]
