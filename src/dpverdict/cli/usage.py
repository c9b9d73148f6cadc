"""Typer's own complaints, in the words and the form of errors.py."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Sequence

import typer

from dpverdict.errors import Excerpt, UsageError

# Typer brings its own copy of click in newer releases and uses the installed one in older releases; the class that
# both raise is the one that the public BadParameter derives from.
CLICK_USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]

EXAMPLES = {
    "audit": "dpverdict audit catalog:svt1 --epsilon 1 --runs 1e5",
    "lower-bound": "dpverdict lower-bound catalog:laplace --epsilon 1 --runs 1e5",
    "explain": "dpverdict explain catalog:svt1 --length 3",
    "sample": "dpverdict sample catalog:svt1 --input 0,1,0 --runs 1e6",
    "catalog": "dpverdict catalog svt1",
    "distribution": "dpverdict distribution catalog:svt1 --input 0,1",
    "prove": "dpverdict prove catalog:svt1 --domain -1,0,1 --length 3",
    "verify": "dpverdict verify dpverdict-out/svt1-proved-0123abcd.json",
    "papers": "dpverdict papers dipc --quick",
}


def translated(error: Exception, words: Sequence[str]) -> UsageError:
    """The same complaint as one of ours, pointing at the word it is about."""
    command = next((word for word in words if word in EXAMPLES), None)
    message = _message(error)
    match type(error).__name__:
        case "NoSuchOption":
            return _no_such_option(error, command, words)
        case "MissingParameter":
            return _missing(error, command, words)
        case "BadOptionUsage":
            return _bad_option(str(getattr(error, "option_name", "")), message, command, words)
    if message.startswith("No such command"):
        return _no_such_command(words)
    if "extra argument" in message:
        return _extra(message, command, words)
    return UsageError(
        "USAGE-001",
        message.rstrip("."),
        excerpt=_underlined(words, None, "here"),
        why="the command line does not have the form that the command expects",
        fix=EXAMPLES.get(command or "", "dpverdict --help"),
    )


def _message(error: Exception) -> str:
    render = getattr(error, "format_message", None)
    return str(render()) if render is not None else str(error)


def _no_such_option(error: Exception, command: str | None, words: Sequence[str]) -> UsageError:
    option, known = str(getattr(error, "option_name", "")), _options(error)
    near = difflib.get_close_matches(option, known, n=1)
    what = command or "dpverdict"
    return UsageError(
        "USAGE-002",
        f"{what} has no option {option}",
        excerpt=_underlined(words, option, f"got {option}"),
        why=f"the options of {what} are {', '.join(known)}",
        fix=near[0] if near else EXAMPLES.get(command or "", "dpverdict --help"),
    )


def _options(error: Exception) -> list[str]:
    """The long options of the command that complains."""
    parameters = getattr(getattr(getattr(error, "ctx", None), "command", None), "params", ())
    return [name for one in parameters for name in one.opts if name.startswith("--")] + ["--help"]


def _missing(error: Exception, command: str | None, words: Sequence[str]) -> UsageError:
    parameter = getattr(error, "param", None)
    options = [name for name in getattr(parameter, "opts", ()) if name.startswith("-")]
    name = options[0] if options else str(getattr(parameter, "metavar", None) or "an argument")
    return UsageError(
        "USAGE-003",
        f"{name} is missing",
        excerpt=_underlined(words, None, f"{name} belongs here"),
        why=f"{command} cannot do without it" if command else "the command cannot do without it",
        fix=EXAMPLES.get(command or "", "dpverdict --help"),
    )


def _bad_option(option: str, message: str, command: str | None, words: Sequence[str]) -> UsageError:
    needs = "requires" in message
    return UsageError(
        "USAGE-004",
        f"{option} needs a value" if needs else message.rstrip("."),
        excerpt=_underlined(words, option, "no value here" if needs else "here"),
        why="the option's value is the next word" if needs else "the option is a switch: it is there or not",
        fix=EXAMPLES.get(command or "", "dpverdict --help") if needs else option,
    )


def _no_such_command(words: Sequence[str]) -> UsageError:
    word = next((word for word in words if not word.startswith("-")), "")
    near = difflib.get_close_matches(word.lower(), EXAMPLES, n=1)
    return UsageError(
        "USAGE-005",
        f"no command is called {word!r}",
        excerpt=_underlined(words, word, f"got {word}"),
        why=f"the commands are {', '.join(EXAMPLES)}",
        fix=EXAMPLES[near[0]] if near else "dpverdict --help",
    )


def _extra(message: str, command: str | None, words: Sequence[str]) -> UsageError:
    listed = re.search(r"\((.*)\)\s*\.?$", message, re.DOTALL)
    first = listed[1].split(" ")[0] if listed else ""
    return UsageError(
        "USAGE-006",
        f"{command or 'dpverdict'} does not know what to do with {first!r}",
        excerpt=_underlined(words, first, "one word too many"),
        why="values follow an option, and words that belong together are quoted",
        fix=EXAMPLES.get(command or "", "dpverdict --help"),
    )


def _underlined(words: Sequence[str], wanted: str | None, note: str) -> Excerpt:
    """The command line, with the wanted word underlined (the end of the line if there is none)."""
    quoted = [shlex.quote(word) for word in ("dpverdict", *words)]
    text = " ".join(quoted)
    # From the back: the word that is too many is rarely the first of its name.
    for position in range(len(words), 0, -1):
        if wanted is not None and (words[position - 1] == wanted or words[position - 1].startswith(f"{wanted}=")):
            start = sum(len(word) + 1 for word in quoted[:position])
            return Excerpt(text, start, start + len(quoted[position]), note)
    return Excerpt(text, len(text) + 1, len(text) + 2, note)
