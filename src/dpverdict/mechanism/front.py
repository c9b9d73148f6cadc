"""The first front door: a Python function over a noise source, as a mechanism that can be looked into."""

from __future__ import annotations

import copy
import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, overload

import numpy as np

from dpverdict.errors import InputError, MechanismError, UntraceableError
from dpverdict.mechanism import watch
from dpverdict.mechanism.black_box import FunctionBox
from dpverdict.mechanism.constants import NOTHING, from_python
from dpverdict.mechanism.explored import Explored
from dpverdict.mechanism.graph import graph
from dpverdict.mechanism.noise import Noise, RealNoise
from dpverdict.mechanism.path_record import ConcreteInputNeeded, Limits, PathRecord, Untraceable
from dpverdict.mechanism.place import Place
from dpverdict.mechanism.replay import replay
from dpverdict.mechanism.structure import Epsilon, Node, Parameter, Program
from dpverdict.mechanism.symbol import Symbol
from dpverdict.mechanism.symbolic_input import form_of, symbolic_input, text_of
from dpverdict.mechanism.symbolic_noise import SymbolicNoise
from dpverdict.mechanism.tally import Outcomes
from dpverdict.mechanism.trace import Path, Session, not_repeatable, trace

EPSILON = Epsilon()

_REMEMBERED = 256
"""Programs kept per mechanism; tracing again gives the same program."""


@dataclass(frozen=True, slots=True)
class _Question:
    """What a program is asked for: an example of the input, arguments, and which of them stay symbolic."""

    input: Any
    arguments: Mapping[str, Any]
    symbolic: frozenset[str]
    concrete: bool


