"""What an audit is about: a mechanism at one ε, and what may be spent on it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpverdict.claim import Claim
from dpverdict.claim.exact_numbers import exact
from dpverdict.claim.values import identity, plain
from dpverdict.errors import InputError, MechanismError, UsageError
from dpverdict.evidence import boxes
from dpverdict.evidence.allowance import error_probability
from dpverdict.execute.executor import Executor
from dpverdict.execute.run import Oversight
from dpverdict.execute.threads import ThreadExecutor
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.black_box import BlackBox, FunctionBox
from dpverdict.mechanism.executable import Executable
from dpverdict.mechanism.outcome import repr_of
from dpverdict.mechanism.recorded import RecordedSamples
from dpverdict.mechanism.surroundings import user_code
from dpverdict.proving import OUT
from dpverdict.reading.sample import Sampler
from dpverdict.search.sampling import BoxRunner, Pair, ProgramRunner

RUNS = 1_000_000
"""How many runs an audit has where nobody says so."""

FEWEST_RUNS = 10_000

VERDICT_ALPHA, BOUND_ALPHA = Fraction(1, 10**6), Fraction(1, 20)

MOST_PAIRS = 16


@dataclass(frozen=True, slots=True)
class Subject:
    """A mechanism, how it was named, its arguments without ε, and its ε, if it has one."""

    target: str
    mechanism: Mechanism | BlackBox
    arguments: Mapping[str, Any]
    epsilon: Fraction | None

    @property
    def number(self) -> float | None:
        """ε for running."""
        return None if self.epsilon is None else float(self.epsilon)

    @property
    def box(self) -> BlackBox:
        """The mechanism as one that can only be run."""
        if isinstance(self.mechanism, Mechanism):
            return self.mechanism.black_box(self.arguments, epsilon=self.number)
        if isinstance(self.mechanism, FunctionBox):
            return self.mechanism.with_arguments(self.arguments, epsilon=self.number)
        return self.mechanism

    def reference(self) -> dict[str, object]:
        """How the mechanism is found again, and what it was, for a certificate."""
        box = self.box
        source = box.source if isinstance(box, FunctionBox | Executable) else None
        observe = box.options.observe if isinstance(box, FunctionBox) else None
        return {
            "target": self.target,
            "name": self.mechanism.name,
            "arguments": {name: repr_of(value) for name, value in self.arguments.items()},
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "source": source.sha256 if source else None,
            "observe": None if observe is None else observe.source.reference,
        }


@dataclass(frozen=True, slots=True)
class Budget:
    """How many runs there may be, which error, from which seed, by how many workers; where the certificate goes."""

    runs: int = RUNS
    alpha: Fraction = VERDICT_ALPHA
    seed: int = 1
    workers: int = 1
    out: Path | None = field(default_factory=lambda: Path(OUT))
    oversight: Oversight = field(default_factory=Oversight)

    def __post_init__(self) -> None:
        error_probability(self.alpha)
        given: object = self.runs
        if isinstance(given, bool) or not isinstance(given, int) or given < FEWEST_RUNS:
            raise UsageError(
                "USAGE-040",
                "these are too few runs for an audit",
                place=f"--runs {self.runs}",
                why="some are for learning, some for the checks of independence, and the rest has to decide",
                fix=f"--runs {FEWEST_RUNS}, or more",
            )


@dataclass(frozen=True, slots=True)
class Task:
    """A mechanism, a claim, what may be spent, and when it began."""

    subject: Subject
    claim: Claim
    budget: Budget
    begun: float

    @property
    def epsilon(self) -> Fraction | None:
        """The ε for which the claim is judged: the claim's only one, else the mechanism's."""
        only = self.claim.epsilon_range.only
        return self.subject.epsilon if only is None else only

    @property
    def name(self) -> str:
        """Everything that results depend on besides pairs, phases and the seed."""
        whole = json.dumps(self.subject.reference(), sort_keys=True)
        digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
        return f"audit of {self.subject.target} ({digest[:16]})"


def subject_of(target: str, mechanism: Mechanism | BlackBox, arguments: Mapping[str, Any], claim: Claim) -> Subject:
    """The mechanism at one ε: that of its arguments, else the claim's only one, else 1, or what is nearest to 1."""
    if isinstance(mechanism, RecordedSamples):
        raise UsageError(
            "USAGE-041",
            "recorded outputs cannot be audited yet",
            place=target,
            why="an audit decides which input a run has when it makes the run, by tossing a coin",
            fix="a mechanism that can be run: path/file.py:name, or exec:COMMAND",
        )
    name = mechanism.epsilon_name if isinstance(mechanism, Mechanism | FunctionBox) else None
    rest = {key: value for key, value in arguments.items() if key != name}
    if name is None:
        return Subject(target, mechanism, rest, None)
    if arguments.get(name) is not None:
        return Subject(target, mechanism, rest, exact(arguments[name], f"{name}="))
    chosen = claim.epsilon_range
    nearest = max(chosen.low, Fraction(1)) if chosen.high is None else min(max(chosen.low, Fraction(1)), chosen.high)
    return Subject(target, mechanism, rest, chosen.only or nearest)


