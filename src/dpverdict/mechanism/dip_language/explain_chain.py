"""A chain of states for people."""

from __future__ import annotations

from collections.abc import Iterator

from dpverdict.mechanism.dip_language.chain import Chain, Emitted, State, Way
from dpverdict.mechanism.explain import Names, shape_text
from dpverdict.mechanism.path_record import Decision
from dpverdict.mechanism.structure import Draw, RaiseNode, ReturnNode


def explain_chain(chain: Chain, name: str, input: object) -> str:
    """The states in the order in which they were found, each with its ways out."""
    draws = [event for state in chain.states for way in state.ways for event in way.events if isinstance(event, Draw)]
    names, endless = Names(dict.fromkeys(draws)), chain.never_ends()
    lines = [
        f"{name}: a chain of {len(chain.states):,} states for the input {input!r} only, since a loop has no bound",
        "  inside loops, noise is drawn afresh each time that a state is passed",
    ]
    for at, state in enumerate(chain.states):
        note = ": from here, no run returns" if at in endless else ""
        lines += ["", f"  ({at}) line {state.place.line}{note}", *_state(state, names)]
    return "\n".join(lines)


def _state(state: State, names: Names) -> Iterator[str]:
    drawn = dict.fromkeys(event for way in state.ways for event in way.events if isinstance(event, Draw))
    for draw in drawn:
        yield f"    {names.of(draw)} ~ {names.law(draw.law)}"
    for way in state.ways:
        yield f"    {_way(way, names)}"


def _way(way: Way, names: Names) -> str:
    conditions = [
        names.term(event.condition) if event.answer else f"not ({names.term(event.condition)})"
        for event in way.events
        if isinstance(event, Decision)
    ]
    emitted = [f"emit {names.term(event.term)}" for event in way.events if isinstance(event, Emitted)]
    condition = f"if {' and '.join(conditions)}: " if conditions else ""
    return condition + ", ".join([*emitted, _to(way.to)])


def _to(to: int | ReturnNode | RaiseNode) -> str:
    match to:
        case ReturnNode(shape):
            return f"return {shape_text(shape)}"
        case RaiseNode(exception):
            return f"raise {exception}"
        case _:
            return f"go to ({to})"
