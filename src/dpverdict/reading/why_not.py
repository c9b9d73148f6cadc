"""Why a mechanism cannot be read in a given way: the reason, and what would help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from dpverdict.errors import MechanismError, UntraceableError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.abilities import Compilable, Sampled
from dpverdict.mechanism.graph import draws_of
from dpverdict.mechanism.structure import Law, Program

Reading: TypeAlias = Literal["sample", "gpu"]


def why_not(
    mechanism: Mechanism, input: Any, reading: Reading, arguments: Mapping[str, Any] | None = None
) -> MechanismError | None:
    """Why this reading is closed to the mechanism on this input, or None if it is open.

    An `UntraceableError` says that there is no program at all, so that every reading is closed.
    """
    try:
        return unreadable(mechanism.program_for(input, arguments), reading)
    except UntraceableError as error:
        return error


def unreadable(program: Program, reading: Reading) -> MechanismError | None:
    """Why this reading is closed to a program: the first law that lacks the ability which the reading needs."""
    for draw in draws_of(program.root):
        if not isinstance(draw.law, Sampled):
            return _not_sampled(program, draw.law)
        if reading == "gpu" and not isinstance(draw.law, Compilable):
            return _not_compilable(program, draw.law)
    return None


def _not_sampled(program: Program, law: Law) -> MechanismError:
    return MechanismError(
        "MECH-110",
        f"{program.name} draws from the law {law.name}, which cannot be sampled",
        why="the law has no method `sample` (abilities.Sampled)",
        fix="give the law that ability, or draw from another law",
    )


def _not_compilable(program: Program, law: Law) -> MechanismError:
    return MechanismError(
        "MECH-101",
        f"{program.name} draws from the law {law.name}, which cannot be compiled",
        why="a compiled kernel draws a fixed amount of noise, and the law is sampled in another way, such as by "
        "rejection (abilities.Compilable)",
        fix="sample this program with NumPy, or draw from another law",
    )
