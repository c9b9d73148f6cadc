"""Every error that dpverdict shows, drawn as a tree.

DPVerdictError
├── UsageError          USAGE-…   the command line or a call is off
├── TargetError         TARGET-…  a mechanism cannot be found or loaded
├── MechanismError      MECH-…    a mechanism cannot be run or looked into
│   ├── UntraceableError          it cannot become a program: line, reason, what would help
│   ├── UnreadableError  EXACT-…  it is a program, but its probabilities have no exact form here
│   ├── ProgramFileError DIP-…    a `.dip` file is off: line, column
│   ├── RunError         RUN-…    a function cannot be run, or its runs fail, with the traceback
│   ├── OutputError      OUTPUT-… an output is no plain value
│   └── ExecutableError  EXEC-…   a program of any language fails, or breaks the protocol
├── ClaimError          CLAIM-…   a claim, a neighbourhood or a domain is off
├── InputError          INPUT-…   an input or argument does not fit
├── ExecutionError      RUN-…     work failed or hung, or its worker died: job, block, seed
├── RecordError         RECORD-…  the file of finished blocks cannot be used
├── Interrupted         STOP-…    work was stopped; what is finished is kept and can be resumed
├── EvidenceError       EVID-…    counts, an event or an error probability cannot be used as evidence
├── CertificateError    CERT-…    a file is no certificate, or one that this release cannot read
├── SamplesError        SAMPLES-… recorded outputs cannot be read, or do not suffice
└── MissingExtraError   EXTRA-…   an optional package is not installed

Each shows the offending value, where it came from, why it is wrong and a fix:

    InputError[INPUT-001]: every input must be a finite number
      --input 0,nan
                ^^^ got nan
      why: neighbouring inputs differ by a finite amount
      try: --input 0,1
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The text that an error points into, and the part to underline."""

    text: str
    start: int
    end: int
    note: str = ""

    def render(self) -> list[str]:
        """The text and a caret line below it."""
        caret = " " * self.start + "^" * max(1, self.end - self.start)
        return [self.text, f"{caret} {self.note}".rstrip()]


class DPVerdictError(Exception):
    """The root of the tree: a message for people, with a code, a reason and a fix."""

    def __init__(  # noqa: PLR0913 (a message has these parts)
        self, code: str, message: str, *, why: str, fix: str, excerpt: Excerpt | None = None, place: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.why = why
        self.fix = fix
        self.excerpt = excerpt
        self.place = place

    def __str__(self) -> str:
        lines = [f"{type(self).__name__}[{self.code}]: {self.message}"]
        if self.place:
            lines.append(f"  {self.place}")
        if self.excerpt:
            lines += [f"  {line}" for line in self.excerpt.render()]
        lines += [f"  why: {self.why}", f"  try: {self.fix}"]
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross processes; what Exception does by itself would call `__init__` with the message alone.
        return _rebuilt, (type(self), self.args), self.__dict__


def _rebuilt(kind: type[DPVerdictError], arguments: tuple[object, ...]) -> DPVerdictError:
    return kind.__new__(kind, *arguments)


class UsageError(DPVerdictError):
    """The command line or a call is off."""


class TargetError(DPVerdictError):
    """A mechanism cannot be found or loaded."""


class ClaimError(DPVerdictError):
    """A claim, a neighbourhood or a domain is off."""


class InputError(DPVerdictError):
    """An input or an argument does not fit."""


class MechanismError(DPVerdictError):
    """A mechanism cannot be run or looked into."""


class UntraceableError(MechanismError):
    """A mechanism cannot become a program; it can still be run as a black box."""


class UnreadableError(MechanismError):
    """A program whose output probabilities have no exact form that is known here."""


class ProgramFileError(MechanismError):
    """A `.dip` file cannot be read, or breaks a rule of its language."""


class ExecutableError(MechanismError):
    """An executable fails or breaks the protocol: command, process, request, its last lines on standard error."""


class CertificateError(DPVerdictError):
    """A file is no certificate, or one that this release cannot read."""


class ExecutionError(DPVerdictError):
    """Work failed or hung, or its worker died."""

    block: object = None
    """The block that it happened in: job, phase, seed and number."""

    remote_traceback: str = ""
    """Where the work raised, as text, also if that was in another process."""


class RecordError(DPVerdictError):
    """The file of finished blocks cannot be opened, read or written, or belongs to other work."""


class Interrupted(DPVerdictError):
    """Work was stopped on purpose; what it finished is kept if there is a record."""

    finished: int = 0
    """How many blocks are finished."""

    resumable: bool = False
    """Whether the finished blocks are in a record, so that the same call goes on from there."""


class RunError(MechanismError):
    """A function cannot be run, or its runs fail; `traceback` are the lines of what it raised."""

    traceback: tuple[str, ...] = ()

    def __str__(self) -> str:
        below = ["  traceback:", *(f"    {line}" for line in self.traceback)] if self.traceback else []
        return "\n".join([super().__str__(), *below])


class OutputError(MechanismError):
    """An output is no plain value."""


class EvidenceError(DPVerdictError):
    """Counts, an event or an error probability cannot be used as evidence."""


class SamplesError(DPVerdictError):
    """Recorded outputs cannot be read, or do not suffice."""


class MissingExtraError(DPVerdictError):
    """An optional package is not installed."""


def said_by(error: BaseException) -> str:
    """The exception's type and message, on as many lines as it has; the type alone if it cannot be shown."""
    name = type(error).__name__
    try:
        return f"{name}: {error}".rstrip(": ")
    except Exception:  # noqa: BLE001  (somebody else's __str__ must not hide what went wrong)
        return f"{name} (its text cannot be shown)"
