"""From a program's graph to the regions of its outputs.

Every path is followed with the facts that it has gathered.  Where a term cannot be told from them (a boolean that is
emitted, the position of a maximum, a draw with few values), the path forks into one for each answer, and the answer
becomes a fact.  Regions of one program are therefore disjoint and leave nothing out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias, assert_never

from dpverdict.errors import UnreadableError
from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import ZERO, number, truth
from dpverdict.mechanism.facts import Facts
from dpverdict.mechanism.laws import (
    Bernoulli,
    Exponential,
    ExponentialMechanism,
    FiniteChoice,
    Laplace,
)
from dpverdict.mechanism.properties import is_random, kind_of, support
from dpverdict.mechanism.rebuild import rebuild
from dpverdict.mechanism.structure import (
    Affine,
    All,
    Any_,
    ArgMax,
    BranchNode,
    Choose,
    Comparison,
    Constant,
    Draw,
    DrawNode,
    Elementary,
    EmitNode,
    Epsilon,
    Input,
    Kind,
    Law,
    Lookup,
    Node,
    Not,
    Parameter,
    Product,
    Program,
    RaiseNode,
    Ranked,
    ReturnNode,
    Slot,
    Term,
)
from dpverdict.reading.exact.regions import Choice, LinearComparison, Noise, Pattern, Region

MOST_REGIONS = 1 << 17

Ask: TypeAlias = Callable[[Term], bool]
"""Whether a boolean term holds; where the facts do not tell, the path forks and is asked again."""

Judge: TypeAlias = Callable[[ReturnNode | RaiseNode, tuple[Term, ...], Ask], bool]
"""Says yes or no to how a run ends and to its slots, of which those with few values are constants, and the others
linear in noise: what it asks decides, so that its answer has to follow from the slots and the answers alone."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """One way to go on: conditions that hold, and what was asked for with its answer."""

    conditions: tuple[Term, ...] = ()
    draw: tuple[Draw, int] | None = None
    selection: tuple[Term, int] | None = None


class Fork(Exception):
    """A term cannot be told from the facts: every answer is to be followed."""

    def __init__(self, answers: Sequence[_Answer]) -> None:
        super().__init__()
        self.answers = answers


def regions_of(program: Program, judge: Judge | None = None) -> dict[Pattern, tuple[Region, ...]]:
    """The regions of every output, or those of what a judge says to it.

    Without a judge it raises `UnreadableError` where an output is not one of finitely many values.
    """
    found: dict[Pattern, list[Region]] = {}
    waiting: list[tuple[Node, tuple[Term, ...], PathState]] = [(program.root, (), PathState.of((), {}))]
    count = 0
    while waiting:
        node, slots, state = waiting.pop()
        try:
            while not isinstance(node, ReturnNode | RaiseNode):
                node, slots = _step(node, slots, state, judge is not None)
            pattern = Pattern(node, slots if isinstance(node, ReturnNode) else ())
            if judge is not None:
                pattern = Pattern(_ANSWER, (truth(judge(node, slots, state.truth)),))
            region = state.region()
        except Fork as fork:
            options = [state.extended(answer) for answer in reversed(fork.answers)]
            waiting.extend((node, slots, option) for option in options if option is not None)
            continue
        found.setdefault(pattern, []).append(region)
        count += 1
        if count > MOST_REGIONS:
            raise _too_many(program)
    return {pattern: tuple(regions) for pattern, regions in found.items()}


_ANSWER = ReturnNode(Slot())


def _step(node: Node, slots: tuple[Term, ...], state: PathState, is_judged: bool) -> tuple[Node, tuple[Term, ...]]:
    match node:
        case DrawNode(_, then):
            return then, slots
        case BranchNode(condition, yes, no):
            return yes if state.truth(condition) else no, slots
        case EmitNode(term, then):
            return then, (*slots, state.judged(term) if is_judged else state.slot(term))
        case ReturnNode() | RaiseNode():
            return node, slots
        case _:
            assert_never(node)


@dataclass(frozen=True, slots=True)
class PathState:
    """What a path has settled so far."""

    facts: Facts
    conditions: tuple[Term, ...]
    draws: dict[Draw, int]
    selections: dict[Term, int]

    @classmethod
    def of(cls, conditions: tuple[Term, ...], draws: dict[Draw, int]) -> PathState:
        """A path on which these conditions hold and these draws have the values at these positions."""
        facts = Facts()
        for condition in conditions:
            facts.assume(condition, True)
        return cls(facts, conditions, draws, {})

    def extended(self, answer: _Answer) -> PathState | None:
        """The state with an answer more, None where it contradicts the facts."""
        facts, conditions = self.facts.copy(), list(self.conditions)
        for condition in answer.conditions:
            decided = facts.decide(condition)
            if decided is False:
                return None
            if decided is None:
                facts.assume(condition, True)
                conditions.append(condition)
        draws = self.draws | dict([answer.draw] if answer.draw else [])
        selections = self.selections | dict([answer.selection] if answer.selection else [])
        return PathState(facts, tuple(conditions), draws, selections)

    # --- terms ----------------------------------------------------------------------------------------------------

    def truth(self, term: Term) -> bool:
        """Whether a boolean term holds."""
        resolved = self.resolved(term)
        if isinstance(resolved, Constant):
            return bool(resolved.content)
        return self._decided(resolved)

    def _decided(self, condition: Term) -> bool:
        decided = self.facts.decide(condition)
        if decided is None:
            raise Fork([_Answer((condition,)), _Answer((algebra.negate(condition),))])
        return decided

    def slot(self, term: Term) -> Term:
        """The value of an emitted term, or of a law's parameter: a constant, or free of noise."""
        resolved = self.resolved(term)
        if kind_of(resolved) is Kind.TRUTH:
            return truth(self.truth(resolved))
        if not is_random(resolved):
            return resolved
        values = support(resolved)
        if values is None:
            raise _endless_output(resolved)
        for value in values:
            if self._equals(resolved, value):
                return value
        raise Fork([_Answer(_equal(resolved, value)) for value in values])

    def judged(self, term: Term) -> Term:
        """The value of a term that is emitted to a judge: it may be any number."""
        resolved = self.resolved(term)
        endless = is_random(resolved) and kind_of(resolved) is not Kind.TRUTH and support(resolved) is None
        return resolved if endless else self.slot(resolved)

    def _equals(self, term: Term, value: Constant) -> bool:
        return all(self.facts.decide(condition) for condition in _equal(term, value))

    def resolved(self, term: Term) -> Term:
        """The term as a linear combination of draws, or free of noise."""
        if not is_random(term):
            return term
        match term:
            case Draw():
                return self._drawn(term)
            case Comparison():
                return self._compared(rebuild(term, self.resolved))
            case Not(inner):
                return truth(not self.truth(inner))
            case All(inners):
                return truth(all(self.truth(inner) for inner in inners))
            case Any_(inners):
                return truth(any(self.truth(inner) for inner in inners))
            case Choose(condition, yes, no):
                return self.resolved(yes if self.truth(condition) else no)
            case ArgMax() | Ranked():
                return self._selected(rebuild(term, self.resolved))
            case Affine() | Product() | Elementary() | Lookup():
                return rebuild(term, self.resolved)
            case Constant() | Input() | Parameter() | Epsilon():
                return term
            case _:
                assert_never(term)

    def _drawn(self, draw: Draw) -> Term:
        if not isinstance(draw.law, Bernoulli | FiniteChoice | ExponentialMechanism):
            return draw
        values = draw.law.support()
        if draw in self.draws:
            return values[self.draws[draw]]
        raise Fork([_Answer(draw=(draw, position)) for position in range(len(values))])

    def _compared(self, term: Term) -> Term:
        if not isinstance(term, Comparison) or not is_random(term):
            return term
        if term.relation == "==":
            return self._equated(term)
        return truth(self._decided(term))

    def _equated(self, term: Comparison) -> Term:
        """Whole numbers may be equal; a comparison with real noise is an equality with probability 0."""
        if not all(kind_of(draw).is_integral for draw, _ in _noise_in(term.difference)):
            return truth(False)
        below = algebra.against_zero("<", term.difference)
        above = algebra.against_zero("<", algebra.scale(term.difference, Fraction(-1)))
        decided = [self.facts.decide(side) for side in (below, above)]
        if True in decided:
            return truth(False)
        if None not in decided:
            return truth(True)
        raise Fork([_Answer((below,)), _Answer(_equal(term.difference, ZERO)), _Answer((above,))])

    def _selected(self, term: Term) -> Term:
        """Which item is the largest, or has the rank: earlier ones win ties, so that one item is selected."""
        if not isinstance(term, ArgMax | Ranked) or not is_random(term):
            return term
        if term in self.selections:
            position = self.selections[term]
            return number(position) if isinstance(term, ArgMax) else term.items[position]
        raise Fork(_winners(term) if isinstance(term, ArgMax) else _of_rank(term))

    # --- the region -----------------------------------------------------------------------------------------------

    def region(self) -> Region:
        """What the path has settled, as data."""
        guards = [condition for condition in self.conditions if not is_random(condition)]
        comparisons = [self._comparison(condition) for condition in self.conditions if is_random(condition)]
        choices = [Choice(Noise(draw, self._law(draw)), position) for draw, position in self.draws.items()]
        return Region(tuple(guards), tuple(comparisons), tuple(choices))

    def _law(self, draw: Draw) -> Law:
        """The law with its parameters free of noise."""
        parameters = tuple(map(self.slot, draw.law.parameters))
        return draw.law.with_parameters(parameters)

    def _comparison(self, condition: Term) -> LinearComparison:
        assert isinstance(condition, Comparison)
        terms, offset = [], _without_noise(condition.difference)
        for draw, coefficient in _noise_in(condition.difference):
            noise = Noise(draw, self._law(draw))
            terms.append((noise, coefficient))
            offset = algebra.add(offset, algebra.scale(location_of(noise.law), coefficient))
        return LinearComparison(tuple(terms), offset, condition.relation == "<")


