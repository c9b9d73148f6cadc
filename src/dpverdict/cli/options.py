"""The options' values: what is allowed, and what to say when a value is not."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated

import typer

from dpverdict.cli.values import Typed, parse
from dpverdict.errors import InputError, UsageError
from dpverdict.execute.seeds import fresh_seed
from dpverdict.mechanism.loading import FORMS

Target = Annotated[str, typer.Argument(metavar="TARGET", help="catalog:NAME, package.module:name or path/file.py:name")]
Runnable = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help=FORMS,
    ),
]
Input = Annotated[str | None, typer.Option("--input", metavar="I", help="the input: 0,1 or 3 or 1/2 or JSON")]
Length = Annotated[
    str | None, typer.Option("--length", metavar="N", help="an input of N zeros, where the values do not matter")
]
Arguments = Annotated[
    list[str] | None, typer.Option("--arg", metavar="NAME=VALUE", help="a parameter of the mechanism (repeatable)")
]
Json = Annotated[bool, typer.Option("--json", help="print one JSON object and nothing else")]

MOST_RUNS = 10**12
MOST_WORKERS = 64
MOST_LENGTH = 100_000
MOST_SEED = 2**64 - 1


def runs(text: str) -> int:
    """How many runs: a whole number from 1 to 10¹²; 1e6 will do."""
    return _whole(
        Typed("--runs", text),
        1,
        MOST_RUNS,
        "runs are counted one by one, and more would take longer than anybody waits",
    )


def workers(text: str | None) -> int:
    """How many threads, by default as many as there are cores."""
    if text is None:
        return min(MOST_WORKERS, os.cpu_count() or 1)
    return _whole(Typed("--workers", text), 1, MOST_WORKERS, "each worker is a thread or a process on this machine")


def length(text: str | None) -> int | None:
    """How long the input is."""
    if text is None:
        return None
    return _whole(Typed("--length", text), 0, MOST_LENGTH, "an input has a whole number of items")


def seed(text: str) -> int:
    """The seed; the word random takes a fresh one from the operating system."""
    if text.strip().lower() == "random":
        return fresh_seed()
    return _whole(Typed("--seed", text), 0, MOST_SEED, "a seed is a whole number, or the word random")


def seconds(option: str, text: str | None) -> float | None:
    """How long something may take."""
    if text is None:
        return None
    typed = Typed(option, text)
    value = parse(typed)
    if isinstance(value, bool) or not isinstance(value, int | float) or not _fits_positive(value):
        raise InputError(
            "INPUT-028",
            f"{option} takes a number of seconds above 0",
            excerpt=typed.whole(f"got {text.strip()}"),
            why="work that has no time cannot finish",
            fix=f"{option} 60",
        )
    return float(value)


def folder(text: str | None) -> Path | None:
    """The folder for what a command keeps, made if it is not there."""
    if text is None:
        return None
    path = Path(text)
    try:
        if not text.strip():
            raise OSError("it has no name")
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            "USAGE-016",
            f"nothing can be kept in this folder: {error.strerror or error}",
            excerpt=Typed("--out", text).whole(f"got {text}" if text.strip() else "nothing here"),
            why="what is finished is kept there, so that the same command goes on from it",
            fix="--out a-folder-that-can-be-written",
        ) from None
    return path


def epsilon(typed: Typed) -> float:
    """ε as a positive finite number; fractions will do."""
    value = parse(typed)
    if isinstance(value, bool) or not isinstance(value, int | float) or not _fits_positive(value):
        raise InputError(
            "INPUT-021",
            "epsilon must be finite and above 0",
            excerpt=typed.whole(f"got {typed.text.strip()}"),
            why="ε measures privacy loss, and the noise of a mechanism is scaled by 1/ε",
            fix=typed.with_value("0.5"),
        )
    return float(value)


def _fits_positive(value: float) -> bool:
    try:
        return float(value) > 0
    except OverflowError:
        return False


def _whole(typed: Typed, least: int, most: int, why: str) -> int:
    text = typed.text.strip()
    try:
        value = Decimal(text.replace("_", "")) if text.isascii() else Decimal("nan")
    except InvalidOperation:
        value = Decimal("nan")
    # The order matters: only after the bounds are checked is the number small enough to be written out.
    if value.is_finite() and least <= value <= most and value == value.to_integral_value():
        return int(value)
    near = _nearest(value, least, most)
    raise InputError(
        "INPUT-022",
        f"{typed.option} takes a whole number from {least:,} to {most:,}",
        excerpt=typed.whole(f"got {text[:40]}" if text else "nothing here"),
        why=why,
        fix=f"{typed.option} {near}",
    )


def _nearest(value: Decimal, least: int, most: int) -> int:
    if not value.is_finite():
        return max(least, min(1000, most)) if most > MOST_WORKERS else min(4, most)
    if value >= most:
        return most
    return max(least, int(value)) if value > least else least


# --- --arg name=value ----------------------------------------------------------------------------------------------


def arguments(texts: Iterable[str], known: Iterable[str] | None) -> dict[str, object]:
    """The values of the mechanism's parameters, by name; any name will do where None is known."""
    names, values = None if known is None else tuple(known), dict[str, object]()
    for text in texts:
        name = _name(text, names)
        if name in values:
            raise UsageError(
                "USAGE-011",
                f"--arg {name} is given twice",
                excerpt=Typed("--arg", text).whole("a second value"),
                why="a parameter has one value",
                fix=f"keep one of them: --arg {text}",
            )
        head = text.index("=") + 1
        values[name] = parse(Typed(f"--arg {text[:head]}", text[head:]))
    return values


