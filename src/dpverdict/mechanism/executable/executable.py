"""A program of any language as a mechanism that can be run."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from dpverdict.errors import Excerpt, ExecutableError, OutputError, RunError
from dpverdict.mechanism.black_box import BlackBox, Options
from dpverdict.mechanism.executable.conversation import Conversation, Launch, Limits, Piece
from dpverdict.mechanism.executable.messages import Hello, kind_of
from dpverdict.mechanism.executable.values import to_text
from dpverdict.mechanism.outcome import Raised, freeze, repr_of, to_json
from dpverdict.mechanism.source import Source
from dpverdict.mechanism.tally import Outcomes, listed

SCHEME = "exec:"
_SEEDS = 1 << 64


class Executable(BlackBox):
    """`exec:COMMAND`: a program that answers requests for runs (docs/executables.md).

    It is started at the first run, once in each process that runs it, and ended by `close`, at the end of a `with`,
    or when nothing refers to it.  A request that fails raises ExecutableError and is not repeated; the next one
    starts the program again.  Pickled, it is its command, and starts anew where it is unpickled.
    """

    def __init__(
        self,
        command: str,
        *,
        folder: str | os.PathLike[str] | None = None,
        variables: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> None:
        """`command` is split as a shell would, but no shell runs it; `variables` are added to the environment.

        It runs in `folder`, or in the folder that is current now.  Raises ExecutableError.
        """
        self._launch = Launch(command, _words(command), Path(folder or "").absolute(), dict(variables or {}))
        self._limits = limits or Limits()
        self.name = command
        self.source = Source(f"{SCHEME}{command}", _sha256(self._launch), str(self._launch.folder))
        self._lock = threading.Lock()
        self._conversation: Conversation | None = None

    @property
    def hello(self) -> Hello:
        """What the program says about itself; starts it.  Raises ExecutableError."""
        with self._lock:
            return self._started().hello

    @property
    def replayable(self) -> bool:
        """Whether the same seed gives the same outcomes again: the program takes seeds.  Starts it."""
        return self.hello.seed

    @property
    def process(self) -> int | None:
        """The number of the running process, None if there is none."""
        return None if self._conversation is None else self._conversation.pid

    def run(self, input: object, runs: int, generator: np.random.Generator) -> Outcomes:
        """`runs` independent outcomes, as an array where all are numbers of one type, or rows of them.

        The program's seed is drawn from the generator, if it takes one.  Raises ExecutableError.
        """
        form = self._input_form(input)
        with self._lock:
            conversation = self._started()
            hello = conversation.hello
            if kind_of(form) not in hello.inputs:
                raise self._wrong_kind(form, hello)
            pieces = list[Piece]()
            try:
                while runs > 0:
                    batch = min(runs, hello.max_runs or runs)
                    seed = int(generator.integers(_SEEDS, dtype=np.uint64, endpoint=False)) if hello.seed else None
                    pieces += conversation.ask(form, batch, seed)
                    runs -= batch
            except BaseException:
                self._conversation = None
                raise
        return joined(pieces)

    def failure(self, input: object, generator: np.random.Generator) -> RunError | None:
        """What a single run ends in if that is an error, with what the program last wrote to standard error."""
        outcome = listed(self.run(input, 1, generator))[0]
        if not isinstance(outcome, Raised):
            return None
        error = RunError(
            "RUN-012",
            f"a run of the executable ended in {outcome.exception}",
            place=f"exec:{self.name}, input {repr_of(input)}",
            why="it answered the request with this error as the outcome",
            fix="an input that it takes; or see what it writes to standard error",
        )
        error.traceback = tuple(self._conversation.last_words) if self._conversation else ()
        return error

    def close(self) -> None:
        """End the program; the next run starts it again."""
        with self._lock:
            conversation, self._conversation = self._conversation, None
            if conversation is not None:
                conversation.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._launch, self._limits, self.source)

    def __repr__(self) -> str:
        return f"Executable({self.name!r})"

    def converse(self) -> Conversation:
        """Start the program once more, for a conversation of one's own.  Raises ExecutableError."""
        if _sha256(self._launch) != self.source.sha256:
            raise self._changed()
        return Conversation(self._launch, self._limits)

    def _started(self) -> Conversation:
        conversation = self._conversation
        if conversation is not None and not conversation.is_ours:
            conversation.end()  # this process was forked off: its owner goes on talking to it
            conversation = None
        if conversation is None:
            conversation = self._conversation = self.converse()
        return conversation

    def _changed(self) -> ExecutableError:
        return ExecutableError(
            "EXEC-019",
            "the executable has changed since it was first named",
            place=f"exec:{self.name}",
            why="all runs of a job have to be runs of the same mechanism",
            fix="start the job anew",
        )

    def _input_form(self, input: object) -> object:
        try:
            return to_json(freeze(input))
        except OutputError as error:
            raise ExecutableError(
                "EXEC-017",
                "the input cannot be sent to an executable",
                place=f"exec:{self.name}, input {repr_of(input)}",
                why=error.why,
                fix="a number, boolean, text, None, bytes, or lists and dictionaries of these",
            ) from None

    def _wrong_kind(self, form: object, hello: Hello) -> ExecutableError:
        return ExecutableError(
            "EXEC-016",
            f"the executable does not take a {kind_of(form)}",
            place=f"exec:{self.name}, input {to_text(form):.100}",
            why=f"its hello says that it takes {', '.join(hello.inputs)}",
            fix="an input of such a kind",
        )


