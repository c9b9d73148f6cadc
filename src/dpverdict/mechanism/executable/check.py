"""Whether an executable speaks the protocol: for those who write one.

    python -m dpverdict.mechanism.executable.check './geometric 1.0' --input 0

Ends with status 0 if nothing is wrong, 1 if something is, 2 if there is nothing to check.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from dpverdict.errors import DPVerdictError, ExecutableError
from dpverdict.mechanism.executable.conversation import Conversation, Limits, Piece
from dpverdict.mechanism.executable.executable import Executable, joined
from dpverdict.mechanism.executable.messages import Hello
from dpverdict.mechanism.outcome import Outcome, freeze, key, to_json
from dpverdict.mechanism.tally import listed

_EXAMPLES = {"number": 0, "list": [0, 0], "boolean": True, "string": "text", "object": {"key": 0}, "null": None}
_SOME, _MANY = 500, 100_000
_SEED, _OTHER_SEED = 2**63 + 12345, 1
_LATE = 0.3
"""Seconds in which output that belongs to no request would come."""


class Judgement(Enum):
    """What a check found."""

    RIGHT = "right"
    DOUBTFUL = "look"
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check, and what it found."""

    judgement: Judgement
    what: str
    detail: str = ""

    def __str__(self) -> str:
        detail = "".join(f"\n         {line}" for line in self.detail.splitlines())
        return f"{self.judgement.value:6} {self.what}{detail}"


class _Checks:
    """The checks, one after the other, on an executable that is started anew after each mistake."""

    def __init__(self, executable: Executable, input: object, hello: Hello) -> None:
        self._executable = executable
        self._input = input
        self._hello = hello
        self._conversation: Conversation | None = None

    def ask(self, runs: int, seed: int = _SEED, input: object = ...) -> list[Outcome]:
        if self._conversation is None:
            self._conversation = self._executable.converse()
        form = to_json(freeze(self._input if input is ... else input))
        pieces, asked = list[Piece](), min(runs, self._hello.max_runs or runs)
        try:
            pieces = self._conversation.ask(form, asked, seed if self._hello.seed else None)
        except BaseException:
            self._conversation = None
            raise
        return listed(joined(pieces))

    def all(self) -> Iterator[Finding]:
        yield self._tried("answers a request for one run", lambda: self.ask(1))
        yield self._tried(f"answers a request for {_SOME} runs", lambda: self.ask(_SOME))
        yield self._tried("answers several requests in turn", lambda: [self.ask(runs) for runs in (1, 2, 3)])
        yield self._tried(f"answers a request for {_MANY} runs, or for its max_runs", lambda: self.ask(_MANY))
        yield from self._seeds() if self._hello.seed else self._without_seeds()
        yield self._silence()
        yield self._end()
        if "object" in self._hello.inputs:
            yield self._unexpected_input()

    def _tried(self, what: str, attempt: Callable[[], object]) -> Finding:
        try:
            attempt()
        except ExecutableError as error:
            return Finding(Judgement.WRONG, what, str(error))
        return Finding(Judgement.RIGHT, what)

    def _compared(self, what: str, other: Callable[[], list[Outcome]], alike: bool, otherwise: Finding) -> Finding:
        try:
            first, second = self.ask(_SOME), other()
        except ExecutableError as error:
            return Finding(Judgement.WRONG, what, str(error))
        same = [key(outcome) for outcome in first] == [key(outcome) for outcome in second]
        return Finding(Judgement.RIGHT, what) if same == alike else otherwise

    def _seeds(self) -> Iterator[Finding]:
        reason = 'a hello with "seed":true promises that outcomes depend on input, runs and seed alone'
        for what, other in (
            ("gives the same outcomes for the same seed", self._repeated),
            ("gives the same outcomes for the same seed after a new start", self._restarted),
        ):
            yield self._compared(what, other, True, Finding(Judgement.WRONG, what, reason))
        what = "gives other outcomes for another seed"
        doubt = Finding(Judgement.DOUBTFUL, what, "it did not: the seed is ignored, or this input leaves no noise")
        yield self._compared(what, lambda: self.ask(_SOME, _OTHER_SEED), False, doubt)

    def _without_seeds(self) -> Iterator[Finding]:
        for what, other in (
            ("gives other outcomes when asked again", lambda: self.ask(_SOME)),
            ("gives other outcomes after a new start", self._restarted),
        ):
            reason = "it did not: it has a fixed seed (then runs are not independent), or this input leaves no noise"
            yield self._compared(what, other, False, Finding(Judgement.DOUBTFUL, what, reason))

    def _repeated(self) -> list[Outcome]:
        self.ask(3, _OTHER_SEED)
        return self.ask(_SOME)

    def _restarted(self) -> list[Outcome]:
        self._stop()
        return self.ask(_SOME)

    def _silence(self) -> Finding:
        what = "writes nothing that was not asked for"

        def wait() -> None:
            self.ask(1)
            time.sleep(_LATE)
            assert self._conversation is not None
            conversation, self._conversation = self._conversation, None
            conversation.silence()
            self._conversation = conversation

        return self._tried(what, wait)

    def _end(self) -> Finding:
        what = "ends when its standard input ends"
        started = self._tried(what, lambda: self.ask(1))
        if started.judgement is Judgement.WRONG:
            return started
        status = self._stop()
        if status == 0:
            return Finding(Judgement.RIGHT, what)
        if status is None:
            return Finding(Judgement.WRONG, what, "it had to be killed")
        return Finding(Judgement.DOUBTFUL, what, f"with status {status}, where 0 is expected")

    def _unexpected_input(self) -> Finding:
        what = "answers an input that makes no sense, with outcomes or an error"
        try:
            self.ask(1, input={"unexpected": [None, {"$key": float("nan")}]})
        except ExecutableError as error:
            if error.code != "EXEC-013":
                return Finding(Judgement.WRONG, what, str(error))
        self._stop()
        return Finding(Judgement.RIGHT, what)

    def _stop(self) -> int | None:
        conversation, self._conversation = self._conversation, None
        return None if conversation is None else conversation.end()


