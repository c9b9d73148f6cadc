"""Tracing: run a function with symbols until every path through it is known.

Where Python demands a decision, the path answers it: from the decisions that it was given (a prefix), from the
facts so far, or, if both answers are possible, with "yes", leaving "no" to another execution.  Prefixes are worked
off shortest first, so that a path explosion shows early: each waiting prefix is at least one more path.
"""

from __future__ import annotations

import contextlib
import dis
import inspect
import io
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from dpverdict.mechanism import algebra
from dpverdict.mechanism.constants import exact, from_python, to_python, truth
from dpverdict.mechanism.facts import Facts, decided_without_facts
from dpverdict.mechanism.path_record import (
    ConcreteInputNeeded,
    Decision,
    Limits,
    PathRecord,
    RaisedOnPath,
    Returned,
    StopTracing,
    Untraceable,
)
from dpverdict.mechanism.place import Place, is_users, place_of_error, user_place
from dpverdict.mechanism.properties import inputs_in, is_random, kind_of, support
from dpverdict.mechanism.structure import (
    Affine,
    Constant,
    Draw,
    Kind,
    Law,
    Not,
    Record,
    Sequence,
    Shape,
    Slot,
    Term,
)
from dpverdict.mechanism.symbol import Symbol, lower
from dpverdict.mechanism.watch import OutOfTime, Watcher


@dataclass(slots=True)
class Session:
    """What the paths of one tracing share."""

    limits: Limits
    terms: dict[Term, Term] = field(default_factory=dict)
    decimals: dict[str, None] = field(default_factory=dict)
    crowded: bool = False
    """Whether there are so many paths that it is worth noting which lines decide."""
    deciding_lines: Counter[tuple[str, int]] = field(default_factory=Counter)

    def note_decimal(self, given: float, read: Fraction) -> None:
        """Remember a float that is not the decimal that it is read as."""
        if Fraction(given) != read:
            self.decimals[repr(given)] = None


@lru_cache(1 << 14)
def _draw(law: Law, occurrence: int) -> Draw:
    """One object for equal draws, so that comparing terms is quick."""
    return Draw(law, occurrence)


class NumpySide:
    """A path as the items of arrays see it; `is_taken` if it may also be Python's side."""

    is_numpy = True

    def __init__(self, path: Path, *, is_taken: bool = False) -> None:
        self.python = path
        self.is_taken = is_taken
        self.decide, self.concrete, self.stop = path.decide, path.concrete, path.stop
        self.read, self.known, self.without_decided = path.read, path.known, path.without_decided

    @property
    def numpy(self) -> NumpySide:
        """The side where numpy's rules hold: this one."""
        return self

    @property
    def taken(self) -> NumpySide:
        """The side of what numpy takes: this one."""
        return self


