"""Checks that docs/MATH.md and the code cite each other truly; lists what is wrong and exits 1."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "crates/bestset/src"
# `MATH 3.5`, `MATH 3.5, 6.5`, `MATH 3.10–3.13`; an equation ends its line, or its row of a table.
CITATION = re.compile(r"MATH (\d+\.\d+(?:(?:–|, )\d+\.\d+)*)")
EQUATION = re.compile(r"^(?:    |\|).*\((\d+\.\d+)\)(?: \|)?$")


def numbers(citation):
    """The numbers of a citation, ranges written out."""
    for first, last in re.findall(r"(\d+\.\d+)(?:–(\d+\.\d+))?", citation):
        section, low = first.split(".")
        for k in range(int(low), int((last or first).split(".")[1]) + 1):
            yield f"{section}.{k}"


def topics(lines):
    """Of every topic: the line of its "In the code", its equations, and the text."""
    equations, code, start = [], [], 0
    for at, line in enumerate([*lines, ""], 1):
        if code and not line.strip():
            yield start, equations, " ".join(code)
            equations, code = [], []
        elif line.startswith("#"):
            equations = []
        elif line.startswith("**In the code.**") or code:
            start = start if code else at
            code.append(line)
        elif equation := EQUATION.match(line):
            equations.append(equation[1])


def files(name):
    """The files that a path names, below the core or the root; the path itself where there is none."""
    choice = re.search(r"\{(.*)\}", name)
    names = [name.replace(choice[0], part) for part in choice[1].split(",")] if choice else [name]
    return [next((path for path in (CORE / n, ROOT / n) if path.exists()), n) for n in names]


def misplaced(text):
    """The paths of an "In the code" that do not exist, and the names that their files do not define."""
    sources = {}
    for name in re.findall(r"`([^`]+)`", text):
        if "/" in name or name.endswith(".rs"):
            found = files(name)
            yield from (f"there is no {path}" for path in found if isinstance(path, str))
            sources = {path: path.read_text("utf-8") for path in found if isinstance(path, Path) and path.is_file()}
            continue
        owner, _, item = name.rpartition("::")
        for path, source in sources.items():
            known = re.search(rf"\b(fn|struct|enum|trait) {item}\b", source)
            if not known or (owner and not re.search(rf"\b(impl|trait|struct|enum)\b.*\b{owner}\b", source)):
                yield f"there is no {name} in {path.relative_to(ROOT)}"


def main():
    lines = (ROOT / "docs/MATH.md").read_text("utf-8").splitlines()
    defined = {equation[1] for line in lines if (equation := EQUATION.match(line))}
    wrong, cited = [], set()
    for path in sorted(ROOT.glob("crates/**/*.rs")):
        text = re.sub(r"\s*\n\s*//[/!]? ?", " ", path.read_text("utf-8"))
        found = {number for citation in CITATION.findall(text) for number in numbers(citation)}
        wrong += [f"{path.relative_to(ROOT)}: there is no ({number}) in docs/MATH.md" for number in sorted(found - defined)]
        cited |= found
    for at, equations, text in topics(lines):
        wrong += [f"docs/MATH.md:{at}: no .rs file cites MATH {number}" for number in equations if number not in cited]
        wrong += [f"docs/MATH.md:{at}: {place}" for place in misplaced(text)]
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
