"""``dpverdict explain``: the program that a mechanism is, or why it is none."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from dpverdict.cli import options
from dpverdict.cli.subject import Subject, find, find_runnable, plain
from dpverdict.cli.values import Typed
from dpverdict.errors import InputError, UntraceableError, UsageError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.black_box import BlackBox, FunctionBox, Options
from dpverdict.mechanism.explain import explain as tree
from dpverdict.mechanism.explain import graphviz as graph
from dpverdict.mechanism.structure import Program
from dpverdict.mechanism.surroundings import user_code
from dpverdict.target import entry_of


def explain(
    target: options.Target,
    input_text: options.Input = None,
    length_text: Annotated[
        str | None, typer.Option("--length", metavar="N", help="an input of N zeros, where the values do not matter")
    ] = None,
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
    entry = entry_of(target)
    if entry is not None and isinstance(entry.mechanism, FunctionBox):
        box = find_runnable(target, arguments, Options())
        return _no_program(box, _input(box, input_text, options.length(length_text)), entry.why_no_program(), as_json)
    subject = find(target, arguments)
    given = _input(subject, input_text, options.length(length_text))
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


def _input(subject: Subject[Mechanism | BlackBox], text: str | None, length: int | None) -> object:
    if text is not None and length is not None:
        raise UsageError(
            "USAGE-014",
            "the input is given twice, by --input and by --length",
            excerpt=Typed("--input", f"{text} --length {length}").whole("got both"),
            why="--length N stands for an input of N zeros",
            fix=f"leave out one of them: --input {text}",
        )
    if text is not None:
        return subject.input_from(text)
    example = subject.example
    if length is not None:
        fits = isinstance(example, list) and len(example) == length and subject.entry is None
        return example if fits else [0] * length
    if example is not None:
        return example
    raise InputError(
        "INPUT-025",
        "the mechanism needs an input to be looked into",
        excerpt=Typed("dpverdict explain", subject.target).whole("neither --input nor --length"),
        why="only the input's shape matters to most mechanisms, but nothing here says whether it is a number or a list",
        fix="--length 3 for a list of three numbers, or --input 0 for a number",
    )


def _header(subject: Subject[Mechanism | BlackBox], given: object) -> list[str]:
    lines = [f"{subject.target} on {json.dumps(given)}"]
    if subject.entry is not None:
        lines.append(subject.entry.title)
    return lines


def _no_program(subject: Subject[Mechanism | BlackBox], given: object, error: UntraceableError, as_json: bool) -> str:
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


def _facts(subject: Subject[Mechanism | BlackBox], given: object) -> dict[str, object]:
    name = subject.epsilon_name
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