def check(executable: Executable, input: object = ...) -> Iterator[Finding]:
    """What is right and wrong about an executable; without an input, one of a kind that its hello names."""
    what = "says hello"
    try:
        hello = executable.hello
    except ExecutableError as error:
        yield Finding(Judgement.WRONG, what, str(error))
        return
    finally:
        executable.close()
    limit = "any number" if hello.max_runs is None else f"at most {hello.max_runs}"
    takes = f"seeds: {hello.seed}, frames: {hello.frames}, runs in a request: {limit}"
    yield Finding(Judgement.RIGHT, what, f"{hello.name or 'no name'}; {takes}; inputs: {', '.join(hello.inputs)}")
    if input is ...:
        input = next(example for kind, example in _EXAMPLES.items() if kind in hello.inputs)
    yield from _Checks(executable, input, hello).all()


def main(words: Sequence[str] | None = None) -> int:
    """The command line of this module."""
    options = argparse.ArgumentParser(prog="executable.check", description="Does a program speak the protocol?")
    options.add_argument("command", help="the program with its arguments, as one word: './geometric 1.0'")
    options.add_argument("--input", metavar="JSON", help="an input that it takes (default: by its hello)")
    options.add_argument("--seconds", type=float, default=Limits().start_seconds, help="what it may take to answer")
    given = options.parse_args(words)
    try:
        content = ... if given.input is None else json.loads(given.input)
        executable = Executable(given.command, limits=Limits(given.seconds, given.seconds))
    except (ValueError, DPVerdictError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    wrong = False
    for finding in check(executable, content):
        sys.stdout.write(f"{finding}\n")
        sys.stdout.flush()
        wrong = wrong or finding.judgement is Judgement.WRONG
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
