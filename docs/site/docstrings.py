"""Parameters and attributes of docstrings as lists of terms: names keep their underscores, and those that share a line stay together."""

import re

SECTIONS = ("Parameters", "Attributes")
ENTRY = re.compile(r"(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (?P<type>.*))?$")


def term(line: str) -> str:
    """A line `names : type` as a term and its kind."""
    found = ENTRY.match(line)
    if found is None:
        return line
    names = ", ".join("**{}**".format(name.replace("*", r"\*")) for name in found["names"].split(", "))
    # Values in quotes are to be copied: typographic quotes are not.
    kind = f"``{found['type']}``" if '"' in (found["type"] or "") else found["type"]
    return f"{names} : {kind}" if kind else names


def lists(lines: list[str]) -> list[str]:
    """The lines of a docstring, its sections of entries as fields of terms."""
    made: list[str] = []
    inside = False
    for k, line in enumerate(lines):
        ruled = k + 1 < len(lines) and line.strip() and re.fullmatch(r"-{3,}", lines[k + 1].strip())
        if ruled:
            inside = line in SECTIONS
            made.append(f":{line}:" if inside else line)
        elif not inside:
            made.append(line)
        elif re.fullmatch(r"-{3,}", line):
            made.append("")
        else:
            entry = bool(line) and not line[0].isspace()
            bare = entry and (k + 1 == len(lines) or not lines[k + 1].startswith(" "))
            made.append(f"    {term(line) if entry else line}".rstrip())
            if bare:  # A term needs something below it.
                made.append("        \\ ")
    return made


def process(app, what, name, obj, options, lines) -> None:
    lines[:] = lists(lines)


def setup(app) -> None:
    # Before napoleon, which reads the other sections.
    app.connect("autodoc-process-docstring", process, priority=400)
