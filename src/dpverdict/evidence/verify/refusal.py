"""What the kernel says of a certificate that does not hold."""

from __future__ import annotations


class DoesNotHold(Exception):
    """The certificate does not show what it says; the message is the reason."""
