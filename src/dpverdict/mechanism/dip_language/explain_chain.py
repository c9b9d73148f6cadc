"""A chain of states for people."""

from __future__ import annotations

from collections.abc import Iterator

from dpverdict.mechanism.dip_language.chain import Chain, Emitted, Way
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
    for at in _shown(chain, endless):
        state = chain.states[at]
        if at in endless:
            lines += ["", f"  ({at}) line {state.place.line}: no run returns any more"]
        else:
            lines += ["", f"  ({at}) line {state.place.line}", *_state(chain, at, names)]
    return "\n".join(lines)


def _shown(chain: Chain, endless: frozenset[int]) -> list[int]:
    """The states that are more than a jump, and of those without an end the ones that are entered."""
    shown, waiting = {_landing(chain, 0)}, [_landing(chain, 0)]
    while waiting:
        at = waiting.pop()
        ways = () if at in endless else chain.states[at].ways
        found = {_landing(chain, way.to) for way in ways if isinstance(way.to, int)} - shown
        shown |= found
        waiting.extend(found)
    return sorted(shown)


def _landing(chain: Chain, at: int) -> int:
    """Where jumps lead to."""
    seen: set[int] = set()
    while at not in seen:
        seen.add(at)
        first, *others = chain.states[at].ways
        if others or first.events or not isinstance(first.to, int):
            break
        at = first.to
    return at


def _state(chain: Chain, at: int, names: Names) -> Iterator[str]:
    state = chain.states[at]
    drawn = dict.fromkeys(event for way in state.ways for event in way.events if isinstance(event, Draw))
    for draw in drawn:
        yield f"    {names.of(draw)} ~ {names.law(draw.law)}"
    for way in state.ways:
        yield f"    {_way(chain, way, names)}"


def _way(chain: Chain, way: Way, names: Names) -> str:
    conditions = [
        names.term(event.condition) if event.answer else f"not ({names.term(event.condition)})"
        for event in way.events
        if isinstance(event, Decision)
    ]
    emitted = [f"emit {names.term(event.term)}" for event in way.events if isinstance(event, Emitted)]
    condition = f"if {' and '.join(conditions)}: " if conditions else ""
    return condition + ", ".join([*emitted, _to(chain, way)])


def _to(chain: Chain, way: Way) -> str:
    match way.to:
        case ReturnNode(shape):
            return f"return {shape_text(shape)}"
        case RaiseNode(exception):
            return f"raise {exception}"
        case at:
            return f"go to ({_landing(chain, at)})"
