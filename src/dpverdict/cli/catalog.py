"""``dpverdict catalog``: the published mechanisms, and a page about each."""

from __future__ import annotations

import json
import math
from itertools import groupby
from typing import Annotated

import typer

from dpverdict.catalog import Counterexample, Entry, Paper, Published, Truth, entries
from dpverdict.cli import options
from dpverdict.cli.subject import plain
from dpverdict.report import terminal
from dpverdict.target import CATALOG, entry_of

_WIDTH = 100
_VERDICTS = {True: "holds", False: "fails", None: "unknown"}


def catalog(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="the entry whose page to show")] = None,
    as_json: options.Json = False,
) -> str:
    """List the published mechanisms, or show the page of one."""
    if name is None:
        listed = entries()
        return _json(listed) if as_json else _list(listed)
    entry = entry_of(f"{CATALOG}{name.removeprefix(CATALOG)}")
    assert entry is not None
    return _json((entry,)) if as_json else _page(entry)


# --- JSON ------------------------------------------------------------------------------------------------------


def _json(listed: tuple[Entry, ...]) -> str:
    return json.dumps({"entries": [_facts(entry) for entry in listed]}, allow_nan=False)


def _facts(entry: Entry) -> dict[str, object]:
    return {
        "name": entry.name,
        "title": entry.title,
        "group": entry.group or "in use",
        "paper": str(entry.paper),
        "citation": entry.paper.key,
        "algorithm": entry.algorithm,
        "claim": entry.promise.text,
        "adjacency": entry.adjacency,
        "domain": entry.domain,
        "length": entry.length,
        "epsilon": None if entry.at is None else float(entry.at),
        "epsilon_range": entry.epsilon,
        "arguments": {name: plain(value) for name, value in entry.arguments.items()},
        "parameters": list(entry.mechanism.parameter_names),
        "holds": entry.holds,
        "expected": _expected(entry),
        "truths": [_truth(truth, entry) for truth in entry.truths],
        "counterexamples": [_counterexample(found) for found in entry.counterexamples],
        "published": [_published(result) for result in entry.published],
        "vector": entry.vector,
        "example": plain(entry.example),
        "neighbour": plain(entry.neighbour),
        "black_box": entry.why_black_box or None,
        "notes": entry.notes,
        "related": _related(entry),
    }


def _expected(entry: Entry) -> str:
    return f"{_VERDICTS[entry.holds]}: {'; '.join(_sentence(truth) for truth in entry.truths)}"


def _truth(truth: Truth, entry: Entry) -> dict[str, object]:
    return {
        "kind": truth.kind.value,
        "about": truth.about or "the claim",
        "factor": None if truth.factor is None else str(truth.factor),
        "value": _number(truth.at(entry.at)),
        "loss": truth.loss or None,
        "sentence": truth.sentence,
        "source": _key(truth.source),
    }


def _counterexample(found: Counterexample) -> dict[str, object]:
    return {
        "input": plain(found.input),
        "neighbour": plain(found.neighbour),
        "output": plain(found.output),
        "epsilon": found.epsilon,
        "source": _key(found.source),
        "note": found.note,
    }


def _published(result: Published) -> dict[str, object]:
    return {
        "tool": result.tool,
        "table": result.table,
        "source": result.source.key,
        "lower_bound": _number(result.lower_bound),
        "verdict": result.verdict or None,
        "seconds": result.seconds,
        "note": result.note,
    }


def _number(value: float | None) -> float | str | None:
    return "inf" if value is not None and math.isinf(value) else value


def _key(paper: Paper | None) -> str | None:
    return None if paper is None else paper.key


# --- text ------------------------------------------------------------------------------------------------------


def _list(listed: tuple[Entry, ...]) -> str:
    lines = []
    for group, members in groupby(listed, key=lambda entry: entry.group):
        lines += ["", group or "In use, right and wrong", ""]
        lines += _rows(list(members))
    what = "Each line says whether the claim holds."
    pages = "dpverdict catalog NAME shows a page, dpverdict explain catalog:NAME the program."
    return "\n".join([*lines[1:], "", what, pages])


