"""The exit statuses of all commands, which others' scripts rely on."""

from __future__ import annotations

DONE, REFUTED, BAD_INPUT, INTERRUPTED, NOT_MET = range(5)

DOES_NOT_HOLD = 1
"""`verify` has no refutation of its own: 1 says that the certificate does not hold."""
