"""The command ``dpverdict``: one module for each command, and one place where all of them end.

A command returns the text for standard output, alone or with an exit status, or raises one of our errors.  Exit status:
0 done, 1 refuted or not confirmed, 2 bad input, 3 interrupted, 4 what was required is not there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from dpverdict import __version__
from dpverdict.cli import audit, catalog, distribution, explain, papers, prove, sample
from dpverdict.cli.statuses import BAD_INPUT, DONE, INTERRUPTED
from dpverdict.cli.usage import CLICK_USAGE_ERROR, translated
from dpverdict.errors import DPVerdictError, Interrupted

# What Typer itself returns for Ctrl-C, as shells do: 128 + SIGINT.
_TYPER_INTERRUPTED = 130

application = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
application.command()(audit.audit)
application.command("lower-bound")(audit.lower_bound)
application.command()(explain.explain)
application.command()(sample.sample)
application.command()(distribution.distribution)
application.command()(catalog.catalog)
application.command()(prove.prove)
application.command()(prove.verify)
application.command()(papers.papers)


@application.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="print the version and end")] = False,
) -> None:
    """Judge whether an algorithm is as private as it claims."""
    if version:
        typer.echo(f"dpverdict {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    words = sys.argv[1:] if words is None else list(words)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show ε gets \\u03b5 instead of a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        outcome = application(list(words), standalone_mode=False, prog_name="dpverdict")
    except Interrupted as error:
        print(error, file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    except DPVerdictError as error:
        return _refused(error)
    except CLICK_USAGE_ERROR as error:
        return _refused(translated(error, words))
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    if outcome == _TYPER_INTERRUPTED:
        return _interrupted()
    if isinstance(outcome, tuple):
        return _answered(*outcome)
    return _answered(outcome) if isinstance(outcome, str) else int(outcome or DONE)


def _answered(text: str, status: int = DONE) -> int:
    try:
        print(text, flush=True)  # noqa: T201
    except BrokenPipeError:
        # The reader has seen enough (`dpverdict … | head`).  Python flushes once more at exit: give it a place to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def _refused(error: DPVerdictError) -> int:
    print(error, file=sys.stderr)  # noqa: T201
    return BAD_INPUT


def _interrupted() -> int:
    print("interrupted: nothing was printed, and nothing was kept", file=sys.stderr)  # noqa: T201
    return INTERRUPTED
