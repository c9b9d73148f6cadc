"""``dpverdict explain``: the program that a mechanism is, or why it is none."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from dpverdict.cli import options
from dpverdict.cli.subject import Subject, find, find_runnable, plain
from dpverdict.cli.values import Typed
from dpverdict.errors import UntraceableError, UsageError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.black_box import BlackBox, FunctionBox, Options
from dpverdict.mechanism.dip_language.chain import Chain
from dpverdict.mechanism.dip_language.explain_chain import explain_chain
from dpverdict.mechanism.dip_language.program_file import program_or_chain
from dpverdict.mechanism.explain import explain as tree
from dpverdict.mechanism.explain import graphviz as graph
from dpverdict.mechanism.structure import Program
from dpverdict.mechanism.surroundings import user_code
from dpverdict.target import entry_of


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
    entry = entry_of(target)
    if entry is not None and isinstance(entry.mechanism, FunctionBox):
        box = find_runnable(target, arguments, Options())
        return _no_program(
            box, box.input_or_zeros("explain", input_text, options.length(length_text)), entry.why_no_program(), as_json
        )
    subject = find(target, arguments)
    given = subject.input_or_zeros("explain", input_text, options.length(length_text))
    try:
        with user_code():
            program = program_or_chain(subject.mechanism, given, subject.arguments)
    except UntraceableError as error:
        return _no_program(subject, given, error, as_json)
    if isinstance(program, Chain):
        return _chain(subject, given, program, as_json)
    if as_json:
        return json.dumps(_facts(subject, given) | _program_facts(program))
    if graphviz:
        return graph(program)
    return "\n".join([*_header(subject, given), "", tree(program)])


def _header(subject: Subject[Mechanism | BlackBox], given: object) -> list[str]:
    lines = [f"{subject.target} on {json.dumps(given)}"]
    if subject.entry is not None:
        lines.append(subject.entry.title)
    return lines


def _chain(subject: Subject[Mechanism], given: object, chain: Chain, as_json: bool) -> str:
    text = explain_chain(chain, subject.mechanism.name, given)
    if not as_json:
        return "\n".join([*_header(subject, given), "", text])
    return json.dumps(_facts(subject, given) | {"traceable": False, "states": len(chain.states), "chain": text})


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
