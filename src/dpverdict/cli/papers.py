"""``dpverdict papers``: the tables of a paper, computed again beside what it prints."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any

import typer

from dpverdict.cli import options
from dpverdict.cli.values import Typed
from dpverdict.errors import UsageError
from dpverdict.mechanism import outcome
from dpverdict.papers import dipc
from dpverdict.papers.dipc_tables import Case
from dpverdict.papers.row import Row
from dpverdict.report import terminal

_WIDTH = 110
_INDENT = "      "
PAPERS = ("dipc",)


def papers(
    name: Annotated[str, typer.Argument(metavar="PAPER", help="dipc")],
    quick: Annotated[
        bool, typer.Option("--quick", help="leave out rows with four queries and more, unless of one pair")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="all rows, as without --quick")] = False,
    as_json: options.Json = False,
) -> str:
    """Compute the tables of a paper again, and show them beside what it prints."""
    if name not in PAPERS:
        raise UsageError(
            "USAGE-032",
            f"there are no tables of {name!r}",
            excerpt=Typed("dpverdict papers", name).whole("no such paper"),
            why=f"the papers whose tables are computed again: {', '.join(PAPERS)}",
            fix="dpverdict papers dipc",
        )
    if quick and full:
        raise UsageError(
            "USAGE-033",
            "--quick and --full do not go together",
            excerpt=Typed("--quick", "--full").whole("both"),
            why="--quick leaves out rows, --full does not",
            fix="one of them",
        )
    found = list(dipc.rows(quick=quick, listen=_say))
    if as_json:
        return json.dumps({"rows": [row.to_json() for row in found]}, ensure_ascii=False, allow_nan=False)
    return "\n".join(lines(found))


def _say(case: Case, number: int, whole: int) -> None:
    about = f"{case.mechanism}, {case.parameters}" if case.parameters else case.mechanism
    print(f"{number + 1} of {whole}: table {case.table}, {about}", file=sys.stderr, flush=True)  # noqa: T201


def lines(rows: Sequence[Row]) -> list[str]:
    """The rows as tables for people, and which of them are not as they should be."""
    found = []
    for name, together in groupby(rows, lambda row: row.table):
        found += [name if name == "slips" else f"table {name}", *_table(list(together)), ""]
    wrong = [row for row in rows if not row.is_as_expected]
    theirs, ours = sum(row.published_seconds or 0 for row in rows), sum(row.seconds for row in rows)
    found.append(f"{len(rows)} rows: {theirs:,.0f} s in the paper, {ours:,.1f} s in this run")
    if wrong:
        found.append(f"{len(wrong)} verdicts are NOT as expected: " + "; ".join(map(_named, wrong)))
    else:
        found.append("all verdicts are as expected")
    return found


def _named(row: Row) -> str:
    return f"table {row.table}, {row.mechanism}, {row.parameters}: {row.verdict} instead of {row.expected}"


def _table(rows: Sequence[Row]) -> list[str]:
    header = ("", "mechanism", "parameters", "verdict", "published", "seconds", "published s")
    cells = [
        (
            "" if row.is_as_expected else "!",
            row.mechanism,
            row.parameters,
            row.verdict,
            row.published,
            f"{row.seconds:.2f}",
            "" if row.published_seconds is None else f"{row.published_seconds:,.0f}",
        )
        for row in rows
    ]
    top, rule, *body = terminal.table(header, cells)
    found = [top, rule]
    for row, line in zip(rows, body, strict=True):
        found += [line, *_below(row)]
    return found


def _below(row: Row) -> Iterable[str]:
    """What does not fit into a column: the counterexample and the notes."""
    shown = [*([] if row.counterexample is None else [_example(row.counterexample)]), *row.notes]
    for text in shown:
        yield from textwrap.wrap(text, _WIDTH, initial_indent=_INDENT, subsequent_indent=f"{_INDENT}  ")


def _example(found: Mapping[str, Any]) -> str:
    outputs = " or ".join(_output(one) for one in found["outputs"])
    return f"{_list(found['input'])} against {_list(found['neighbour'])}, output {outputs}, ε = {found['epsilon']}"


def _output(content: Any) -> str:
    """Answers of the sparse vector technique as the thesis writes them."""
    text = outcome.text(outcome.from_json(content))
    return text.replace("False", "⊥").replace("True", "⊤").replace(", ", ",")


def _list(value: Any) -> str:
    return json.dumps(value).replace(", ", ",")
