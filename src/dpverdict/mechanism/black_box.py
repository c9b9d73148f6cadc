"""Mechanisms that we can only run, and the Python functions among them.

A batch of runs depends on the input, the number of runs and the batch's generator: the function's own generator is
that one, the global generators are seeded from it, and every batch starts in the same surroundings.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import repeat, starmap
from typing import Any

import numpy as np

from dpverdict.errors import InputError, RunError, TargetError, said_by
from dpverdict.mechanism import batch_result, surroundings
from dpverdict.mechanism.calling import Calling, Declared, Form, bind, calling_of, name_of, shown, where
from dpverdict.mechanism.failures import excerpt_of, last_place, lines_of
from dpverdict.mechanism.fresh_copies import Maker, copier
from dpverdict.mechanism.observe import Observer, observer_from
from dpverdict.mechanism.outcome import PLAIN, Outcome, Raised, freeze, repr_of
from dpverdict.mechanism.source import Source
from dpverdict.mechanism.tally import Outcomes, all_raised

_CAUGHT = (Exception, SystemExit)
"""What ends a run as an outcome; an interrupt ends the whole program."""

_PROBES = 256
"""Single runs that all have to raise before a whole batch counts as raising: if one in ten runs of a function does
not raise, they show it except with probability 2e-12."""


class BlackBox(ABC):
    """A mechanism that we can only run."""

    name: str

    @abstractmethod
    def run(self, input: Any, runs: int, generator: np.random.Generator) -> Outcomes:
        """The outcomes of so many independent runs, all noise derived from the generator."""

    def failure(self, input: Any, generator: np.random.Generator) -> RunError | None:
        """What a single run raises, as an error with its traceback; None if it raises nothing, or cannot be told."""
        return None


@dataclass(frozen=True, slots=True)
class Options:
    """How a black box is run: names of its parameters, what is observed, and whether exceptions are outcomes."""

    observe: Observer | None = None
    runs_arg: str | None = None
    rng_arg: str | None = None
    exceptions: str = "outcome"

    def __post_init__(self) -> None:
        if self.exceptions not in ("outcome", "error"):
            raise RunError(
                "RUN-021",
                f"exceptions are either outcomes or errors, got {self.exceptions!r}",
                why="a run that raises is counted by its exception's type, or stops everything",
                fix="--exceptions outcome, or --exceptions error",
            )

    @property
    def declared(self) -> Declared:
        """The names, as a declaration."""
        return Declared(None, self.runs_arg, self.rng_arg)


@dataclass(frozen=True)
class FunctionBox(BlackBox):
    """A Python function that is called for each run, or for a batch of runs."""

    function: Callable[..., Any]
    source: Source
    options: Options = field(default_factory=Options)
    given: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    epsilon_arg: str | None = None
    calling: Calling = field(init=False)

    def __post_init__(self) -> None:
        calling = calling_of(self.function, self.options.declared, self.given)
        object.__setattr__(self, "calling", calling)
        object.__setattr__(self, "name", self.name or name_of(self.function))
        if not calling.takes_any_name:
            for name in self.given:
                if name not in calling.others:
                    raise _unknown_argument(self, name)

    @property
    def input_name(self) -> str:
        """The first parameter."""
        return self.calling.input_name

    @property
    def epsilon_name(self) -> str | None:
        """The parameter that is ε: the one called epsilon (or eps), unless another one is named."""
        return self.epsilon_arg or next((name for name in ("epsilon", "eps") if name in self.calling.others), None)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The parameters that get arguments, without ε."""
        return tuple(name for name in self.calling.others if name != self.epsilon_name)

    @property
    def vectorised(self) -> bool:
        """Whether one call gives many runs."""
        return self.calling.form is Form.VECTORISED

    def with_options(self, options: Options | None) -> FunctionBox:
        """The same function, run in this way."""
        return self if options is None else replace(self, options=options)

    def with_arguments(self, given: Mapping[str, Any] | None, *, epsilon: float | None = None) -> FunctionBox:
        """The same function with these arguments, and with ε where it takes one that is not among them."""
        arguments = {**self.given, **(given or {})}
        if epsilon is not None and self.epsilon_name is not None:
            arguments.setdefault(self.epsilon_name, epsilon)
        return replace(self, given=arguments)

    def run(self, input: Any, runs: int, generator: np.random.Generator) -> Outcomes:
        """See `BlackBox`.  Raises `RunError` and `OutputError`; an exception of the function is an outcome."""
        self._check_arguments()
        if runs < 1:
            return []
        with surroundings.of_a_batch(generator), batch_result.located(self.name, where(self.function)):
            run = self._batch if self.vectorised else self._one_by_one
            return run(input, runs, generator)

    def failure(self, input: Any, generator: np.random.Generator) -> RunError | None:
        """See `BlackBox`."""
        with surroundings.of_a_batch(generator):
            call, copies = self._ready(input, 1, generator)
            try:
                call(next(copies))
            except _CAUGHT as error:
                return self._raised(error, input, "a run")
        return None

    # --- one run a call ------------------------------------------------------------------------------------------

    def _one_by_one(self, input: Any, runs: int, generator: np.random.Generator) -> list[Outcome]:
        call, copies = self._ready(input, runs, generator)
        observe, outcomes = self.options.observe, list[Outcome]()
        append, plain = outcomes.append, PLAIN
        for given in copies:
            try:
                output = call(given)
            except _CAUGHT as error:
                if self.options.exceptions == "error":
                    raise self._raised(error, input, f"run {len(outcomes) + 1} of this batch") from error
                append(Raised(type(error).__name__))
                continue
            if observe is not None:
                output = observe(output)
            append(output if type(output) in plain else freeze(output))
        return outcomes

    # --- many runs a call ----------------------------------------------------------------------------------------

    def _batch(self, input: Any, runs: int, generator: np.random.Generator) -> Outcomes:
        call, copies = self._ready(input, runs, generator)
        try:
            result = call(next(copies))
        except _CAUGHT as error:
            if self.options.exceptions == "error":
                raise self._raised(error, input, f"a batch of {runs:,} runs") from error
            return self._all_raised(error, input, runs, generator)
        references = sys.getrefcount(result)  # counted first: an argument being passed is one more
        shared = batch_result.is_shared(result, references)
        observe = self.options.observe
        if observe is None:
            return batch_result.outcomes(result, runs, shared=shared)
        if observe.of_batches:
            return batch_result.outcomes(observe(result), runs)
        return list(freeze([observe(row) for row in batch_result.rows_of(result, runs)]))  # type: ignore[arg-type]

    def _all_raised(self, error: BaseException, input: Any, runs: int, generator: np.random.Generator) -> list[Outcome]:
        """The outcomes of a batch that raised: known only if every single run raises the same.

        Any other reading would tie the outcomes of a batch to each other, or count exceptions too seldom.
        """
        call, copies = self._ready(input, 1, generator, times=_PROBES)
        name = type(error).__name__
        for number, given in enumerate(copies):
            try:
                call(given)
            except _CAUGHT as again:
                if type(again).__name__ == name:
                    continue
            raise self._some_raised(error, input, number) from error
        return [Raised(name)] * runs

    def _some_raised(self, error: BaseException, input: Any, raised: int) -> RunError:
        failed = self._raised(error, input, "a whole batch, but not for every single run of it")
        failed.code = "RUN-013"
        failed.why = f"which of its runs raised is not to be seen (alone, {raised} raised before one did not)"
        failed.fix = "return a value such as nan for those runs, or take @single_run, where exceptions are outcomes"
        return failed

    # --- both ----------------------------------------------------------------------------------------------------

    def _ready(
        self, input: Any, runs: int, generator: np.random.Generator, times: int | None = None
    ) -> tuple[Callable[[Any], Any], Iterator[Any]]:
        """The function of the input alone, and the inputs of its calls; `times` more calls than one for a batch."""
        calls = times or (1 if self.vectorised else runs)
        fresh = copier(input)
        copies = repeat(input, calls) if fresh is None else starmap(fresh, repeat((), calls))
        arguments = copier(dict(self.given)) if copier(tuple(self.given.values())) is not None else None
        if arguments is None:
            return bind(self.function, self.calling, generator, runs, self.given), copies
        return self._with_fresh_arguments(arguments, runs, generator), copies

    def _with_fresh_arguments(self, fresh: Maker, runs: int, generator: np.random.Generator) -> Callable[[Any], Any]:
        def call(content: Any) -> Any:
            return bind(self.function, self.calling, generator, runs, fresh())(content)

        return call

    def _check_arguments(self) -> None:
        for name, parameter in self.calling.others.items():
            if parameter.default is parameter.empty and name not in self.given:
                raise _missing_argument(self, name)

    def _raised(self, error: BaseException, input: Any, what: str) -> RunError:
        failed = RunError(
            "RUN-011",
            f"{self.name} raised {said_by(error)}",
            place=f"{last_place(error)}, in {what}, on input {repr_of(input, 100)}",
            excerpt=excerpt_of(error),
            why="exceptions stop everything here, since --exceptions error was given",
            fix="correct the function or the input; or leave --exceptions out, so that exceptions are outcomes",
        )
        failed.traceback = lines_of(error)
        return failed

    # --- other processes -----------------------------------------------------------------------------------------

    @property
    def is_portable(self) -> bool:
        """Whether another process can find the function by its reference."""
        observe = self.options.observe
        return self.source.reference is not None and (observe is None or observe.source.reference is not None)

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.is_portable:
            raise _not_portable(self)
        observe = self.options.observe
        options = replace(self.options, observe=None)
        return _rebuilt, (self.source, options, observe and observe.source, dict(self.given))


