"""What pyproject.toml asks for, one requirement for each word: python python/requirements.py [EXTRA ...]"""

import pathlib
import re
import sys

text = (pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml").read_text()


def listed(name: str) -> list[str]:
    """The strings of `name = [...]`; Python 3.10 has no reader of TOML."""
    found = re.search(rf"^{name} = \[(.*?)\]$", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"pyproject.toml has no list {name!r}")
    return re.findall(r'"([^"]+)"', found[1])


print(*(word.replace(" ", "") for name in ["dependencies", *sys.argv[1:]] for word in listed(name)))
