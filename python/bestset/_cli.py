"""The commands ``bestset`` and ``bestset-check``, as the package installs them: those of the binaries, compiled into the engine."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs ``bestset`` with the words of the process; returns its exit code."""
    from . import _core

    return _core.command(["bestset", *sys.argv[1:]])


def check() -> int:
    """Runs the checker of proofs with the words of the process; returns its exit code."""
    from . import _core

    return _core.check_command(["bestset-check", *sys.argv[1:]])