class Path:
    """One execution: it answers for the symbols and records what happens."""

    is_numpy = is_taken = False

    def __init__(
        self,
        session: Session,
        prefix: tuple[bool, ...],
        facts: Facts | None = None,
        drawn: Mapping[Law, int] | None = None,
    ) -> None:
        """A path with these answers; `facts` and `drawn` are what went before, where it starts in the middle."""
        self.numpy = NumpySide(self)
        self.taken = NumpySide(self, is_taken=True)
        self._session = session
        self._prefix = prefix
        self._facts = facts or Facts()
        self._occurrences: Counter[Law] = Counter(drawn or {})
        self._decided = 0
        self._drawn = 0
        self.events: list[Draw | Decision] = []
        self.waiting: list[tuple[bool, ...]] = []
        self.stopped: StopTracing | None = None
        self.over = False

    @property
    def python(self) -> Path:
        """The side where Python's rules hold: the path itself."""
        return self

    # What symbols ask (symbol.Tracing).
    def decide(self, condition: Term) -> bool:
        """Answer a condition, now and for the rest of the path."""
        always = decided_without_facts(condition)
        if always is not None:
            return always
        condition = self._facts.simplify(condition)
        if isinstance(condition, Constant):
            return bool(condition.content)
        if isinstance(condition, Not):
            return not self.decide(condition.term)
        if self.over:  # a symbol outlived its run, in a global or a cache
            self._leave(not_repeatable())
        answer = self._prefix[self._decided] if self._decided < len(self._prefix) else True
        if self._decided >= len(self._prefix):
            self.waiting.append((*(e.answer for e in self.events if isinstance(e, Decision)), False))
        if self._decided >= self._session.limits.decisions:
            self.stop(
                f"more than {self._decided} decisions on one path",
                "bound the loop: a loop whose end depends on noise alone has infinitely many paths",
            )
        if self._session.crowded:
            self._session.deciding_lines[_line()] += 1
        self._decided += 1
        self.events.append(Decision(self.known(condition), answer))
        self._facts.assume(condition, answer)
        return answer

    def concrete(self, term: Term, demand: str) -> Any:
        """A concrete value: known inputs settle it, or a finite term is decided value by value."""
        term = self._facts.simplify(term)
        if isinstance(term, Constant):
            return to_python(term)
        if not is_random(term) and inputs_in(term):
            self._leave(ConcreteInputNeeded(demand, user_place()))
        values = support(term)
        if values is None:
            self.stop(f"{demand} of a symbolic value", _what_to_do_about(demand, term))
        *others, last = values
        for value in others:
            if self.decide(self._equals(term, value)):
                return to_python(value)
        return to_python(last)

    def _equals(self, term: Term, value: Constant) -> Term:
        if kind_of(term) is Kind.TRUTH:
            return term if value.content else algebra.negate(term)
        if kind_of(term).is_numeric:
            return algebra.compare("==", term, value)
        return algebra.lookup((term,), lambda key: truth(key == value))

    def stop(self, what: str, fix: str) -> NoReturn:
        """Give up tracing at the line that is running."""
        self._leave(Untraceable(what, fix, user_place()))

    def _leave(self, stop: StopTracing) -> NoReturn:
        self.stopped = self.stopped or stop
        raise stop

    def read(self, content: object) -> Constant | None:
        """A Python scalar as a constant; floats that are no binary fractions of their decimals are noted."""
        constant = from_python(content)
        if constant is not None and isinstance(content, float) and constant.kind.is_numeric:
            self._session.note_decimal(float(content), exact(constant))
        return constant

    def known(self, term: Term) -> Term:
        """One object for equal terms."""
        return self._session.terms.setdefault(term, term)

    def without_decided(self, count: Affine) -> Term:
        """A sum with the booleans that the path has decided counted into its constant."""
        return self._facts.without_decided(count)

    def settled(self, content: object) -> Term:
        """The term of a symbol or scalar, with what the path has decided replaced by its answers."""
        term = lower(content, self)
        assert term is not None
        return self.known(self._facts.simplify(term))

    # What the symbolic noise asks.
    def draw(self, law: Law) -> Symbol:
        """Fresh noise: identified by its law and by how many equal draws the path has seen."""
        if self._drawn >= self._session.limits.draws:
            self.stop(f"more than {self._drawn} draws on one path", "draw less noise, or bound the loop that draws it")
        simpler = tuple(self._facts.simplify(term) for term in law.parameters)
        if any(new is not old for new, old in zip(simpler, law.parameters, strict=True)):
            law = law.with_parameters(simpler)
        self._drawn += 1
        self._occurrences[law] += 1
        draw = _draw(law, self._occurrences[law])
        self.events.append(draw)
        return Symbol(draw, self)

    # The end of the path.
    def returned(self, result: Any) -> Returned:
        """The output as slots in a shape."""
        slots: list[Term] = []
        shape = self._shape_of(result, slots)
        if isinstance(shape, Sequence) and all(isinstance(item, Slot) for item in shape.items or ()):
            shape = Sequence(shape.container, None)  # flat outputs of all lengths have one shape
        return Returned(shape, tuple(self.known(self._facts.simplify(slot)) for slot in slots))

    def _shape_of(self, result: Any, slots: list[Term]) -> Shape:
        term = lower(result, self)
        if term is not None:
            slots.append(term)
            return Slot()
        if isinstance(result, dict):
            keys = [from_python(key) for key in result]
            if None not in keys:
                items = tuple(self._shape_of(item, slots) for item in result.values())
                return Record(tuple(key for key in keys if key is not None), items)
        if isinstance(result, (list, tuple, np.ndarray)):
            container = next(name for name, kind in _CONTAINERS.items() if isinstance(result, kind))
            items = tuple(self._shape_of(item, slots) for item in result)
            return Sequence(container, items)
        if inspect.iscoroutine(result):
            result.close()  # or Python warns that nobody awaited it
        self.stop(
            f"an output of type {type(result).__name__}",
            "return numbers, booleans, text, None, or lists, tuples and dictionaries of them",
        )


_CONTAINERS: dict[str, type] = {"tuple": tuple, "list": list, "array": np.ndarray}


def _line() -> tuple[str, int]:
    place = user_place(quick=True)
    return (place.file, place.line) if place else ("", 0)