def _rebuilt(source: Source, options: Options, observe: Source | None, given: dict[str, Any]) -> BlackBox:
    from dpverdict.mechanism.forms import black_box  # it makes black boxes of this kind

    seen = None if observe is None else observer_from(observe)
    return black_box(source.found(), replace(options, observe=seen), given, source)


def refuse_if_all_raised(box: BlackBox, seen: Iterable[tuple[Any, Outcomes]], generator: np.random.Generator) -> None:
    """Raise `RunError`, with an input and the traceback, if every run on every input ended with an exception.

    That is most likely a mistake in the call, and would otherwise look like a mechanism that tells nothing.
    """
    listed = list(seen)
    if not listed or not all(all_raised(outcomes) for _, outcomes in listed):
        return
    input = listed[0][0]
    names = sorted({outcome.exception for _, some in listed for outcome in some if isinstance(outcome, Raised)})
    failed = box.failure(input, generator) or RunError(
        "RUN-012", "", why="", fix="", place=f"on input {repr_of(input, 100)}"
    )
    failed.code = "RUN-012"
    failed.message = f"every run of {box.name} on every input raised {' or '.join(names)}"
    failed.why = "exceptions are outcomes, but if there is nothing else, most likely the call does not fit the function"
    failed.fix = f"call it once by hand: {box.name}({repr_of(input, 60)}, …)"
    raise failed