def _name(text: str, names: tuple[str, ...] | None) -> str:
    typed = Typed("--arg", text)
    name, equals, _ = text.partition("=")
    name = name.strip()
    known = names or ()
    example = known[0] if known else "name"
    if not equals or not name:
        raise UsageError(
            "USAGE-010",
            "--arg takes name=value",
            excerpt=typed.whole(f"got {text}" if text else "nothing here"),
            why="the value has to say which parameter it is for",
            fix=f"--arg {name if name in known else example}=1",
        )
    if names is None or name in known:
        return name
    near = difflib.get_close_matches(name, known, n=1)
    value = text.partition("=")[2]
    raise InputError(
        "INPUT-023",
        f"the mechanism has no parameter {name!r}",
        excerpt=typed.excerpt(0, len(name), f"got {name}"),
        why=f"its parameters are {', '.join(known)}" if known else "it has no parameters besides noise and input",
        fix=f"--arg {near[0]}={value}" if near else f"--arg {example}={value}" if known else "leave --arg out",
    )


def with_epsilon(values: Mapping[str, object], name: str | None, text: str | None) -> float | None:
    """The ε to run with: that of --arg, that of --epsilon, or 1; None if the mechanism has none.

    `name` is what the mechanism calls ε, `text` what was typed for --epsilon.
    """
    if text is not None and name is None:
        raise InputError(
            "INPUT-024",
            "the mechanism has no parameter for ε",
            excerpt=Typed("--epsilon", text).whole(f"got {text}"),
            why="--epsilon gives a value to the mechanism's own ε, and it has none",
            fix="leave --epsilon out, or call the parameter epsilon",
        )
    if name is None:
        return None
    if name not in values:
        return epsilon(Typed("--epsilon", "1" if text is None else text))
    if text is not None:
        raise UsageError(
            "USAGE-012",
            f"ε is given twice, by --epsilon and by --arg {name}",
            excerpt=Typed("--epsilon", text).whole(f"beside --arg {name}={values[name]}"),
            why="the mechanism has one ε",
            fix=f"leave out one of them: --epsilon {text}",
        )
    return epsilon(Typed(f"--arg {name}=", str(values[name])))
