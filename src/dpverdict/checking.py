"""Checking a certificate again, whatever backs it."""

from __future__ import annotations

from pathlib import Path

from dpverdict import proving
from dpverdict.auditing import verdicts
from dpverdict.evidence.certificate import Certificate, read
from dpverdict.evidence.verify.counts import KIND
from dpverdict.proving import Verification, verified


def verify(path: str | Path) -> Verification:
    """Derive a certificate again from what it holds: a proof, a counterexample, or counts of runs."""
    return verified(read(str(path)), _check)


def _check(made: Certificate) -> int | None:
    if made.evidence.get("kind") != KIND:
        return proving.check(made)
    verdicts.check(made)
    return None