def _rows(members: list[Entry]) -> list[str]:
    """One line for each entry: its name, whether its claim holds, and as much of its title as fits."""
    widest = max(len(entry.name) for entry in members)
    rows = [f"  {entry.name:<{widest}}  {_VERDICTS[entry.holds]}  {entry.title}" for entry in members]
    return [row if len(row) <= _WIDTH else f"{row[: _WIDTH - 1]}…" for row in rows]


def _page(entry: Entry) -> str:
    fields = [
        ("paper", str(entry.paper)),
        ("called there", entry.algorithm),
        ("claim", f"{entry.promise.text} for neighbours under {entry.adjacency}"),
        ("about", _about(entry)),
        ("parameters", _parameters(entry)),
        ("neighbours", f"{_as_typed(entry.example)} and {_as_typed(entry.neighbour)}"),
        ("the claim", {True: "holds", False: "fails", None: "it is not known whether it holds"}[entry.holds]),
    ]
    fields += [("true is", f"{_known(truth, entry)}{_sentence(truth)}") for truth in entry.truths]
    fields += [("refuted by", _refutation(found)) for found in entry.counterexamples]
    fields += [("found by", _result(result, entry)) for result in entry.published]
    fields += [
        ("black box", entry.why_black_box),
        ("notes", entry.notes),
        ("see also", ", ".join(_related(entry))),
        ("look at it", f"dpverdict explain {CATALOG}{entry.name}"),
        ("run it", f"dpverdict sample {CATALOG}{entry.name} --runs 1e6"),
    ]
    return "\n".join(terminal.page(f"{entry.name}: {entry.title}", fields))


def _related(entry: Entry) -> list[str]:
    """The entries with the same function, which differ in parameters."""
    same = (other for other in entries() if other.mechanism.function is entry.mechanism.function)
    return [other.name for other in same if other.name != entry.name]


def _about(entry: Entry) -> str:
    inputs = f"inputs in {entry.domain}"
    if entry.length is not None:
        inputs = f"vectors of {entry.length} entries in {entry.domain}"
    if entry.mechanism.epsilon_name is None:
        return inputs
    low, comma, high = entry.epsilon.partition(",")
    if not comma:
        return f"{inputs}, epsilon = {low}"
    return f"{inputs}, every epsilon above 0" + ("" if high == "inf" else f" up to {high}")


def _parameters(entry: Entry) -> str:
    given = entry.arguments
    return ", ".join(f"{name} = {given[name]!r}" if name in given else name for name in entry.mechanism.parameter_names)


def _known(truth: Truth, entry: Entry) -> str:
    """The kind of truth and its number, for those that have one: ``exact 5*epsilon = 0.5; ``."""
    loss = truth.loss or ("" if truth.factor is None else f"{truth.factor}*epsilon".removeprefix("1*"))
    number = truth.at(entry.at)
    said = [text for text in (loss, "" if number is None else f"{number:.6g}") if text]
    return f"{truth.kind.value} {' = '.join(said)}; " if said else ""


def _sentence(truth: Truth) -> str:
    about = f"{truth.about}: " if truth.about else ""
    source = f" [{truth.source.key}]" if truth.source else ""
    return f"{about}{truth.sentence}{source}"


def _refutation(found: Counterexample) -> str:
    output = found.output if isinstance(found.output, str) else json.dumps(plain(found.output))
    note = f" ({found.note})" if found.note else ""
    source = f" [{found.source.key}]" if found.source else ""
    pair = f"{_as_typed(found.input)} against {_as_typed(found.neighbour)}"
    return f"epsilon = {found.epsilon}: {pair}, output {output}{note}{source}"


def _result(result: Published, entry: Entry) -> str:
    said = [result.verdict] if result.verdict else []
    if result.lower_bound is not None:
        said.append(f"at least {result.lower_bound:g}")
    if result.seconds is not None:
        said.append(f"{result.seconds:g} s")
    said += [result.note] if result.note else []
    source = "" if result.source == entry.paper else f" [{result.source.key}]"
    return f"{result.tool}, {result.table}: {', '.join(said)}{source}"


def _as_typed(value: object) -> str:
    """An input as it is typed after --input."""
    match value:
        case [_, _, *_] if all(isinstance(item, int | float) and not isinstance(item, bool) for item in value):
            return ",".join(map(str, value))
        case bool() | None | str() | list() | tuple() | dict():
            text = json.dumps(plain(value))
            return f"'{text}'" if set(text) & set('[]{}" ') else text
        case _:
            return str(value)