def _winners(term: ArgMax) -> list[_Answer]:
    answers = []
    for winner, best in enumerate(term.items):
        conditions = [
            algebra.compare("<" if place < winner else "<=", item, best)
            for place, item in enumerate(term.items)
            if place != winner
        ]
        answers.append(_Answer(tuple(conditions), selection=(term, winner)))
    return answers


def _of_rank(term: Ranked) -> list[_Answer]:
    """The item with the rank, and which items are below it (ties count as below where they stand earlier)."""
    answers = []
    for chosen, pivot in enumerate(term.items):
        others = [place for place in range(len(term.items)) if place != chosen]
        for below in combinations(others, term.rank):
            conditions = [
                algebra.compare("<=" if place < chosen else "<", term.items[place], pivot)
                if place in below
                else algebra.compare("<" if place < chosen else "<=", pivot, term.items[place])
                for place in others
            ]
            answers.append(_Answer(tuple(conditions), selection=(term, chosen)))
    return answers


def _equal(left: Term, right: Constant) -> tuple[Term, Term]:
    return algebra.compare("<=", left, right), algebra.compare("<=", right, left)


def _noise_in(difference: Term) -> list[tuple[Draw, Fraction]]:
    _, terms = algebra.parts_of(difference)
    noisy = [(term, coefficient) for term, coefficient in terms.items() if is_random(term)]
    found = [(term, coefficient) for term, coefficient in noisy if isinstance(term, Draw)]
    if len(found) < len(noisy):
        raise UnreadableError(
            "EXACT-001",
            "a comparison in which noise is multiplied by ε, by an input or by a parameter",
            why="exact probabilities are known for comparisons with rational coefficients",
            fix="divide the comparison by that factor, or scale the noise instead",
        )
    return found


def _without_noise(difference: Term) -> Term:
    constant, terms = algebra.parts_of(difference)
    return algebra.affine(constant, {term: c for term, c in terms.items() if not is_random(term)})


def location_of(law: Law) -> Term:
    """What the offset of a comparison takes up: the location of real noise, nothing of other laws."""
    return law.location if isinstance(law, Laplace | Exponential) else ZERO


def _endless_output(term: Term) -> UnreadableError:
    is_whole = kind_of(term).is_integral
    return UnreadableError(
        "EXACT-002",
        f"an output that may be any {'whole' if is_whole else 'real'} number",
        why="exact probabilities are listed output by output, so that there have to be finitely many",
        fix="dpverdict.discretise(value, edges), or compare the value with thresholds",
    )


def _too_many(program: Program) -> UnreadableError:
    return UnreadableError(
        "EXACT-003",
        f"{program.name} has more than {MOST_REGIONS:,} cases",
        why="every case is integrated by itself",
        fix="a shorter input, fewer edges, or fewer values to choose among",
    )
