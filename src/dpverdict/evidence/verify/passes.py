"""A second way to what a chain of states ends in at one ε: the linear system in ball arithmetic.

It shares the graph of states and regions with the exact reading, and neither its probabilities nor its elimination.
"""

from __future__ import annotations

from flint import arb, arb_mat, ctx

from dpverdict.evidence.verify.quadrature import BITS, NoAnswer, Point, probability_of
from dpverdict.mechanism.outcome import Outcome, key
from dpverdict.reading.exact.exact_chain import NEVER_RETURNS, ExactChain
from dpverdict.reading.exact.exact_program import output_of
from dpverdict.reading.exact.regions import Pattern

MOST_STATES = 150
"""Larger systems are not solved a second time: it takes the cube of their size."""


def probability_at(exact: ExactChain, output: Outcome, point: Point) -> arb:
    """A ball around the probability of an output.  Raises `NoAnswer`."""
    with ctx.workprec(BITS):
        if key(output) == key(NEVER_RETURNS):
            return 1 - sum(_of_patterns(exact, None, point), arb(0))
        return sum(_of_patterns(exact, output, point), arb(0))


def _of_patterns(exact: ExactChain, output: Outcome | None, point: Point) -> list[arb]:
    """The ends that are this output (None: that are any)."""
    steps = _steps(exact, point)
    known = sorted(_returning(steps))
    if len(known) > MOST_STATES:
        raise NoAnswer
    if 0 not in known:
        return []
    system = arb_mat(len(known), len(known), [int(row == column) for row in known for column in known])
    number = {at: place for place, at in enumerate(known)}
    for at in known:
        for to, chance in steps[at]:
            if isinstance(to, int) and to in number:
                system[number[to], number[at]] = system[number[to], number[at]] - chance
    try:
        passes = system.solve(arb_mat(len(known), 1, [int(at == 0) for at in known]))
    except ZeroDivisionError:
        raise NoAnswer from None
    return [
        passes[number[at], 0] * chance
        for at in known
        for to, chance in steps[at]
        if isinstance(to, Pattern) and (output is None or key(output_of(to, point.given, {})) == key(output))
    ]


def _steps(exact: ExactChain, point: Point) -> list[list[tuple[int | Pattern, arb]]]:
    chances = [probability_of([region], point) for region in exact.graph.regions]
    return [
        [(edge.to, chances[edge.region]) for edge in node.edges if chances[edge.region] != 0]
        for node in exact.graph.nodes
    ]


def _returning(steps: list[list[tuple[int | Pattern, arb]]]) -> set[int]:
    """The states from which an output can be reached: among the others, runs stay for ever."""
    found: set[int] = set()
    while new := {
        at
        for at, row in enumerate(steps)
        if at not in found and any(not isinstance(to, int) or to in found for to, _ in row)
    }:
        found |= new
    return found
