"""The licences of what is compiled in: python release/third_party.py PACKAGE TARGET FILE

Every crate that PACKAGE needs to run on TARGET, with the text of a licence that it may be used under, into FILE; so the assets that reports
embed. A licence that deny.toml does not allow is an error. A crate whose source carries no text gets the standard one with its authors.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXTS = re.compile(r"^(licen[cs]e|copying|unlicense|notice|copyright)", re.IGNORECASE)
ASSETS = ROOT / "crates/bestset-report/assets"


def needed(package: str, target: str) -> list[dict]:
    """The crates that a package is made of, the project's own left out."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    found = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    packages = {one["id"]: one for one in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    start = next(id for id, one in packages.items() if one["name"] == package)
    seen, waiting = set(), [start]
    while waiting:
        id = waiting.pop()
        if id in seen:
            continue
        seen.add(id)
        for dep in nodes[id]["deps"]:
            if any(kind["kind"] is None for kind in dep["dep_kinds"]):
                waiting.append(dep["pkg"])
    outside = [packages[id] for id in seen if packages[id]["source"] is not None]
    return sorted(outside, key=lambda one: (one["name"], one["version"]))


def allowed() -> set[str]:
    """The licences of deny.toml."""
    text = (ROOT / "deny.toml").read_text("utf-8")
    return set(re.findall(r'"([^"]+)"', re.search(r"^allow = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)[1]))


def acceptable(expression: str | None, known: set[str]) -> bool:
    """Whether one choice of an SPDX expression has allowed licences only."""
    if not expression:
        return False
    words = re.sub(r"[()]", " ", expression.replace("/", " OR "))
    return any(all(part.strip() in known for part in re.split(r"\bAND\b", choice)) for choice in re.split(r"\bOR\b", words))


def texts(crate: dict) -> list[str]:
    """What the source of a crate says of its licence; of several to choose from, that of MIT."""
    folder = Path(crate["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and TEXTS.match(path.name))
    short = [path for path in files if "mit" in path.name.lower()]
    if short and re.fullmatch(r"MIT( OR |/)[^()]*|[^()]*( OR |/)MIT", crate["license"]) and " AND " not in crate["license"]:
        files = short + [path for path in files if re.match("notice|copyright", path.name, re.IGNORECASE)]
    return [path.read_text("utf-8", errors="replace").strip() for path in files]


def standard(crate: dict) -> str:
    """The text of MIT with the authors that the manifest names."""
    if "MIT" not in re.split(r"[^A-Za-z0-9.-]+", crate["license"]):
        sys.exit(f"{crate['name']} {crate['version']} ({crate['license']}) carries no text of its licence: add it here")
    own = (ROOT / "LICENSE-MIT").read_text("utf-8").strip()
    authors = ", ".join(crate["authors"]) or f"the authors of {crate['name']}"
    return re.sub(r"^Copyright .*$", f"Copyright (c) {authors}", own, count=1, flags=re.MULTILINE)


def main() -> None:
    package, target, file = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    crates, known = needed(package, target), allowed()
    refused = [f"{c['name']} {c['version']}: {c['license']}" for c in crates if not acceptable(c["license"], known)]
    if refused:
        sys.exit("licences that deny.toml does not allow:\n" + "\n".join(refused))
    by_text: dict[str, list[str]] = {}
    for crate in crates:
        for text in texts(crate) or [standard(crate)]:
            by_text.setdefault(text, []).append(f"{crate['name']} {crate['version']}")
    for path in sorted(ASSETS.glob("LICENSE-*")):
        by_text.setdefault(path.read_text("utf-8").strip(), []).append(f"{path.name[8:]}, embedded in reports")
    lines = ["What is compiled into bestset, and its licences.", ""]
    lines += [f"  {c['name']} {c['version']}: {c['license']}" for c in crates]
    for text, names in by_text.items():
        lines += ["", "=" * 78, *names, "-" * 78, text]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{file}: {len(crates)} crates, {len(by_text)} texts")


if __name__ == "__main__":
    main()