def load_executable(target: str, options: Options | None = None, given: Mapping[str, Any] | None = None) -> Executable:
    """The executable that `exec:COMMAND` names.  Raises ExecutableError, also for options that are for functions."""
    command = target.removeprefix(SCHEME)
    for name in given or {}:
        raise _not_for_programs(
            target,
            f"an executable takes no argument {name}",
            "the command has all its parameters",
            f"{target} --{name} …",
        )
    if options is not None and options.observe is not None:
        raise _not_for_programs(
            target,
            "an executable is not observed",
            "its replies are plain values",
            "let the program reply what matters",
        )
    if options is not None and options.exceptions == "error":
        raise _not_for_programs(
            target,
            "the errors of an executable's runs are outcomes",
            "the program decides what is an outcome",
            'let it reply {"id":…,"error":"its type"}, which stops everything; or leave --exceptions out',
        )
    return Executable(command)


def _not_for_programs(target: str, message: str, why: str, fix: str) -> ExecutableError:
    return ExecutableError("EXEC-020", message, place=target, why=why, fix=fix)


def _again(launch: Launch, limits: Limits, source: Source) -> Executable:
    made = Executable(launch.command, folder=launch.folder, variables=launch.variables, limits=limits)
    made.source = source
    return made


def _sha256(launch: Launch) -> str | None:
    """A hash of the program and of all files among its arguments, such as an interpreter's script."""
    first, *others = launch.words
    if "/" not in first:
        first = shutil.which(first, path={**os.environ, **launch.variables}.get("PATH")) or first
    files = [Path(launch.folder, word) for word in (first, *others)]
    hashes = [digest for file in files if (digest := _file_sha256(file))]
    return hashlib.sha256("".join(hashes).encode()).hexdigest() if hashes else None


def _file_sha256(file: Path) -> str | None:
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except (OSError, ValueError):  # no file or no name of one, or one that may be run and not read
        return None


def _words(command: str) -> tuple[str, ...]:
    if os.name != "posix":
        raise ExecutableError(
            "EXEC-018",
            "executables cannot be run on this system",
            place=f"exec:{command}",
            why="process groups, by which everything that a program starts is ended, need a POSIX system",
            fix="Linux or macOS, or a Linux subsystem",
        )
    text = f"{SCHEME}{command}"
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ExecutableError(
            "EXEC-001",
            "the command cannot be split into words",
            excerpt=Excerpt(text, len(text), len(text) + 1, "here"),
            why=f"it is read as a shell reads it, and there is {str(error).lower()}",
            fix="a quote at the end, or a backslash before the one that is meant as a letter",
        ) from None
    if words and words[0]:
        return words
    raise ExecutableError(
        "EXEC-001",
        "there is no command",
        excerpt=Excerpt(text, len(SCHEME), len(SCHEME) + max(1, len(command)), "nothing to run"),
        why="what follows exec: is the program and its arguments",
        fix="exec:./my_mechanism --epsilon 1",
    )


def joined(pieces: list[Piece]) -> Outcomes:
    """One array if all pieces are arrays of one kind of numbers and one width, else one by one."""
    arrays = [piece for piece in pieces if isinstance(piece, np.ndarray)]
    # Of one kind only: NumPy would make floats of integers and floats, and integers of booleans.
    if len(arrays) == len(pieces) and len({(array.dtype.kind, array.shape[1:]) for array in arrays}) == 1:
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    return [outcome for piece in pieces for outcome in listed(piece)]
