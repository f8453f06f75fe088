"""The reference of the command line: what `--help` says, command by command."""

import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

HEAD = """\
# Command line

What `bestset --help` and `bestset COMMAND --help` print, generated when the site is built. `bestset COMMAND -h` is shorter,
`bestset man` a manual page, and `bestset completions bash` (or `zsh`, `fish`, …) a script for your shell.

"""


def program() -> Path:
    """The command: the one that is named by BESTSET, or compiled here last, or installed."""
    here = [ROOT / "target" / profile / "bestset" for profile in ("debug", "release")]
    built = sorted((path for path in here if path.exists()), key=lambda path: -path.stat().st_mtime)
    named = os.environ.get("BESTSET") or (built[0] if built else shutil.which("bestset"))
    if named is None:
        raise SystemExit("there is no command bestset: cargo build -p bestset-cli")
    return Path(named)


def help_of(*words: str, checker: bool = False) -> str:
    plain = {**os.environ, "NO_COLOR": "1", "COLUMNS": "84"}
    asked = program().with_name("bestset-check") if checker else program()
    said = subprocess.run([asked, *words, "--help"], capture_output=True, text=True, check=True, env=plain).stdout
    return "\n".join(line.rstrip() for line in said.strip().splitlines())


def write(page: Path) -> None:
    """Writes the page, unless it is there already as it should be."""
    general = help_of()
    listed = general.split("Commands:\n")[1].split("\n\n")[0]
    names = [name for name in re.findall(r"^  (\w+) ", listed, re.MULTILINE) if name != "help"]
    text = HEAD + f"```text\n{general}\n```\n"
    for name in names:
        text += f"\n## {name}\n\n```text\n{help_of(name)}\n```\n"
    if not page.exists() or page.read_text("utf-8") != text:
        page.write_text(text, "utf-8")
