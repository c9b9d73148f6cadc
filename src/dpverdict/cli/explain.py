"""``dpverdict explain``: the program that a mechanism is, or why it is none."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from dpverdict.cli import options
from dpverdict.cli.subject import Subject, find, plain
from dpverdict.cli.values import Typed
from dpverdict.errors import UntraceableError, UsageError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.explain import explain as tree
from dpverdict.mechanism.explain import graphviz as graph
from dpverdict.mechanism.structure import Program
from dpverdict.mechanism.surroundings import user_code


def explain(
    target: options.Target,
    input_text: options.Input = None,
    length_text: options.Length = None,
    arguments: options.Arguments = None,
    graphviz: Annotated[bool, typer.Option("--graphviz", help="print the program as Graphviz text")] = False,
    as_json: options.Json = False,
) -> str:
    """Show a mechanism as a program, or why it is none."""
    if graphviz and as_json:
        raise UsageError(
            "USAGE-013",
            "--graphviz and --json do not go together",
            excerpt=Typed("--graphviz", "--json").whole("got both"),
            why="each decides alone what is on standard output",
            fix="--json, whose key graphviz holds the same text",
        )
    subject = find(target, arguments)
    given = subject.input_or_zeros("explain", input_text, options.length(length_text))
    try:
        with user_code():
            program = subject.mechanism.program_for(given, subject.arguments)
    except UntraceableError as error:
        return _no_program(subject, given, error, as_json)
    if as_json:
        return json.dumps(_facts(subject, given) | _program_facts(program))
    if graphviz:
        return graph(program)
    return "\n".join([*_header(subject, given), "", tree(program)])


def _header(subject: Subject[Mechanism], given: object) -> list[str]:
    lines = [f"{subject.target} on {json.dumps(given)}"]
    if subject.entry is not None:
        lines.append(subject.entry.title)
    return lines


def _no_program(subject: Subject[Mechanism], given: object, error: UntraceableError, as_json: bool) -> str:
    if not as_json:
        verdict = "This mechanism is no program, but it can still be run:"
        return "\n".join([*_header(subject, given), "", verdict, "", str(error)])
    reason = {
        "code": error.code,
        "message": error.message,
        "place": error.place,
        "line": error.excerpt.text.strip() if error.excerpt else None,
        "why": error.why,
        "fix": error.fix,
    }
    return json.dumps(_facts(subject, given) | {"traceable": False, "reason": reason})


def _facts(subject: Subject[Mechanism], given: object) -> dict[str, object]:
    name = subject.mechanism.epsilon_name
    return {
        "target": subject.target,
        "name": subject.mechanism.name,
        "input": given,
        "arguments": plain(subject.arguments),
        "epsilon": None if name is None else subject.arguments.get(name, "symbolic"),
    }


def _program_facts(program: Program) -> dict[str, object]:
    return {
        "traceable": True,
        "inputs": "symbolic" if program.why_concrete is None else "concrete",
        "why_concrete": program.why_concrete,
        "paths": program.paths,
        "decimals": list(program.decimals),
        "tree": tree(program),
        "graphviz": graph(program),
    }
