"""``dpverdict catalog``: the published mechanisms, and a page about each."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from dpverdict.catalog import Entry, entries
from dpverdict.cli import options
from dpverdict.cli.subject import plain
from dpverdict.report import terminal
from dpverdict.target import CATALOG, entry_of


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


def _json(listed: tuple[Entry, ...]) -> str:
    return json.dumps({"entries": [_facts(entry) for entry in listed]})


def _facts(entry: Entry) -> dict[str, object]:
    return {
        "name": entry.name,
        "title": entry.title,
        "paper": str(entry.paper),
        "claim": entry.claim,
        "expected": entry.truth,
        "vector": entry.vector,
        "example": plain(entry.example),
        "neighbour": plain(entry.neighbour),
        "parameters": list(entry.mechanism.parameter_names),
        "published": entry.published,
        "notes": entry.notes,
    }


def _list(listed: tuple[Entry, ...]) -> str:
    lines = terminal.table(("name", "what it is"), [(entry.name, entry.title) for entry in listed])
    return "\n".join([*lines, "", "dpverdict catalog NAME shows a page, dpverdict explain catalog:NAME the program."])


def _page(entry: Entry) -> str:
    example = _as_typed(entry.example)
    fields = (
        ("paper", str(entry.paper)),
        ("claim", entry.claim),
        ("true is", entry.truth),
        ("published", entry.published),
        ("parameters", ", ".join(entry.mechanism.parameter_names)),
        ("neighbours", f"{_as_typed(entry.example)} and {_as_typed(entry.neighbour)}"),
        ("notes", entry.notes),
        ("look at it", f"dpverdict explain {CATALOG}{entry.name} --input {example}"),
        ("run it", f"dpverdict sample {CATALOG}{entry.name} --input {example} --runs 1e6"),
    )
    return "\n".join(terminal.page(f"{entry.name}: {entry.title}", fields))


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
