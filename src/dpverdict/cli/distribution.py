"""``dpverdict distribution``: the exact probability of every output."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Annotated

import typer

from dpverdict.cli import options
from dpverdict.cli.outcomes import written
from dpverdict.cli.subject import Subject, find
from dpverdict.exact_distribution import ExactDistribution, OutputRow, plain
from dpverdict.exact_distribution import distribution as distribution_of
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.outcome import Raised
from dpverdict.mechanism.surroundings import user_code
from dpverdict.reading.exact.exact_chain import NEVER_RETURNS

_WIDEST = 60


def distribution(
    target: options.Target,
    input_text: options.Input = None,
    length_text: options.Length = None,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", metavar="E", help="add 30 digits at this ε: 1/2 or 0.1")
    ] = None,
    arguments: options.Arguments = None,
    as_json: options.Json = False,
) -> str:
    """Show the exact probability of every output of a program, for every ε."""
    subject = find(target, arguments)
    given = subject.input_or_zeros("distribution", input_text, options.length(length_text))
    value = _epsilon(subject, epsilon)
    with user_code():
        found = distribution_of(subject.mechanism, given, epsilon=value, args=subject.arguments)
    if as_json:
        return json.dumps(found.to_json() | {"target": target})
    return "\n".join([*_header(subject, given, value), "", *_table(found)])


def _epsilon(subject: Subject[Mechanism], text: str | None) -> Fraction | None:
    """The ε to show digits at, as the fraction that was typed."""
    if text is None:
        return None
    options.with_epsilon(subject.arguments, subject.epsilon_name, text)
    return Fraction(text.strip())


def _header(subject: Subject[Mechanism], given: object, epsilon: Fraction | None) -> list[str]:
    values = [f"{name} = {value!r}" for name, value in subject.arguments.items()]
    if epsilon is not None:
        values.insert(0, f"{subject.epsilon_name} = {epsilon}")
    return [f"{subject.target} on {json.dumps(given)}", *([", ".join(values)] if values else [])]


def _table(found: ExactDistribution) -> list[str]:
    lines: list[str] = []
    ranges = list(dict.fromkeys(row.within for row in found.outputs))
    for within in ranges:
        rows = [row for row in found.outputs if row.within == within]
        if len(ranges) > 1:
            lines += [*([""] if lines else []), f"eps in {within}:"]
        width = min(_WIDEST, max(len(_label(row)) for row in rows))
        for row in rows:
            lines.append(f"  {_label(row):<{width}}  {row.probability}")
            if row.value is not None and row.value != row.probability:
                lines.append(f"  {'':<{width}}  = {row.value}")
    return lines


def _label(row: OutputRow) -> str:
    if isinstance(row.output, Raised):
        return "does not return" if row.output == NEVER_RETURNS else f"raises {row.output.exception}"
    return written(plain(row.output))