class Mechanism:
    """A function `(noise, input, …)`: called with a noise source it just runs; `program_for` looks into it."""

    def __init__(
        self, function: Callable[..., Any], *, epsilon: str | None = None, limits: Limits | None = None
    ) -> None:
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.limits = limits or Limits()
        self._signature = _checked_signature(function)
        names = list(self._signature.parameters)
        self.input_name = names[1]
        self.epsilon_name = _epsilon_name(names[2:], epsilon, self.name)
        self.parameter_names = tuple(name for name in names[2:] if name != self.epsilon_name)
        self.defaults: Mapping[str, Any] = MappingProxyType({})
        self.origin: Mechanism | None = None
        self._programs: OrderedDict[tuple[str, ...], Program | UntraceableError | ConcreteInputNeeded] = OrderedDict()
        functools.update_wrapper(self, function)

    def __call__(self, noise: Noise | np.random.Generator, *args: Any, **kwargs: Any) -> Any:
        """Run once with real noise."""
        source = RealNoise(noise) if isinstance(noise, np.random.Generator) else noise
        if self.defaults:
            placed = list(self._signature.parameters)[1 : 1 + len(args)]
            kwargs = {name: value for name, value in self.defaults.items() if name not in placed} | kwargs
        return self.function(source, *args, **kwargs)

    def with_arguments(self, given: Mapping[str, Any]) -> Mechanism:
        """The same mechanism with other defaults for some of its parameters, kept in `defaults`."""
        for name in given:
            if name not in self.parameter_names:
                raise _unknown_argument(self, name)
        changed = Mechanism(self.function, epsilon=self.epsilon_name, limits=self.limits)
        changed.defaults = MappingProxyType({**self.defaults, **given})
        changed.origin = self.origin or self  # other processes find it by name, and this one has none
        return changed

    def __repr__(self) -> str:
        return f"<mechanism {self.name}{self._signature}>"

    def arguments(self, given: Mapping[str, Any] | None, *, epsilon: Any = None) -> dict[str, Any]:
        """The keyword arguments of a run: what was given, defaults for the rest, and ε where it is not given."""
        arguments = dict(given or {})
        for name in arguments:
            if name not in (*self.parameter_names, self.epsilon_name):
                raise _unknown_argument(self, name)
        for name in self.parameter_names:
            default = self.defaults.get(name, self._signature.parameters[name].default)
            if name not in arguments and default is inspect.Parameter.empty:
                raise _missing_argument(self, name)
            arguments.setdefault(name, default)
        if self.epsilon_name is not None and self.epsilon_name not in arguments and epsilon is not None:
            arguments[self.epsilon_name] = epsilon
        return {name: arguments[name] for name in self._signature.parameters if name in arguments}

    def black_box(self, arguments: Mapping[str, Any] | None = None, *, epsilon: float | None = None) -> FunctionBox:
        """The mechanism as one that can only be run, a call for each run."""
        from dpverdict.mechanism.forms import black_box  # it knows mechanisms

        box = black_box(self if self.origin is None else self.origin)
        assert isinstance(box, FunctionBox)
        return box.with_arguments(self.arguments(arguments, epsilon=epsilon))

    def run(
        self, input: Any, runs: int, generator: np.random.Generator, arguments: Mapping[str, Any] | None = None
    ) -> Outcomes:
        """The outcomes of plain runs, a call for each; all noise comes from the generator."""
        return self.black_box(arguments).run(input, runs, generator)

    def program_for(
        self, input: Any, arguments: Mapping[str, Any] | None = None, *, symbolic: frozenset[str] = frozenset()
    ) -> Program:
        """The program for this input: one for all inputs of its form where that is possible, else for it alone.

        Parameters named in `symbolic` stay symbols.  Raises `UntraceableError` where there is no program.
        """
        known = self.arguments(arguments)
        if isinstance(self.function, Explored):
            self.function.check_input(input)
        form = form_of(input)
        arguments_text = text_of(dict(sorted(known.items())))
        key = None if arguments_text is None else (arguments_text, *sorted(symbolic))
        why = "the input holds something that is no number"
        if form is not None:
            found = self._remembered(key and (form, *key), _Question(input, known, symbolic, concrete=False))
            if isinstance(found, Program):
                return found
            if isinstance(found, UntraceableError):
                raise found
            why = f"{found.place or 'the function'} asks for {found.demand}"
        content = text_of(input)
        concrete_key = None if key is None or content is None else (content, "concrete", *key)
        found = self._remembered(concrete_key, _Question(input, known, symbolic, concrete=True), why)
        if isinstance(found, Program):
            return found
        assert isinstance(found, UntraceableError)
        raise found

    def why_not(self, input: Any, arguments: Mapping[str, Any] | None = None) -> UntraceableError | None:
        """Why there is no program for this input, or None if there is one."""
        try:
            self.program_for(input, arguments)
        except UntraceableError as error:
            return error
        return None

    def _remembered(
        self, key: tuple[str, ...] | None, question: _Question, why: str | None = None
    ) -> Program | UntraceableError | ConcreteInputNeeded:
        """The answer, kept under its key; None is the key of what may change unseen, and is asked anew."""
        with watch.ALONE:
            if key is None:
                return self._answer(question, why)
            if key not in self._programs:
                self._programs[key] = self._answer(question, why)
                if len(self._programs) > _REMEMBERED:
                    self._programs.popitem(last=False)
            self._programs.move_to_end(key)
            return self._programs[key]

    def _answer(self, question: _Question, why: str | None) -> Program | UntraceableError | ConcreteInputNeeded:
        session = Session(self.limits)
        try:
            root, paths = self._explored(question, session)
        except Untraceable as stop:
            return _untraceable(self.name, stop)
        except ConcreteInputNeeded as stop:
            return stop
        program = Program(
            root=root,
            name=self.name,
            arguments=copy.deepcopy(dict(question.arguments)),
            form=None if question.concrete else form_of(question.input),
            concrete=copy.deepcopy(question.input) if question.concrete else None,
            why_concrete=why if question.concrete else None,
            decimals=tuple(session.decimals),
            paths=paths,
        )
        if question.symbolic:
            return program
        difference = replay(self, program, question.input)
        return program if difference is None else _untraceable(self.name, difference)

    def _explored(self, question: _Question, session: Session) -> tuple[Node, int]:
        """The graph and its number of paths."""
        if isinstance(self.function, Explored):
            epsilon = from_python(question.arguments.get(self.epsilon_name or ""))
            known = EPSILON if epsilon is None or epsilon == NOTHING else epsilon
            return self.function.program(question.input, known, session, concrete=question.concrete)
        records = self._trace(question, session)
        return graph(records), len(records)

    def _trace(self, question: _Question, session: Session) -> list[PathRecord]:
        def call(path: Path) -> Any:
            return self._with_symbols(question, path)

        stop: Untraceable | ConcreteInputNeeded | None = None
        records: list[PathRecord] = []

        def attempt() -> None:
            nonlocal stop
            try:
                records.extend(trace(call, session))
            except (Untraceable, ConcreteInputNeeded) as error:
                stop = error

        if watch.uses_global_randomness(attempt):
            place = watch.line_of_global_randomness(lambda: self._quietly(question, session))
            raise Untraceable(
                "randomness that does not come from `noise`",
                "draw it from the `noise` argument, whose methods are named like numpy.random.Generator's",
                place,
            )
        if stop is not None:
            raise stop
        return records

    def _quietly(self, question: _Question, session: Session) -> None:
        try:
            self._with_symbols(question, Path(session, ()))
        except (Untraceable, ConcreteInputNeeded, Exception):  # noqa: BLE001 (only its use of generators matters)
            return

    def _with_symbols(self, question: _Question, path: Path) -> Any:
        keywords = copy.deepcopy(dict(question.arguments))
        for name in question.symbolic:
            keywords[name] = Symbol(path.known(Parameter(name)), path)
        if self.epsilon_name is not None and self.epsilon_name not in keywords:
            keywords[self.epsilon_name] = Symbol(EPSILON, path)
        content = copy.deepcopy(question.input) if question.concrete else symbolic_input(question.input, path)
        defaults = {name: keywords[name] for name in keywords if self._is_changeable_default(name, question)}
        before = {name: repr(default) for name, default in defaults.items()}
        try:
            return self.function(SymbolicNoise(path), content, **keywords)
        finally:
            if any(repr(default) != before[name] for name, default in defaults.items()):
                raise not_repeatable()

    def _is_changeable_default(self, name: str, question: _Question) -> bool:
        """Whether the parameter has its default, and that is an object that every run shares."""
        default = self.defaults.get(name, self._signature.parameters[name].default)
        return question.arguments.get(name) is default and isinstance(default, (list, dict, set, np.ndarray))


