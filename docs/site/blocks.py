"""Runs the blocks of the pages, and compares what they print with what the pages say: python docs/site/blocks.py [--update] [PAGE ...]

A page is run from its top in one folder of its own. ``python`` blocks share their names; a ``text`` block directly below one is what it
prints. In ``console`` blocks lines that begin with ``$ `` are commands and the lines below them what they print. `…` in what is said
stands for anything. ``r`` blocks share their names, too, and are run where R has the package (`make r`). ``rust`` blocks are run by rustdoc
(crates/bestset-data). With --update what is said is replaced where it is not true.
"""

import contextlib
import functools
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "python")]

import commands  # noqa: E402

#: Languages of blocks that are run, here or by rustdoc, or said.
KNOWN = {"python", "console", "text", "r", "rust"}
#: Commands that install take minutes: they are for the reader to run.
INSTALLING = {"install.md": {"sh", "toml"}, "index.md": {"sh"}}
FENCE = re.compile(r"^(?P<blanks> *)```(?P<language>[\w{}-]*)[^\n]*\n(?P<body>.*?)^(?P=blanks)```[ ]*$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """The pages that are written by hand."""
    found = [path for path in HERE.rglob("*.md") if not {"_build", "generated"} & set(path.relative_to(HERE).parts)]
    return sorted(path for path in found if path.name not in ("command-line.md", "r.md", "README.md"))


def same(said: str, printed: str) -> bool:
    """Whether a text is what was printed; … stands for anything."""
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    wanted = [line.rstrip() for line in said.strip("\n").splitlines()]
    # Numbers are set to the right: the blanks before one that is left out belong to it.
    pattern = ".*?".join(re.escape(part) for part in re.sub(" *…", "…", "\n".join(wanted)).split("…"))
    return re.fullmatch(pattern, "\n".join(lines), re.DOTALL) is not None


@functools.cache
def has_r() -> bool:
    """Whether R has the package."""
    try:
        found = subprocess.run(["Rscript", "-e", "library(bestset)"], capture_output=True).returncode == 0
    except FileNotFoundError:
        found = False
    if not found:
        print("blocks of R are not run: R, or its package bestset (make r), is missing", file=sys.stderr)
    return found


class Page:
    """A page while it is run."""

    def __init__(self, path: Path, update: bool) -> None:
        self.path, self.update, self.text = path, update, path.read_text("utf-8")
        self.wrong: list[str] = []
        self.space: dict[str, object] = {"__name__": "page"}
        self.r_blocks = ""

    def python(self, code: str, line: int) -> str:
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * (line - 1) + code, str(self.path), "exec"), self.space)
        except Exception:
            self.wrong.append(f"{self.path.name}:{line}: {traceback.format_exc(limit=-1)}")
        return out.getvalue()

    def shell(self, command: str, line: int) -> str:
        place = f"{commands.program().parent}{os.pathsep}{os.environ['PATH']}"
        plain = {**os.environ, "PATH": place, "NO_COLOR": "1", "COLUMNS": "120", "PYTHONPATH": str(ROOT / "python")}
        said = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(["bash", "-c", command], text=True, env=plain, **said)
        if done.returncode not in (0, 3) and "echo $?" not in command:
            self.wrong.append(f"{self.path.name}:{line}: exit code {done.returncode} of {command}\n{done.stdout}")
        return done.stdout

    def r(self, code: str, line: int) -> str | None:
        """What a block prints after those before it; nothing is known without R."""
        if not has_r():
            return None
        before = f"invisible(utils::capture.output({{\n{self.r_blocks}}}))\n"
        Path("block.R").write_text(f"options(width = 120)\n{before}{code}", "utf-8")
        done = subprocess.run(["Rscript", "--vanilla", "block.R"], text=True, capture_output=True)
        if done.returncode != 0:
            self.wrong.append(f"{self.path.name}:{line}: {done.stderr}")
        self.r_blocks += code
        return done.stdout

    def compare(self, said: str, printed: str, line: int) -> str:
        """What should be said."""
        if same(said, printed):
            return said
        if not self.update:
            self.wrong.append(f"{self.path.name}:{line}: the page says\n{said}\nbut it is\n{printed}")
        return "\n".join(line.rstrip() for line in printed.strip("\n").splitlines()) + "\n"

    def console(self, body: str, line: int) -> str:
        made = ""
        for part in re.split(r"^(?=\$ )", body, flags=re.MULTILINE):
            if not part.startswith("$ "):
                made += part
                continue
            # A command ends where its line does, unless that ends in a backslash.
            command, said = re.fullmatch(r"\$ ((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL).groups()
            printed = self.shell(command, line)
            made += f"$ {command}\n"
            made += (self.compare(said, printed, line) if said.strip() or self.update else "") if printed.strip() else ""
        return made

    def run(self) -> list[str]:
        """What is wrong on the page."""
        parts, end, printed = [], 0, None
        for block in FENCE.finditer(self.text):
            language, blanks, body = block["language"], block["blanks"], block["body"]
            line = self.text.count("\n", 0, block.start()) + 2
            between = self.text[end : block.start()]
            plain = re.sub(rf"^{blanks}", "", body, flags=re.MULTILINE)
            told = printed if language == "text" and not between.strip() else None
            printed, made = None, plain
            if language == "python":
                printed = self.python(plain, line)
            elif language == "r":
                printed = self.r(plain, line)
            elif language == "console":
                made = self.console(plain, line)
            elif told is not None:
                made = self.compare(plain, told, line)
            elif not language.startswith("{") and language not in KNOWN | INSTALLING.get(self.path.name, set()):
                self.wrong.append(f"{self.path.name}:{line}: a block of {language or 'no language'} is not run by anything")
            indented = re.sub(r"^(?=.)", blanks, made, flags=re.MULTILINE)
            parts += [between, self.text[block.start() : block.start("body")], indented, self.text[block.end("body") : block.end()]]
            end = block.end()
        if self.update:
            self.path.write_text("".join(parts) + self.text[end:], "utf-8")
        return self.wrong


def check(path: Path, update: bool = False) -> list[str]:
    """Runs a page in a folder of its own; what is wrong with it."""
    was = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return Page(path, update).run()
        finally:
            os.chdir(was)


def main() -> None:
    os.environ.setdefault("MPLBACKEND", "Agg")
    update = "--update" in sys.argv
    named = [Path(word).resolve() for word in sys.argv[1:] if not word.startswith("-")]
    wrong = []
    for path in named or pages():
        found = check(path, update)
        print(f"{path.relative_to(HERE)}: {'wrong' if found else 'as it says'}", flush=True)
        wrong += found
    sys.exit("\n\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
