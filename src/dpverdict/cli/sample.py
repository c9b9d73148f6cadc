"""``dpverdict sample``: run a mechanism and show what came out."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Annotated

import typer

from dpverdict.cli import options, outcomes
from dpverdict.cli.outcomes import Edges, Histogram, Outcome, Tally
from dpverdict.cli.plain_runs import PlainRuns
from dpverdict.cli.streams import Progress
from dpverdict.cli.subject import Subject, find, plain
from dpverdict.errors import UntraceableError
from dpverdict.mechanism.structure import Program, RaiseNode
from dpverdict.mechanism.surroundings import user_code
from dpverdict.reading.sample import Outputs, Sampler, sample_blocks
from dpverdict.report import terminal

_ROWS = 20
_HISTOGRAMS = 8

# Enough runs to place the bins of every outcome that is worth a histogram.
_FIRST_LOOK = 20_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run, how often, and from which seed."""

    subject: Subject
    given: object
    epsilon: float | None
    runs: int
    seed: int
    workers: int


@dataclass(frozen=True, slots=True)
class Sample:
    """What came out: counts, the bins' edges, how it was run and how long it took."""

    tally: Tally
    edges: Edges
    reading: str
    note: str
    seconds: float


def sample(
    target: options.Target,
    input_text: Annotated[str, typer.Option("--input", metavar="I", help="the input: 0,1 or 3 or 1/2 or JSON")],
    runs: Annotated[str, typer.Option("--runs", metavar="N", help="how many runs; 1e6 will do")],
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", metavar="E", help="the value of the mechanism's ε (1 if not given)")
    ] = None,
    seed: Annotated[str, typer.Option("--seed", metavar="K", help="a whole number, or random")] = "1",
    workers: Annotated[str | None, typer.Option("--workers", metavar="N", help="threads (one for each core)")] = None,
    arguments: options.Arguments = None,
    as_json: options.Json = False,
) -> str:
    """Run a mechanism many times and count what comes out."""
    count, start, threads = options.runs(runs), options.seed(seed), options.workers(workers)
    subject = find(target, arguments)
    value = options.with_epsilon(subject.arguments, subject.mechanism.epsilon_name, epsilon)
    plan = Plan(subject, subject.input_from(input_text), value, count, start, threads)
    done = _run(plan)
    return json.dumps(_facts(plan, done)) if as_json else "\n".join(_lines(plan, done))


def _run(plan: Plan) -> Sample:
    subject = plan.subject
    arguments = subject.mechanism.arguments(subject.arguments, epsilon=plan.epsilon)
    function = PlainRuns(subject.mechanism, plan.given, arguments)
    try:
        with user_code():
            program = subject.mechanism.program_for(plan.given, subject.arguments)
    except UntraceableError as error:
        done = _plainly(plan, function, error)
    else:
        done = _as_program(plan, program)
    if all(isinstance(outcome.ending, RaiseNode) for outcome in done.tally.counts):
        # Most likely the input does not fit, and the name of the exception alone does not say how.
        return replace(done, note=f"{done.note}; every run raised: {function.exception(plan.seed)}")
    return done


def _as_program(plan: Plan, program: Program) -> Sample:
    sampler = Sampler(program, plan.given, plan.epsilon, plan.subject.arguments)
    started = time.perf_counter()
    look = min(plan.runs, _FIRST_LOOK)
    edges = outcomes.edges_from(next(sample_blocks(sampler, look, plan.seed, "sample: first look", 1, _unchanged)))
    blocks = sample_blocks(
        sampler, plan.runs, plan.seed, "sample", plan.workers, lambda batch: outcomes.count(batch, edges)
    )
    tally = _added(blocks, plan.runs)
    note = f"read as a program ({program.paths:,} {'path' if program.paths == 1 else 'paths'})"
    return Sample(tally, edges, "program", note, time.perf_counter() - started)


def _unchanged(batch: tuple[Outputs, ...]) -> tuple[Outputs, ...]:
    return batch


def _plainly(plan: Plan, function: PlainRuns, error: UntraceableError) -> Sample:
    started = time.perf_counter()
    blocks = function.blocks(plan.seed, "sample", plan.runs)
    first = next(blocks)
    edges = outcomes.edges_from(first)
    tally = _added((outcomes.count(batch, edges) for batch in chain((first,), blocks)), plan.runs)
    note = f"plain runs, one after the other: {error.message}"
    return Sample(tally, edges, "plain", note, time.perf_counter() - started)


def _added(blocks: Iterator[Tally], runs: int) -> Tally:
    tally, progress = Tally(), Progress(runs)
    try:
        for block in blocks:
            tally.add(block)
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
        for slot, position in enumerate(place for place, value in enumerate(outcome.slots) if value is None):
            if (outcome, position) in done.tally.bins:
                edges = done.edges[outcome.ending, position]
                yield outcome, slot, outcomes.histogram(done.tally.bins[outcome, position], edges)


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
    name = subject.mechanism.epsilon_name
    values = [f"{key} = {value!r}" for key, value in subject.arguments.items()]
    if name is not None and name not in subject.arguments:
        symbolic = " (a symbol of the program)" if done.reading == "program" else ""
        values.insert(0, f"{name} = {plan.epsilon:g}{symbolic}")
    if values:
        lines.append(", ".join(values))
    lines.append(f"{plan.runs:,} runs, seed {plan.seed}, {done.seconds:.2f} s; {done.note}")
    return lines


def _title(outcome: Outcome, slot: int) -> str:
    output = outcomes.arranged(outcome)
    if output is outcomes.Placeholder.REAL:
        return "the output"
    several = sum(value is None for value in outcome.slots) > 1
    return f"the {_ordinal(slot)} real in {_label(outcome)}" if several else f"the real in {_label(outcome)}"


def _ordinal(position: int) -> str:
    names = ("first", "second", "third", "fourth", "fifth")
    return names[position] if position < len(names) else f"{position + 1}th"
