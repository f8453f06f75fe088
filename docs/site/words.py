"""Whether what the pages name is there: python docs/site/words.py [PAGE ...]

Options and commands of a page must be in the help of the command that they stand beside, or of any where they stand alone; functions and
arguments of Python in the module; arguments of R in its help pages. Blocks are run (blocks.py); this is about what the text between them says.
"""

import functools
import importlib
import inspect
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import blocks  # noqa: E402
import commands  # noqa: E402

ROOT = commands.ROOT
#: Words of `sh` and `console` blocks, and spans between single backquotes.
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
OPTION = re.compile(r"(?<![\w(-])(--[a-z][\w-]*|-[a-zA-Z](?![\w.-]))")
#: Programs of others, whose options are theirs; so is what stands in the same part of a line.
OTHERS = re.compile(r"^\s*(?:\S*/)?(?:R|Rscript|apt|cargo|dask|grep|head|make|pip|plink|py|python|sed|tail|ulimit)\b")
#: Arguments of other packages that the pages speak of.
FOREIGN = {"MALLOC_ARENA_MAX", "alpha", "handle_unknown", "ic_type", "mmap_mode", "package", "penalty", "support.size", "type.multinomial"}


@functools.cache
def helps() -> dict[str, str]:
    """What the help of each command says, the checker's among them."""
    general = commands.help_of()
    names = re.findall(r"^  (\w+) ", general.split("Commands:\n")[1].split("\n\n")[0], re.MULTILINE)
    said = {name: commands.help_of(name) for name in names if name != "help"}
    return {**said, "": general, "bestset-check": commands.help_of(checker=True)}


@functools.cache
def options(command: str) -> frozenset[str]:
    return frozenset(OPTION.findall(helps()[command]))


def command_of(part: str) -> str | None:
    """The command that a part of a line is about: None for any of them, the empty word for the program itself."""
    if "bestset-check" in part:
        return "bestset-check"
    if found := re.search(r"\bbestset(?: +([a-z]\w*))?(?= |$)", part):
        return found[1] or ""
    first = re.match(r"\s*([a-z]+)\b(?![=(.])", part)
    return first[1] if first and first[1] in helps() and OPTION.search(part) else None


def wrong_options(code: str) -> list[str]:
    wrong = []
    for part in re.split(r"\||;|&&|\n\$ |\$\(", code):
        if OTHERS.match(part.removeprefix("$ ")):
            continue
        command = command_of(part)
        if command is not None and command not in helps():
            wrong.append(f"there is no command {command}")
            continue
        known = options(command) if command else frozenset().union(*map(options, helps()))
        of = f" of {command}" if command else ""
        wrong += [f"there is no option {option}{of}" for option in OPTION.findall(part) if option not in known]
    return wrong


@functools.cache
def python_arguments() -> frozenset[str]:
    """Arguments of all that the package offers, and of what its classes do."""
    modules = [importlib.import_module(name) for name in ("bestset", "bestset.dask", "bestset.device", "bestset.plots", "bestset.testing")]
    offered = [getattr(module, name) for module in modules for name in dir(module) if not name.startswith("_")]
    methods = [method for one in offered if inspect.isclass(one) for _, method in inspect.getmembers(one, callable)]
    names: set[str] = set()
    for one in offered + methods:
        try:
            names |= set(inspect.signature(one).parameters) if callable(one) else set()
        except (TypeError, ValueError):
            continue
    return frozenset(names)


@functools.cache
def r_arguments() -> frozenset[str]:
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "r" / "man").glob("*.Rd"))
    lists = re.findall(r"\\item\{([^}]+)\}", pages)
    return frozenset(name.strip() for names in lists for name in names.split(",")) | set(re.findall(r"\b([\w.]+) = ", pages))


def exists(dotted: str) -> bool:
    """Whether a name of the package leads to something."""
    here = importlib.import_module("bestset")
    for name in dotted.split(".")[1:]:
        try:
            here = getattr(here, name) if hasattr(here, name) else importlib.import_module(f"{here.__name__}.{name}")
        except (AttributeError, ImportError):
            return False
    return True


def wrong_names(span: str) -> list[str]:
    """Functions and arguments of a span that are nowhere: without blanks around the sign Python's, with them R's."""
    dotted = re.findall(r"(?<![\w./-])bestset(?:\.[a-zA-Z_]\w*)+", span)
    wrong = [f"there is no {name}" for name in dotted if not exists(name)]
    if OPTION.match(span):
        return wrong
    for sign, known, language in (("=", python_arguments(), "Python"), (" = ", r_arguments(), "R")):
        named = re.findall(rf"(?<![\w.\-\"/])([a-zA-Z_][\w.]*){sign}(?![= ])", span)
        wrong += [f"there is no argument {name} in {language}" for name in named if name not in known | FOREIGN]
    return wrong


def wrong(path: Path) -> list[str]:
    text = path.read_text("utf-8")
    found = []
    for block in blocks.FENCE.finditer(text):
        if block["language"] in ("sh", "console"):
            said = re.findall(r"^\s*\$ ((?:[^\n]*\\\n)*[^\n]*)" if block["language"] == "console" else r"^\s*([^#\n]+)", block["body"], re.MULTILINE)
            found += [(text.count("\n", 0, block.start()) + 1, problem) for line in said for problem in wrong_options(line.split(" # ")[0])]
    prose = blocks.FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    for span in SPAN.finditer(prose):
        line = prose.count("\n", 0, span.start()) + 1
        found += [(line, problem) for problem in wrong_options(span[1]) + wrong_names(span[1])]
    return [f"{path.relative_to(ROOT)}:{line}: {problem}" for line, problem in found]


def main() -> None:
    named = [Path(word).resolve() for word in sys.argv[1:]]
    pages = named or [*blocks.pages(), ROOT / "README.md", ROOT / "r" / "README.md", *sorted(ROOT.glob("crates/*/README.md"))]
    found = [problem for path in pages for problem in wrong(path)]
    print(f"{len(pages)} pages, {len(found)} names that are nowhere")
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
