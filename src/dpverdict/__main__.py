"""``python -m dpverdict`` is the command ``dpverdict``."""

from __future__ import annotations

import sys

from dpverdict.cli import main

if __name__ == "__main__":
    sys.exit(main())