# --- messages ----------------------------------------------------------------------------------------------------


def _unknown_argument(box: FunctionBox, name: str) -> InputError:
    names = list(box.calling.others)
    return InputError(
        "INPUT-010",
        f"{box.name} has no parameter called {name!r}",
        place=where(box.function),
        why=f"its parameters after the input are: {', '.join(names) or 'none'}",
        fix=f"one of: {', '.join(names)}" if names else "leave the argument out",
    )


def _missing_argument(box: FunctionBox, name: str) -> InputError:
    fix = f"--arg {name}=…, or with_arguments({{{name!r}: …}})"
    return InputError(
        "INPUT-011",
        f"{box.name} needs a value for its parameter {name!r}",
        place=where(box.function),
        excerpt=shown(box.function, name),
        why="the parameter has no default",
        fix=f"--epsilon E, or {fix}" if name == box.epsilon_name else fix,
    )


def _not_portable(box: FunctionBox) -> TargetError:
    observe = box.options.observe
    of_function = box.source.reference is None or observe is None
    what = box.name if of_function else name_of(observe.function) if observe else box.name
    return TargetError(
        "TARGET-030",
        f"{what} cannot be sent to another process",
        place=where(box.function if of_function or observe is None else observe.function),
        why="it has no name in a module or file under which another process could find it "
        "(a lambda, a function inside a function, an object made on the way)",
        fix="define it at the top of a module or file; or run it in threads: --workers 1",
    )
