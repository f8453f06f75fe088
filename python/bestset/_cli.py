"""The command ``bestset``, as the package installs it: the one of the binary, compiled into the engine."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command with the words of the process; returns its exit code."""
    from . import _core

    return _core.command(["bestset", *sys.argv[1:]])
