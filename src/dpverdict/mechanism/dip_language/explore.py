"""From code to the chain of its states: every instruction is carried out on symbols, once for each state.

A state is a place in the code, the terms of the variables that are still read, how often each law was drawn, what was
decided about noise that is still in use, and how many output slots are settled.  States that agree in all of this have
the same future, and are one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import number
from dpverdict.mechanism.dip_language.chain import Chain, Emitted, State, Way
from dpverdict.mechanism.dip_language.code import Code, Goto
from dpverdict.mechanism.dip_language.running import Machine
from dpverdict.mechanism.facts import Facts
from dpverdict.mechanism.path_record import ConcreteInputNeeded, Decision, Untraceable
from dpverdict.mechanism.place import Place
from dpverdict.mechanism.properties import draws_in, is_random, kind_of
from dpverdict.mechanism.structure import (
    Constant,
    Draw,
    Kind,
    Law,
    RaiseNode,
    ReturnNode,
    Sequence,
    Slot,
    Term,
)
from dpverdict.mechanism.symbol import Symbol, wrap
from dpverdict.mechanism.symbolic_noise import SymbolicNoise
from dpverdict.mechanism.trace import Path, Session

_Store: TypeAlias = tuple[tuple[str, Term], ...]


@dataclass(frozen=True, slots=True)
class _Situation:
    """Where a run stands."""

    place: int
    store: _Store
    drawn: frozenset[tuple[Law, int]]
    decided: tuple[Decision, ...]
    emitted: int


_RAISED = (ValueError, ZeroDivisionError, OverflowError)


class Explorer:
    """Explores the code from one store on."""

    def __init__(self, code: Code, session: Session, epsilon: Term) -> None:
        self._code = code
        self._session = session
        self._epsilon = epsilon
        self._numbers: dict[_Situation, int] = {}
        self._waiting: list[_Situation] = []
        self._given: tuple[Decision, ...] = ()
        self._places: dict[int, Place] = {}
        self._facts: dict[tuple[Decision, ...], Facts] = {}

    def chain(self, inputs: dict[str, Term]) -> Chain:
        """The chain of all states that can be reached.  Raises `Untraceable` and `ConcreteInputNeeded`, located."""
        self._given = tuple(
            Decision(algebra.compare("<=", *pair), True)
            for term in inputs.values()
            if not isinstance(term, Constant) and kind_of(term) is Kind.INTEGER
            for pair in ((number(self._code.checked.low), term), (term, number(self._code.checked.high)))
        )
        self._number(_Situation(self._skipped(0), tuple(inputs.items()), frozenset(), (), 0))
        states: list[State] = []
        for situation in self._waiting:  # it grows meanwhile
            if len(self._waiting) > self._session.limits.paths:
                raise Untraceable(
                    f"more than {self._session.limits.paths:,} states",
                    "fewer variables that are still read, smaller ranges, or a loop with fewer rounds",
                    self._place(situation),
                )
            states.append(self._state(situation))
        return Chain(tuple(states))

    def _number(self, situation: _Situation) -> int:
        found = self._numbers.get(situation)
        if found is None:
            found = self._numbers[situation] = len(self._waiting)
            self._waiting.append(situation)
        return found

    def _skipped(self, place: int) -> int:
        """The next place where something happens; a loop of nothing but jumps stays where it is."""
        seen: set[int] = set()
        while isinstance(instruction := self._code.instructions[place], Goto) and place not in seen:
            seen.add(place)
            place = instruction.to
        return place

    def _place(self, situation: _Situation) -> Place:
        found = self._places.get(situation.place)
        if found is None:
            text, instruction = self._code.checked.text, self._code.instructions[situation.place]
            found = self._places[situation.place] = text.place(instruction.at)
        return found

    def _state(self, situation: _Situation) -> State:
        instruction = self._code.instructions[situation.place]
        waiting: list[tuple[bool, ...]] = [()]
        ways: list[Way] = []
        while waiting:
            path = self._path(situation, waiting.pop())
            try:
                ways.append(self._way(situation, path))
            except Untraceable as stop:
                raise Untraceable(stop.what, stop.fix, self._place(situation)) from None
            except ConcreteInputNeeded as stop:
                raise ConcreteInputNeeded(stop.demand, self._place(situation)) from None
            waiting.extend(path.waiting)
        return State(tuple(ways), instruction.looping, self._place(situation))

    def _path(self, situation: _Situation, prefix: tuple[bool, ...]) -> Path:
        facts = self._facts.get(situation.decided)
        if facts is None:
            facts = self._facts[situation.decided] = Facts()
            for decision in (*self._given, *situation.decided):
                facts.assume(decision.condition, decision.answer)
        return Path(self._session, prefix, facts.copy(), dict(situation.drawn))

    def _way(self, situation: _Situation, path: Path) -> Way:
        """Carry out the instruction on one path."""
        store = {name: wrap(term, path) for name, term in situation.store}
        try:
            after = self._machine(path).step(situation.place, store)
        except _RAISED as error:
            return Way(tuple(path.events), RaiseNode(type(error).__name__))
        terms = {name: path.settled(content) for name, content in store.items()}
        if isinstance(after, tuple):
            slots = [Emitted(terms[name]) for name in after[situation.emitted :]]
            return Way((*path.events, *slots), ReturnNode(Slot() if len(after) == 1 else Sequence("list", None)))
        after = self._skipped(after)
        slots = [Emitted(term) for term in self._final(situation, after, terms)]
        return Way((*path.events, *slots), self._number(self._reached(situation, after, terms, path, len(slots))))

    def _machine(self, path: Path) -> Machine:
        def lift(given: Any) -> Any:
            if type(given) is Symbol:
                return given
            constant = path.read(given)
            assert constant is not None
            return Symbol(constant, path)

        return Machine(self._code, SymbolicNoise(path), wrap(self._epsilon, path), lift)

    def _reached(self, before: _Situation, after: int, terms: dict[str, Term], path: Path, slots: int) -> _Situation:
        emitted = before.emitted + slots
        done = frozenset(self._code.returned[after][:emitted])
        kept = tuple((name, term) for name, term in terms.items() if self._code.needs(after, name, done))
        new = Counter(event.law for event in path.events if isinstance(event, Draw))
        drawn = before.drawn
        if new and not self._code.instructions[before.place].looping:
            drawn = frozenset((Counter(dict(drawn)) + new).items())
        decisions = (*before.decided, *(event for event in path.events if isinstance(event, Decision)))
        return _Situation(after, kept, drawn, _still_of_use(decisions, kept), emitted)

    def _final(self, before: _Situation, after: int, terms: dict[str, Term]) -> Iterator[Term]:
        """The slots that no way on can change: once they are emitted, states need not differ by them.

        A noisy boolean that is still read waits: if it is decided, its slot is known.
        """
        code = self._code
        for name in code.returned[after][before.emitted :]:
            term = terms.get(name)
            if term is None or not code.is_final(after, name):
                return
            if kind_of(term) is Kind.TRUTH and is_random(term) and code.is_read(after, name):
                return
            yield term


def _still_of_use(decisions: Iterable[Decision], store: _Store) -> tuple[Decision, ...]:
    """The decisions that can decide others: those about nothing but noise that is still in use."""
    in_use = frozenset[Draw]().union(*(draws_in(term) for _, term in store))
    return tuple(dict.fromkeys(decision for decision in decisions if draws_in(decision.condition) <= in_use))
