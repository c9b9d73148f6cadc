"""Why a mechanism cannot be read in a given way: the reason, and what would help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from dpverdict.errors import MechanismError, UnreadableError, UntraceableError
from dpverdict.mechanism import Mechanism
from dpverdict.mechanism.abilities import Compilable, Sampled
from dpverdict.mechanism.graph import draws_of
from dpverdict.mechanism.structure import Law, Program

Reading: TypeAlias = Literal["sample", "gpu", "exact"]


def why_not(
    mechanism: Mechanism, input: Any, reading: Reading, arguments: Mapping[str, Any] | None = None
) -> MechanismError | None:
    """Why this reading is closed to the mechanism on this input, or None if it is open.

    An `UntraceableError` says that there is no program at all, so that every reading is closed; the exact one takes
    chains of states as well.
    """
    if reading == "exact":
        return _not_exact(mechanism, input, arguments)
    try:
        program = mechanism.program_for(input, arguments)
    except UntraceableError as error:
        return error
    return unreadable(program, reading)


def _not_exact(mechanism: Mechanism, input: Any, arguments: Mapping[str, Any] | None) -> MechanismError | None:
    from dpverdict.reading.exact.read import exact_reading

    try:
        exact = exact_reading(mechanism, input, arguments)
        for within in exact.ranges(input):
            exact.distribution(input, within)
    except (UntraceableError, UnreadableError) as error:
        return error
    return None


def unreadable(program: Program, reading: Literal["sample", "gpu"]) -> MechanismError | None:
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
