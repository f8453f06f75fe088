"""The R package in the site's own search: every help page of `r/man` with its functions, what they do and their arguments."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Groups in the order of the package's own pages; what is in none of them comes last.
GROUPS = re.compile(r"^  - title: (.*)\n    contents: \[(.*)\]", re.MULTILINE)
#: Functions in the usage of a page: by themselves, or as methods.
FUNCTIONS = re.compile(r"^(?:\\method\{([\w.]+)\}\{[\w.]+\}|([\w.]+))\(", re.MULTILINE)
#: Macros that are code; others stand for their text alone.
CODE = {"code", "pkg", "link", "linkS4class", "file"}

HEAD = """\
# R

Functions of the R package and their arguments, from its help pages, generated when the site is built. {pages} In R: `help(package = "bestset")`,
`?cv.bestset`; the vignettes are `vignette("bestset")`, `vignette("certificates", "bestset")` and `vignette("coming-from", "bestset")`.

"""


def closing(text: str, start: int) -> int:
    """Where the brace that opens at `start` is closed."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "{}" and text[at - 1] != "\\":
            depth += 1 if text[at] == "{" else -1
            if depth == 0:
                return at
    raise ValueError(f"a brace is not closed: {text[start : start + 60]}")


def parts(text: str, macro: str) -> list[str]:
    """What is in the braces of every `\\macro{…}`; of two braces, both."""
    found = []
    for head in re.finditer(rf"\\{macro}(?=\{{)", text):
        end = closing(text, head.end())
        found.append(text[head.end() + 1 : end])
        if text[end + 1 : end + 2] == "{":
            found.append(text[end + 2 : closing(text, end + 1)])
    return found


def markdown(text: str, inside: bool = False) -> str:
    """Text of a help page; `inside` code, where nothing is marked."""
    made, at = "", 0
    for head in iter(lambda: re.compile(r"\\([A-Za-z0-9]+)(\[[^\]]*\])?(?=\{)").search(text, at), None):
        end = closing(text, head.end())
        body = text[head.end() + 1 : end]
        made += text[at : head.start()]
        code = head[1] in CODE
        said = markdown(body, inside or code)
        made += said if inside or not code else f"`{said}`"
        at = end + 1
    made += text[at:]
    return re.sub(r"\s+", " ", re.sub(r"\\([%{}\\])", r"\1", made).replace("\\ldots", "…").replace("\\dots", "…")).strip()


def entry(page: Path, linked: Path | None, seen: dict[tuple[str, str], str]) -> str:
    """A section for a help page; arguments that `seen` has are those of another."""
    text = re.sub(r"(?<!\\)%.*", "", page.read_text("utf-8"))
    names = list(dict.fromkeys(method or name for method, name in FUNCTIONS.findall(parts(text, "usage")[0])))
    title, description = (markdown(parts(text, macro)[0]) for macro in ("title", "description"))
    made = f"## {', '.join(names)}\n\n**{title}.** {description if description != title else ''}\n"
    there = linked / f"{page.stem}.html" if linked else None
    if there and there.exists():
        made += f'<a href="../r/reference/{there.name}">Usage, value and examples of {", ".join(names)}</a>.\n'
    items = parts((parts(text, "arguments") or [""])[0], "item")
    same: dict[str, list[str]] = {}
    for name, said in zip(items[::2], items[1::2]):
        first = seen.setdefault((name, said), names[0])
        if first == names[0]:
            made += f"\n`{markdown(name, True)}`\n: {markdown(said)}\n"
        else:
            same.setdefault(first, []).append(f"`{markdown(name, True)}`")
    return made + "".join(f"\n{', '.join(words)}: as in `{first}`.\n" for first, words in same.items())


def vignettes(linked: Path | None) -> str:
    """The vignettes with their sections."""
    made = "## Vignettes\n\n"
    for page in sorted((ROOT / "r" / "vignettes").glob("*.Rmd")):
        text = page.read_text("utf-8")
        title = re.search(r'^title: "?(.*?)"?$', text, re.MULTILINE)[1]
        there = linked.parent / "articles" / f"{page.stem}.html" if linked else None
        name = f'<a href="../r/articles/{there.name}">{title}</a>' if there and there.exists() else title
        made += f"- {name}: {', '.join(re.findall(r'^## (.*)$', text, re.MULTILINE))}\n"
    return made


def write(page: Path) -> None:
    """Writes the page, unless it is there already as it should be."""
    linked = next((Path(path) / "r" / "reference" for path in os.environ.get("BESTSET_SITE_EXTRA", "").split(os.pathsep) if path), None)
    there = linked is not None and linked.exists()
    text = HEAD.format(pages='<a href="../r/index.html">Its own pages</a> have usage, values, examples and vignettes.' if there else "")
    left = sorted(path.stem for path in (ROOT / "r" / "man").glob("*.Rd"))
    left.remove("bestset-package")
    seen: dict[tuple[str, str], str] = {}
    order = [name for _, names in GROUPS.findall((ROOT / "r" / "_pkgdown.yml").read_text("utf-8")) for name in names.split(", ")]
    for name in sorted(left, key=lambda name: order.index(name) if name in order else len(order)):
        text += entry(ROOT / "r" / "man" / f"{name}.Rd", linked if there else None, seen) + "\n"
    text += vignettes(linked if there else None)
    if not page.exists() or page.read_text("utf-8") != text:
        page.write_text(text, "utf-8")