def _what_to_do_about(demand: str, term: Term) -> str:
    place = user_place()
    if place and (name := place.called("math")):
        return f"dpverdict.{name} (or numpy.{name}), which works on symbols as on numbers"
    if "hash" in demand:
        return "use keys that do not depend on continuous noise, or compare the value with thresholds first"
    if is_random(term):
        return "compare the value with thresholds, or use discretise() to make it finite"
    return "leave ε symbolic: +, -, *, /, **, dpverdict.exp, log and sqrt work on it"


def trace(call: Callable[[Path], Any], session: Session) -> list[PathRecord]:
    """Every path of a function, which is called with the path that it is on."""
    try:
        with Watcher(session.limits.seconds, session.limits.path_seconds).running() as watcher:
            return _all_paths(call, session, watcher)
    except OutOfTime as error:
        raise out_of_time(error) from None


def _all_paths(call: Callable[[Path], Any], session: Session, watcher: Watcher) -> list[PathRecord]:
    found: list[PathRecord] = []
    waiting: deque[tuple[bool, ...]] = deque([()])
    while waiting:
        path = Path(session, waiting.popleft())
        with watcher.one_path():
            found.append(_follow(call, path))
        waiting.extend(path.waiting)
        session.crowded = len(found) + len(waiting) > session.limits.paths // 2
        if len(found) + len(waiting) > session.limits.paths:
            raise _explosion(session)
    for record in (found[0], found[-1]):
        with watcher.one_path():
            if _follow(call, Path(session, record.answers)) != record:
                raise not_repeatable()
    return found


def _follow(call: Callable[[Path], Any], path: Path) -> PathRecord:
    """Execute once along a path; whatever the function prints meanwhile is dropped."""
    ending: Returned | RaisedOnPath
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            result = call(path)
        ending = path.returned(result) if path.stopped is None else RaisedOnPath("")
    except RecursionError as error:
        fix = "bound the recursion by an argument or the input's length, not by noise"
        raise Untraceable("recursion without an end", fix, place_of_error(error)) from None
    except Exception as error:  # noqa: BLE001 (any exception is an outcome)
        ending = RaisedOnPath(_exception_name(error))
    except (StopTracing, OutOfTime, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 (KeyboardInterrupt passes above)
        raise Untraceable("it leaves the interpreter", "raise an exception instead", place_of_error(error)) from None
    finally:
        path.over = True
    if path.stopped is not None:  # a bare `except:` in the function swallowed it
        raise path.stopped
    return PathRecord(tuple(path.events), ending)


def _exception_name(error: Exception) -> str:
    """The outcome that an exception is; one that only symbols cause is none.

    A TypeError or AttributeError that no `raise` statement of the user made may come from a library that cannot work
    with symbols, where a real run would go on; so may anything that comes from inside numpy.
    """
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    assert step is not None
    frame = step.tb_frame
    raised = dis.opname[frame.f_code.co_code[step.tb_lasti]] == "RAISE_VARARGS"
    in_numpy = (frame.f_globals.get("__name__") or "").split(".")[0] == "numpy"
    of_types = isinstance(error, (TypeError, AttributeError)) and not (raised and is_users(frame))
    of_indices = isinstance(error, IndexError) and "arrays used as indices" in str(error)
    if in_numpy or of_types or of_indices:
        raise Untraceable(
            f"{type(error).__name__}: {error}",
            "keep symbolic values away from code that inspects types; use arithmetic and comparisons",
            place_of_error(error),
        ) from None
    return type(error).__name__


def _explosion(session: Session) -> Untraceable:
    (file, line), decisions = session.deciding_lines.most_common(1)[0]
    return Untraceable(
        f"more than {session.limits.paths:,} paths; this line alone decided {decisions:,} times so far",
        "append or add the symbolic boolean instead of branching on it, use np.max, np.argmax, np.sort or "
        "dpverdict.choose, or shorten the input",
        Place(file, line),
    )


def out_of_time(error: OutOfTime) -> Untraceable:
    """The function ran for too long."""
    return Untraceable(
        "it does not come to an end in the time that tracing has",
        "bound every loop by an argument or by the input's length, not by noise or forever",
        place_of_error(error),
    )


def not_repeatable() -> Untraceable:
    """Two executions with the same noise differed."""
    return Untraceable(
        "two executions with the same noise went different ways",
        "take all randomness from `noise`, and keep no state between calls (globals, caches, clocks, own generators)",
        None,
    )
