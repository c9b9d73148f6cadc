"""The exact reading of a chain of states: programs with loops whose end depends on noise alone.

Never returning is an output, the exception `DoesNotReturn`: without it the claim would be weaker.

A state that has a way out of its loop need not have one at each ε: its probability may be 0 there.  So in each cycle,
from each state an end of the cycle has to be reached over steps whose probabilities are positive on the whole range of
ε, which `sign.positive` shows.  Then the linear system has one solution at each ε, and the denominators of its entries
(divisors of its determinant and of the steps' denominators) have no zero there.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias

from dpverdict.errors import InputError, UnreadableError
from dpverdict.mechanism.constants import FALSE
from dpverdict.mechanism.dip_language.chain import DOES_NOT_RETURN, Chain
from dpverdict.mechanism.outcome import Outcome, Raised, key
from dpverdict.mechanism.structure import Constant, ReturnNode, Slot
from dpverdict.mechanism.symbolic_input import text_of
from dpverdict.reading.exact.absorbing import components, ends, leading_to
from dpverdict.reading.exact.chain_graph import Graph, graph_of, located
from dpverdict.reading.exact.components import Memo, plus, times
from dpverdict.reading.exact.epsilon_ranges import ALL, EpsilonRange, check_alike, ranges_of
from dpverdict.reading.exact.epsilon_ranges import holds as holds_at
from dpverdict.reading.exact.exact_program import Distribution, OutputProbability, output_of
from dpverdict.reading.exact.exponential import ONE, Exponential, Quotient
from dpverdict.reading.exact.numbers import Unit, has_epsilon
from dpverdict.reading.exact.rational_functions import CERTAIN, NOTHING, RationalFunction
from dpverdict.reading.exact.regions import Pattern, Region
from dpverdict.reading.exact.sign import positive
from dpverdict.reading.exact.sign_forms import Interval
from dpverdict.reading.exact.weights import Solver, prepared, unit_of

NEVER_RETURNS = Raised(DOES_NOT_RETURN)
"""The output of runs that never return."""

_ALL = Pattern(ReturnNode(Slot()), ())
"""Stands for every region of the graph, where regions are sorted by patterns."""


@dataclass(frozen=True, slots=True)
class _End:
    """An output, told from others by its key."""

    name: Hashable
    output: Outcome = field(compare=False)


_NEVER = _End(key(NEVER_RETURNS), NEVER_RETURNS)

_Steps: TypeAlias = list[list[tuple[int | _End, Quotient]]]


@dataclass(frozen=True, slots=True, eq=False)
class ExactChain:
    """A chain on one input, with all that its runs can come to.

    `graph` is public data of this reading, as the regions of an `ExactProgram` are.
    """

    name: str
    input: Any
    graph: Graph
    _solver: Solver = field(repr=False)

    @classmethod
    def of(cls, chain: Chain, name: str, input: Any) -> ExactChain:
        """Raises `UnreadableError`, located, where the chain has no exact reading."""
        graph = graph_of(chain, name)
        return cls(name, input, graph, prepared({_ALL: graph.regions}, {}))

    def unit(self, input: Any, memo: Memo | None = None) -> Unit:
        """What the probabilities are functions of."""
        self._check(input)
        return unit_of(self._solver.scales, input, {}, self.name)

    def ranges(self, input: Any) -> tuple[EpsilonRange, ...]:
        """The ranges of ε on which the chain behaves alike: (0, ∞), unless it has conditions on ε."""
        self._check(input)
        return ranges_of(guard for guard in self._solver.guards if has_epsilon(guard))

    def probability(
        self, output: Outcome, input: Any, within: EpsilonRange | None = None, memo: Memo | None = None
    ) -> Quotient:
        """The probability of one output (0 if the chain does not have it)."""
        wanted = key(output)
        found = (one.probability for one in self.distribution(input, within, memo).outputs if key(one.output) == wanted)
        return next(found, Quotient(Exponential.zero()))

    def distribution(self, input: Any, within: EpsilonRange | None = None, memo: Memo | None = None) -> Distribution:
        """Every output with its probability, `NEVER_RETURNS` too; they sum to 1, which is checked."""
        within, memo = ALL if within is None else within, {} if memo is None else memo
        check_alike(self.name, self.ranges(input), within)
        at = (self, within)
        if at not in memo:
            memo[at] = self._distribution(within, self.unit(input), memo)
        found: Distribution = memo[at]
        return found

    def may_not_return(self, memo: Memo) -> bool:
        """Whether some distribution that was found with this memo has runs that never return."""
        laws: list[Distribution] = [memo[self, one] for one in self.ranges(self.input) if (self, one) in memo]
        return any(one.output == NEVER_RETURNS for law in laws for one in law.outputs)

    def _distribution(self, within: EpsilonRange, unit: Unit, memo: Memo) -> Distribution:
        solved = _Solving(self, (within, unit), memo).ends()
        listed = sorted(solved.items(), key=lambda item: item[0] == _NEVER)
        return Distribution(tuple(OutputProbability(end.output, one) for end, one in listed), unit, within)

    def _check(self, input: Any) -> None:
        if text_of(input) != text_of(self.input):
            raise InputError(
                "INPUT-030",
                f"{self.name} was looked into for another input than {input!r}",
                why=f"its chain of states is about {self.input!r}",
                fix="look into the mechanism again: one chain for each input",
            )


@dataclass(frozen=True, slots=True)
class _Solving:
    """A chain for the ε of a range."""

    exact: ExactChain
    about: tuple[EpsilonRange, Unit]
    memo: Memo

    def ends(self) -> Mapping[_End, Quotient]:
        """The probability of each output, and of `_NEVER`."""
        steps = self._steps()
        for component in components([[to for to in row if isinstance(to, int)] for row in _targets(steps)]):
            self._check_leaving(set(component), steps)
        scale = lcm(1, *(part.scale for row in steps for _, one in row for part in (one.numerator, one.denominator)))
        ways = [[(to, RationalFunction.of(weight, scale)) for to, weight in row] for row in steps]
        found = ends(ways)
        if found.get(_NEVER) == NOTHING:
            del found[_NEVER]
        if sum(found.values(), NOTHING) != CERTAIN:
            raise AssertionError(f"the probabilities of the outputs of {self.exact.name} do not sum to 1")
        within, unit = self.about
        solved = {end: one.quotient(scale, unit.at(within.sample)) for end, one in found.items()}
        for one in solved.values():
            self._check_denominator(one)
        return solved

    # --- steps ----------------------------------------------------------------------------------------------------

    def _steps(self) -> _Steps:
        """The steps that can happen; one into a state from which no end can be reached leads to `_NEVER` at once."""
        steps = self._reached()
        ending = [at for at, row in enumerate(_targets(steps)) if any(not isinstance(to, int) for to in row)]
        returning = leading_to([[to for to in row if isinstance(to, int)] for row in _targets(steps)], ending)
        found: _Steps = []
        for at, row in enumerate(steps):
            if at in returning:
                found.append([self._step(to, weight, returning) for to, weight in row])
            else:
                found.append([(_NEVER, self._known(at))] if at == 0 else [])
        return found

    def _reached(self) -> _Steps:
        """The steps out of each node that runs come to; what the range rules out need not even be defined."""
        found: _Steps = [[] for _ in self.exact.graph.nodes]
        seen, waiting = {0}, [0]
        while waiting:
            at = waiting.pop()
            found[at] = self._of_node(at)
            new = {to for to, _ in found[at] if isinstance(to, int)} - seen
            seen |= new
            waiting.extend(new)
        return found

    def _step(self, to: int | _End, weight: Quotient, returning: set[int]) -> tuple[int | _End, Quotient]:
        if isinstance(to, int) and to not in returning:
            return _NEVER, times(weight, self._known(to))
        return to, weight

    def _known(self, at: int) -> Quotient:
        """The probability of what is known at a node and was not taken up by an edge."""
        total = Quotient(Exponential.zero())
        for region in self.exact.graph.nodes[at].known:
            total = plus(total, self._probability(region))
        return total

    def _of_node(self, at: int) -> list[tuple[int | _End, Quotient]]:
        node = self.exact.graph.nodes[at]
        found: dict[int | _End, Quotient] = {}
        try:
            for edge in node.edges:
                weight = self._probability(edge.region)
                if not weight.numerator.is_zero:
                    to = edge.to if isinstance(edge.to, int) else self._end(edge.to)
                    found[to] = plus(found[to], weight) if to in found else weight
        except UnreadableError as error:
            raise located(error, node.place) from None
        return list(found.items())

    def _end(self, pattern: Pattern) -> _End:
        output = output_of(pattern, self.exact.input, {})
        return _End(key(output), output)

    def _probability(self, region: int) -> Quotient:
        if not self._allowed(self.exact.graph.regions[region]):
            return Quotient(Exponential.zero())
        at = (self.exact, self.about, region)
        if at not in self.memo:
            self.memo[at] = self.exact._solver.probability((_ALL, region), self.exact.input, self.about[1], self.memo)
        found: Quotient = self.memo[at]
        return found

    def _allowed(self, region: Region) -> bool:
        within, _ = self.about
        return all(
            guard != FALSE if isinstance(guard, Constant) else holds_at(guard, within.sample) for guard in region.guards
        )

    # --- signs ----------------------------------------------------------------------------------------------------

    def _check_leaving(self, component: set[int], steps: _Steps) -> None:
        """From each state of a cycle its end is reached over steps that are positive for all ε."""
        inner = {at: [to for to, _ in steps[at] if to in component] for at in component}
        if not any(inner.values()):
            return
        sure = {at: [to for to, weight in steps[at] if self._is_positive(weight.numerator)] for at in component}
        order = sorted(component)
        places = {at: number for number, at in enumerate(order)}
        leaving = [places[at] for at in order if any(to not in component for to in sure[at])]
        reached = leading_to([[places[to] for to in sure[at] if to in component] for at in order], leaving)
        stuck = next((at for at in order if places[at] not in reached), None)
        if stuck is not None:
            raise located(_stuck(self.about[0]), self.exact.graph.nodes[stuck].place)

    def _is_positive(self, function: Exponential) -> bool:
        at = (function, self.about)
        if at not in self.memo:
            self.memo[at] = all(positive(function, interval) is True for interval in _intervals(*self.about))
        found: bool = self.memo[at]
        return found

    def _check_denominator(self, probability: Quotient) -> None:
        below = probability.denominator
        # `Quotient.cancelled` looks at ε = 1 for the sign of what is free of ε.
        everywhere = len(below.parts) > 1 or positive(below) is True
        if below != ONE and not (everywhere and self._is_positive(below)):
            raise _stuck(self.about[0])


def _targets(steps: _Steps) -> Sequence[Sequence[int | _End]]:
    return [[to for to, _ in row] for row in steps]


def _intervals(within: EpsilonRange, unit: Unit) -> list[Interval]:
    """The range as one of the unit; closed ends are points of their own."""
    if unit.exponent == 0 or within.low == within.high:
        return [Interval.point(unit.at(within.sample))]
    found = [Interval.point(unit.at(within.low))] if within.low_closed and within.low > 0 else []
    if within.high is not None and within.high_closed:
        found.append(Interval.point(unit.at(within.high)))
    if unit.exponent == 1:
        return [Interval(within.low, within.high), *found]
    low = Fraction(0) if within.high is None else 1 / within.high
    return [Interval(low, 1 / within.low if within.low else None), *found]


def _stuck(within: EpsilonRange) -> UnreadableError:
    return UnreadableError(
        "EXACT-031",
        f"a loop that may not be left for some ε in {within}",
        why="what is never left at one ε has no probabilities there that are quotients of exponential polynomials",
        fix="probabilities of leaving that are positive for all ε: choose { true : 1/(Exp[eps]+1) , false : … }",
    )
