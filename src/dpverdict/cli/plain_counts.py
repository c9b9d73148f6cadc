"""Counts and bins as plain values, for records and other processes, and back."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpverdict.cli.outcomes import Edges, Ending, Outcome, Tally
from dpverdict.mechanism import structure
from dpverdict.mechanism.structure import Constant, RaiseNode, Record, ReturnNode, Shape, Slot


def plain_tally(tally: Tally) -> object:
    """The counts and bins as lists, numbers and texts."""
    numbers = {outcome: position for position, outcome in enumerate(tally.counts)}
    return {
        "outcomes": [
            (_plain_ending(o.ending), [_plain_constant(s) for s in o.slots], n) for o, n in tally.counts.items()
        ],
        "bins": [(numbers[outcome], list(bins.items())) for outcome, bins in tally.bins.items()],
        "others": tally.others,
    }


def tally_of(plain: Any) -> Tally:
    """What `plain_tally` wrote."""
    tally, listed_outcomes = Tally(others=plain["others"]), list[Outcome]()
    for ending, slots, count in plain["outcomes"]:
        outcome = Outcome(_ending_of(ending), tuple(map(_constant_of, slots)))
        listed_outcomes.append(outcome)
        tally.counts[outcome] = count
    tally.bins = {listed_outcomes[number]: dict(bins) for number, bins in plain["bins"]}
    return tally


def plain_edges(edges: Edges) -> object:
    """The edges as lists, numbers and texts."""
    return [
        (_plain_ending(ending), [(position, list(values)) for position, values in places.items()])
        for ending, places in edges.items()
    ]


def edges_of(plain: Any) -> Edges:
    """What `plain_edges` wrote."""
    return {_ending_of(ending): {at: tuple(values) for at, values in places} for ending, places in plain}


def _plain_ending(ending: Ending) -> object:
    return ending.exception if isinstance(ending, RaiseNode) else [_plain_shape(ending.shape)]


def _ending_of(plain: Any) -> Ending:
    return RaiseNode(plain) if isinstance(plain, str) else ReturnNode(_shape_from(plain[0]))


def _plain_shape(shape: Shape) -> object:
    match shape:
        case Slot():
            return None
        case structure.Sequence(container, items):
            return [container, None if items is None else [_plain_shape(item) for item in items]]
        case Record(keys, items):
            return [[_plain_constant(key) for key in keys], [_plain_shape(item) for item in items]]


def _shape_from(plain: Any) -> Shape:
    if plain is None:
        return Slot()
    head, items = plain
    inner = None if items is None else tuple(map(_shape_from, items))
    if isinstance(head, str):
        return structure.Sequence(head, inner)
    return Record(tuple(key for key in map(_constant_of, head) if key is not None), inner or ())


def _plain_constant(constant: Constant | None) -> object:
    if constant is None:
        return None
    content = constant.content
    return [constant.kind.value, str(content) if isinstance(content, Fraction) else content]


def _constant_of(plain: Any) -> Constant | None:
    if plain is None:
        return None
    kind, content = structure.Kind(plain[0]), plain[1]
    return Constant(kind, Fraction(content) if kind in (structure.Kind.INTEGER, structure.Kind.REAL) else content)
