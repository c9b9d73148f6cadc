"""``dpverdict sample``: run a mechanism and show what came out."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from dpverdict import __version__
from dpverdict.cli import options, outcomes
from dpverdict.cli.outcomes import Edges, Histogram, Outcome, Tally
from dpverdict.cli.plain_counts import edges_of, tally_of
from dpverdict.cli.runs import Count, Look, ProgramRuns, RecordedRuns, Runs, box_runs
from dpverdict.cli.streams import Progress
from dpverdict.cli.subject import Subject, find_runnable, plain
from dpverdict.errors import MechanismError
from dpverdict.execute.cancellation import cancel_on_signals
from dpverdict.execute.executor import Finished
from dpverdict.execute.job import Job
from dpverdict.execute.record import Record
from dpverdict.execute.run import Oversight, run
from dpverdict.execute.seeds import generator
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.black_box import BlackBox, FunctionBox, Options, refuse_if_all_raised
from dpverdict.mechanism.executable import Executable
from dpverdict.mechanism.observe import observer
from dpverdict.mechanism.outcome import Raised
from dpverdict.mechanism.structure import RaiseNode
from dpverdict.mechanism.surroundings import user_code
from dpverdict.reading.sample import Sampler
from dpverdict.report import terminal

_ROWS = 20
_HISTOGRAMS = 8

# Enough runs to place the bins of every outcome that is worth a histogram.
_FIRST_LOOK = 20_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run, how often, from which seed, and where it is kept."""

    subject: Subject[Mechanism | BlackBox]
    given: object
    epsilon: float | None
    runs: int
    seed: int
    workers: int
    seconds_per_block: float | None
    out: Path | None


@dataclass(frozen=True, slots=True)
class Sample:
    """What came out: counts, the bins' edges, how it was run, what was noticed, and how long it took."""

    tally: Tally
    edges: Edges
    reading: str
    note: str
    seconds: float
    findings: tuple[str, ...]


def sample(
    target: options.Runnable,
    runs: Annotated[str, typer.Option("--runs", metavar="N", help="how many runs; 1e6 will do")],
    input_text: options.Input = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", metavar="E", help="the value of the mechanism's ε (else 1, or the entry's)"),
    ] = None,
    seed: Annotated[str, typer.Option("--seed", metavar="K", help="a whole number, or random")] = "1",
    workers: Annotated[
        str | None, typer.Option("--workers", metavar="N", help="threads or processes (one for each core)")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="keep what is finished here, to go on from")
    ] = None,
    observe: Annotated[
        str | None, typer.Option("--observe", metavar="F", help="module:function of an output: what is looked at")
    ] = None,
    runs_arg: Annotated[
        str | None, typer.Option("--runs-arg", metavar="NAME", help="the parameter that is the number of runs")
    ] = None,
    rng_arg: Annotated[
        str | None, typer.Option("--rng-arg", metavar="NAME", help="the parameter that is the source of randomness")
    ] = None,
    exceptions: Annotated[
        str, typer.Option("--exceptions", metavar="outcome|error", help="whether an exception is an outcome")
    ] = "outcome",
    block_seconds: Annotated[
        str | None,
        typer.Option("--block-seconds", metavar="S", help="how long a block of a black box may take"),
    ] = None,
    arguments: options.Arguments = None,
    as_json: options.Json = False,
) -> str:
    """Run a mechanism of any kind many times and count what comes out."""
    count, start, most = options.runs(runs), options.seed(seed), options.workers(workers)
    limit, folder = options.seconds("--block-seconds", block_seconds), options.folder(out)
    with user_code():
        how = Options(observer(observe), runs_arg, rng_arg, exceptions)
    subject = find_runnable(target, arguments, how)
    value = _epsilon(subject, epsilon)
    plan = Plan(subject, subject.input_from(input_text), value, count, start, most, limit, folder)
    done = _run(plan)
    return json.dumps(_facts(plan, done)) if as_json else "\n".join(_lines(plan, done))


def _epsilon(subject: Subject[Mechanism | BlackBox], text: str | None) -> float | None:
    """The ε to run with; a black box has a default of its own where it says so."""
    name, mechanism = subject.epsilon_name, subject.mechanism
    if text is None and name not in subject.arguments and isinstance(mechanism, FunctionBox):
        parameter = mechanism.calling.others.get(name or "")
        if parameter is None or parameter.default is not parameter.empty:
            return None
    if text is None and name not in (None, *subject.arguments) and subject.entry is not None:
        text = None if subject.entry.at is None else str(subject.entry.at)
    return options.with_epsilon(subject.arguments, name, text)