@overload
def mechanism(function: Callable[..., Any], /) -> Mechanism: ...
@overload
def mechanism(*, epsilon: str | None = None) -> Callable[[Callable[..., Any]], Mechanism]: ...
def mechanism(function: Callable[..., Any] | None = None, /, *, epsilon: str | None = None) -> Any:
    """Declare a function `(noise, input, …)` to be a mechanism.

    The parameter called `epsilon` (or `eps`, or the one named here) is the mechanism's privacy parameter ε; while
    the mechanism is looked into it is a symbol, known to be positive.
    """
    if function is None:
        return lambda inner: Mechanism(inner, epsilon=epsilon)
    return Mechanism(function, epsilon=epsilon)


def _checked_signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise MechanismError(
            "MECH-001",
            f"{function!r} cannot be called",
            why="a mechanism is a function of a noise source and an input",
            fix="def my_mechanism(noise, value, epsilon): ...",
        ) from None
    names = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    ]
    if len(names) < 2 or names[0] != "noise":
        raise MechanismError(
            "MECH-002",
            f"the function {getattr(function, '__name__', function)}{signature} does not take noise and an input",
            why="the first parameter of a mechanism is called `noise`, the second is its input",
            fix="def my_mechanism(noise, value, epsilon): ...",
        )
    return signature.replace(parameters=[signature.parameters[name] for name in names])


def _epsilon_name(names: list[str], wanted: str | None, mechanism_name: str) -> str | None:
    if wanted is not None and wanted not in names:
        raise MechanismError(
            "MECH-003",
            f"{mechanism_name} has no parameter called {wanted!r}",
            why=f"its parameters after the input are: {', '.join(names) or 'none'}",
            fix="name one of them: @mechanism(epsilon='…')",
        )
    return wanted if wanted is not None else next((name for name in ("epsilon", "eps") if name in names), None)


def _unknown_argument(mechanism: Mechanism, name: str) -> InputError:
    names = [*mechanism.parameter_names, *([mechanism.epsilon_name] if mechanism.epsilon_name else [])]
    return InputError(
        "INPUT-010",
        f"{mechanism.name} has no parameter called {name!r}",
        why=f"its parameters after the input are: {', '.join(names) or 'none'}",
        fix=f"one of: {', '.join(names)}" if names else "leave the argument out",
    )


def _missing_argument(mechanism: Mechanism, name: str) -> InputError:
    return InputError(
        "INPUT-011",
        f"{mechanism.name} needs a value for its parameter {name!r}",
        why="the parameter has no default",
        fix=f"--arg {name}=…, or arguments={{{name!r}: …}}",
    )


def _untraceable(name: str, stop: Untraceable) -> UntraceableError:
    place: Place | None = stop.place
    return UntraceableError(
        "MECH-100",
        f"{name} cannot be looked into: {stop.what}",
        why="this has no form in the program language, so the mechanism can only be run, as a black box",
        fix=stop.fix,
        excerpt=place.excerpt() if place else None,
        place=str(place) if place else None,
    )
