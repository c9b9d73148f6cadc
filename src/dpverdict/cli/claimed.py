"""The claim of a command: its options, and what a TARGET brings with it where they say nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from dpverdict.claim import Claim, from_options
from dpverdict.cli.subject import Subject
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.black_box import BlackBox
from dpverdict.mechanism.dip_language.program_file import program_file_of

Claimed = Annotated[
    str | None, typer.Option("--claim", metavar="CLAIM", help="pure:1 or approximate:1,1e-5, instead of --factor")
]
Adjacency = Annotated[
    str | None, typer.Option("--adjacency", metavar="A", help="linf:1, l1:1, substitute:1, any, pairs:FILE.json, …")
]
Domain = Annotated[str | None, typer.Option("--domain", metavar="D", help="the inputs: -1,0,1 or integer:-2,2")]
Length = Annotated[str | None, typer.Option("--length", metavar="N", help="inputs are lists of N of these")]
Epsilon = Annotated[str | None, typer.Option("--epsilon", metavar="E", help="one ε")]
EpsilonRange = Annotated[str | None, typer.Option("--epsilon-range", metavar="LO,HI", help="all ε of a range")]
Factor = Annotated[str | None, typer.Option("--factor", metavar="T", help="claim (T·ε, δ)-differential privacy")]
Delta = Annotated[str | None, typer.Option("--delta", metavar="EXPR", help="δ: 1e-5, exp(-2) or 1/10*exp(-eps)")]

_PROMISE = ("claim", "epsilon", "delta", "factor", "epsilon_range")


def claim_of(given: Mapping[str, str | None], brought: Mapping[str, str]) -> Claim:
    """The claim that was typed; what is not said about the inputs or the promise is as the TARGET has it."""
    typed = {name: text for name, text in given.items() if text is not None}
    promised = any(name in typed for name in _PROMISE)
    kept = {name: text for name, text in brought.items() if not (promised and name in _PROMISE)}
    return from_options({**kept, **typed})


def brought_by(subject: Subject[Mechanism | BlackBox]) -> dict[str, str]:
    """What a program file declares, or a catalogue entry says about its claim.

    A promise that is a multiple of ε is one for every ε.
    """
    file, entry = program_file_of(subject.mechanism), subject.entry
    if entry is None:
        return {} if file is None else file.claimed
    found: dict[str, Any] = {"domain": entry.domain, "adjacency": entry.adjacency}
    if entry.length is not None:
        found["length"] = entry.length
    promise = entry.promise.arguments(entry.at)
    found |= {name: value for name, value in promise.items() if not (name == "delta" and value == 0)}
    if "claim" in promise:
        found["epsilon_range"] = entry.epsilon
    return {name: str(value) for name, value in found.items()}