def _run(plan: Plan) -> Sample:
    mechanism = plan.subject.mechanism
    if not isinstance(mechanism, Mechanism):
        box = mechanism.with_arguments({}, epsilon=plan.epsilon) if isinstance(mechanism, FunctionBox) else mechanism
        return _as_box(plan, box, "run as a black box")
    arguments = mechanism.arguments(plan.subject.arguments, epsilon=plan.epsilon)
    try:
        with user_code():
            program = mechanism.program_for(plan.given, plan.subject.arguments)
        sampler = Sampler(program, plan.given, plan.epsilon, plan.subject.arguments)
    except MechanismError as error:
        box = mechanism.black_box(arguments)
        return _as_box(plan, box, f"plain runs, one after the other: {error.message}")
    note = f"read as a program ({program.paths:,} {'path' if program.paths == 1 else 'paths'})"
    done = _counted(plan, ProgramRuns(sampler), "program", note)
    if _all_raised(done.tally):
        # Most likely the input does not fit, and the name of the exception alone does not say how.
        raised = mechanism.black_box(arguments).failure(plan.given, generator(plan.seed, "sample: an exception", 0))
        said = f"{raised.message} ({raised.place})" if raised else "an exception"
        return replace(done, note=f"{done.note}; every run raised: {said}")
    return done


def _as_box(plan: Plan, box: BlackBox, note: str) -> Sample:
    runs = box_runs(box, plan.given)
    reading = "recorded" if isinstance(runs, RecordedRuns) else "plain"
    done = _counted(plan, runs, reading, "recorded outputs" if isinstance(runs, RecordedRuns) else note)
    if _all_raised(done.tally):
        raised: list[Any] = [Raised(o.ending.exception) for o in done.tally.counts if isinstance(o.ending, RaiseNode)]
        refuse_if_all_raised(box, [(plan.given, raised)], generator(plan.seed, "sample: an exception", 0))
    if isinstance(runs, RecordedRuns):
        return done
    examined = runs.examined(plan.runs, plan.seed, _job(plan))
    if examined is None:
        return done
    findings = [f"runs are not independent: {finding.message}" for finding in examined.findings]
    if examined.constant:
        findings.append(
            "every run gave the same outcome: there is no noise, or the mechanism seeds it anew in each call"
        )
    if not examined.replayable:
        findings.append(
            "it cannot be replayed: a block does not repeat from its own seed, so it has randomness of its own"
        )
    return replace(done, findings=tuple(findings))


def _all_raised(tally: Tally) -> bool:
    return all(isinstance(outcome.ending, RaiseNode) for outcome in tally.counts)


def _counted(plan: Plan, runs: Runs, reading: str, note: str) -> Sample:
    """Run everything: a first look that places the bins, then all blocks in order."""
    started, name = time.perf_counter(), _job(plan)
    limit = None if isinstance(runs, ProgramRuns | RecordedRuns) else plan.seconds_per_block
    size = runs.block_size(plan.runs)
    with ExitStack() as stack:
        record = (
            None if plan.out is None else stack.enter_context(Record(plan.out / "sample.record", _conditions(plan)))
        )
        watched = Oversight(record, stack.enter_context(cancel_on_signals()))
        executor = stack.enter_context(runs.executor(plan.workers))
        look = min(plan.runs, _FIRST_LOOK, size)
        (looked,) = run(executor, Job(name, Look(runs), plan.seed, look, look, "first look", limit), None, watched)
        counting = Job(name, Count(runs, looked.result), plan.seed, size, plan.runs, "count", limit)
        tally = _added(run(executor, counting, None, watched), plan.runs)
    return Sample(tally, edges_of(looked.result), reading, note, time.perf_counter() - started, ())


def _job(plan: Plan) -> str:
    """The job's name: everything that the results depend on besides the seed and the number of runs."""
    whole = json.dumps(_conditions(plan), sort_keys=True).encode("utf-8", "surrogatepass")
    return f"{plan.subject.target} on {plan.given!r} ({hashlib.sha256(whole).hexdigest()[:8]})"


def _conditions(plan: Plan) -> dict[str, object]:
    """What a record is checked against, by the options' names."""
    mechanism, subject = plan.subject.mechanism, plan.subject
    found: dict[str, object] = {
        "TARGET": subject.target,
        "--input": repr(plan.given),
        "--epsilon": plan.epsilon,
        "--arg": {name: repr(value) for name, value in subject.arguments.items()},
        "dpverdict": __version__,
    }
    if isinstance(mechanism, FunctionBox | Executable):
        found["source"] = mechanism.source.sha256
    if isinstance(mechanism, Mechanism):
        found["source"] = mechanism.black_box(subject.arguments, epsilon=plan.epsilon).source.sha256
    if isinstance(mechanism, FunctionBox):
        how = mechanism.options
        found |= {"--runs-arg": how.runs_arg, "--rng-arg": how.rng_arg, "--exceptions": how.exceptions}
        found["--observe"] = how.observe.source.reference if how.observe else None
    return found