# --- pairs -----------------------------------------------------------------------------------------------------------


def pairs_of(task: Task, given: tuple[Any, Any] | None) -> list[Pair]:
    """The pairs that compete, ready to run: the given one, or the claim's patterns, else some of its pairs."""
    inputs = _patterns(task.claim) if given is None else [given]
    for one, other in inputs:
        why = task.claim.why_not_about(one, other)
        if why is not None:
            raise InputError(
                "INPUT-050",
                "the claim says nothing about these two inputs",
                place=f"{plain(one)!r} and {plain(other)!r}",
                why=why,
                fix="two neighbours in the domain, or another --adjacency or --domain",
            )
    if not inputs:
        raise InputError(
            "INPUT-051",
            "there is nothing to run the mechanism on",
            place=f"domain {task.claim.domain.text}, neighbours {task.claim.neighbourhood.text}",
            why="no two neighbouring inputs could be found in this domain",
            fix="--input I --neighbour I, or a --domain with a --length",
        )
    programs = _as_programs(task.subject, inputs)
    if programs is not None:
        return programs
    box = task.subject.box
    return [Pair(one, other, (BoxRunner(box, plain(one)), BoxRunner(box, plain(other)))) for one, other in inputs]


def executor_of(pair: Pair, workers: int) -> Executor:
    """Threads for a program, which lets go of the interpreter lock; for a black box what suits it."""
    return ThreadExecutor(workers) if pair.box is None else boxes.executor_of(pair.box, workers)


def _patterns(claim: Claim) -> list[tuple[Any, Any]]:
    """Different pairs; where the neighbourhood is symmetric a test looks at both directions at once."""
    listed: Iterable[tuple[Any, Any]] = [(one.input, one.neighbour) for one in claim.patterns()]
    if not listed and claim.domain.size() is not None:
        listed = claim.pairs()
    found: dict[Any, tuple[Any, Any]] = {}
    for one, other in listed:
        if len(found) >= MOST_PAIRS:
            break
        ends = (identity(one), identity(other))
        found.setdefault(frozenset(ends) if claim.neighbourhood.symmetric else ends, (one, other))
    return list(found.values())


def _as_programs(subject: Subject, inputs: list[tuple[Any, Any]]) -> list[Pair] | None:
    """All pairs as programs, None if one of the inputs has no program: both inputs are run in the same way."""
    mechanism = subject.mechanism
    if not isinstance(mechanism, Mechanism):
        return None

    def runner(given: Any) -> ProgramRunner:
        content = plain(given)
        with user_code():
            program = mechanism.program_for(content, subject.arguments)
        return ProgramRunner(Sampler(program, content, subject.number, subject.arguments))

    try:
        return [Pair(one, other, (runner(one), runner(other))) for one, other in inputs]
    except MechanismError:
        return None
