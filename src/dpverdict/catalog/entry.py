"""What the catalogue says about one published mechanism."""

from __future__ import annotations

from dataclasses import dataclass

from dpverdict.mechanism import Mechanism


@dataclass(frozen=True, slots=True)
class Paper:
    """A publication: its key in docs/references.bib, and a line for people."""

    key: str
    readable: str

    def __str__(self) -> str:
        return f"{self.readable} [{self.key}]"


@dataclass(frozen=True, slots=True)
class Entry:
    """One mechanism with its claim and with what is known to be true of it.

    `claim` is what the publication promises, as a guarantee and a neighbourhood in which `epsilon` stands for the
    mechanism's parameter; `truth` is what holds, with the source; `published` are the figures of tools that looked
    at it before.  `example` and `neighbour` are two neighbouring inputs; `vector` says whether inputs are vectors.
    """

    name: str
    title: str
    mechanism: Mechanism
    paper: Paper
    claim: str
    truth: str
    vector: bool
    example: object
    neighbour: object
    published: str
    notes: str