def _added(blocks: Iterable[Finished[object]], runs: int) -> Tally:
    tally, progress = Tally(), Progress(runs)
    try:
        for block in blocks:
            tally.add(tally_of(block.result))
            progress.show(tally.runs)
    finally:
        progress.clear()
    return tally


# --- the answer ------------------------------------------------------------------------------------------------


def _ordered(tally: Tally) -> list[tuple[Outcome, int]]:
    """Outcomes from the most frequent to the rarest; equal counts in the order of their texts."""
    return sorted(tally.counts.items(), key=lambda item: (-item[1], _label(item[0])))


def _label(outcome: Outcome) -> str:
    ending = outcome.ending
    if isinstance(ending, RaiseNode):
        return f"raises {ending.exception}"
    return outcomes.written(outcomes.arranged(outcome))


def _histograms(ordered: Sequence[tuple[Outcome, int]], done: Sample) -> Iterator[tuple[Outcome, int, Histogram]]:
    """The histograms there are: of which outcome, and of which of its real slots."""
    for outcome, _ in ordered:
        bins = done.tally.bins.get(outcome, {})
        for slot, position in enumerate(place for place, value in enumerate(outcome.slots) if value is None):
            if position in bins:
                yield outcome, slot, outcomes.histogram(bins[position], done.edges[outcome.ending][position])


def _facts(plan: Plan, done: Sample) -> dict[str, object]:
    ordered = _ordered(done.tally)
    facts: dict[str, object] = {
        "target": plan.subject.target,
        "input": plan.given,
        "epsilon": plan.epsilon,
        "arguments": plain(plan.subject.arguments),
        "runs": plan.runs,
        "seed": plan.seed,
        "seconds": round(done.seconds, 6),
        "reading": done.reading,
        "note": done.note,
        "findings": list(done.findings),
        "outputs": [_output(outcome, count) for outcome, count in ordered],
        "histograms": [
            {
                **_named(outcome),
                "slot": slot,
                "edges": list(shown.edges),
                "counts": list(shown.inside),
                "below": shown.below,
                "above": shown.above,
                "not_finite": shown.not_finite,
            }
            for outcome, slot, shown in _histograms(ordered, done)
        ],
    }
    return facts | ({"others": done.tally.others} if done.tally.others else {})


def _named(outcome: Outcome) -> dict[str, object]:
    ending = outcome.ending
    named: dict[str, object] = {"output": outcomes.as_json(outcomes.arranged(outcome))}
    return named | ({"exception": ending.exception} if isinstance(ending, RaiseNode) else {})


def _output(outcome: Outcome, count: int) -> dict[str, object]:
    return {**_named(outcome), "count": count}


def _lines(plan: Plan, done: Sample) -> list[str]:
    ordered = _ordered(done.tally)
    rows = [(_label(outcome), count) for outcome, count in ordered[:_ROWS]]
    rest = []
    if len(ordered) > _ROWS:
        rest.append((f"({len(ordered) - _ROWS:,} more outputs)", sum(count for _, count in ordered[_ROWS:])))
    if done.tally.others:
        rest.append(("(outputs beyond those counted)", done.tally.others))
    lines = [*_header(plan, done), "", *terminal.bars(rows, plan.runs, rest)]
    shown = list(islice(_histograms(ordered, done), _HISTOGRAMS + 1))
    for outcome, slot, histogram in shown[:_HISTOGRAMS]:
        outside = (histogram.below, histogram.above, histogram.not_finite)
        lines += [
            "",
            f"{_title(outcome, slot)}:",
            *terminal.histogram(histogram.edges, histogram.inside, outside, plan.runs),
        ]
    if len(shown) > _HISTOGRAMS:
        lines += ["", "More histograms are in the output of --json."]
    return lines


def _header(plan: Plan, done: Sample) -> list[str]:
    subject = plan.subject
    lines = [f"{subject.target} on {json.dumps(plan.given)}"]
    name = subject.epsilon_name
    values = [f"{key} = {value!r}" for key, value in subject.arguments.items()]
    if plan.epsilon is not None and name not in subject.arguments:
        symbolic = " (a symbol of the program)" if done.reading == "program" else ""
        values.insert(0, f"{name} = {plan.epsilon:g}{symbolic}")
    if values:
        lines.append(", ".join(values))
    lines.append(f"{plan.runs:,} runs, seed {plan.seed}, {done.seconds:.2f} s; {done.note}")
    return lines + [f"note: {finding}" for finding in done.findings]


def _title(outcome: Outcome, slot: int) -> str:
    output = outcomes.arranged(outcome)
    if output is outcomes.Placeholder.REAL:
        return "the output"
    several = sum(value is None for value in outcome.slots) > 1
    return f"the {_ordinal(slot)} real in {_label(outcome)}" if several else f"the real in {_label(outcome)}"


def _ordinal(position: int) -> str:
    names = ("first", "second", "third", "fourth", "fifth")
    return names[position] if position < len(names) else f"{position + 1}th"
