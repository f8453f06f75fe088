"""Whether what is published says the same everywhere: python release/ready.py [TAG REPOSITORY]

Every crate that is published has a README, both licences, and says where its source and its documentation are; the version of the crates is
that of CITATION.cff. With a tag and an address, as the forge gives them: the tag is that version, CHANGELOG.md has a part for it, and the
repository that the crates name is this one.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def published() -> list[dict]:
    """The crates of the workspace that are published."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--no-deps"]
    found = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    return [crate for crate in found["packages"] if crate["publish"] != []]


def lacking(crate: dict) -> list[str]:
    """What a crate should have and has not."""
    folder = Path(crate["manifest_path"]).parent
    fields = ("description", "license", "repository", "documentation", "readme", "rust_version", "keywords", "categories")
    missing = [f"{crate['name']}: no field {field}" for field in fields if not crate[field]]
    files = ("README.md", "LICENSE-MIT", "LICENSE-APACHE")
    return missing + [f"{crate['name']}: no file {name}" for name in files if not (folder / name).is_file()]


def disagreeing(crates: list[dict]) -> list[str]:
    """Versions that are not that of the crates."""
    versions = {crate["version"] for crate in crates}
    cited = re.search(r"^version: *(\S+)", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)[1].strip("\"'")
    return [] if versions == {cited} else [f"the crates have versions {sorted(versions)}, CITATION.cff {cited}"]


def unreleasable(crates: list[dict], tag: str, repository: str) -> list[str]:
    """Why this tag of this repository must not be published."""
    version = crates[0]["version"]
    wrong = [] if tag == f"v{version}" else [f"the tag is {tag}, the version {version}: it must be v{version}"]
    if f"## {version}" not in (ROOT / "CHANGELOG.md").read_text("utf-8").replace("[", "").replace("]", ""):
        wrong.append(f"CHANGELOG.md has no part '## {version}'")
    named = {crate["repository"] for crate in crates}
    for file, line in (("pyproject.toml", r'^Repository = "(.*)"'), ("CITATION.cff", r'^repository-code: "(.*)"')):
        named |= set(re.findall(line, (ROOT / file).read_text("utf-8"), re.MULTILINE))
    return wrong + [f"published would be {one} as repository, but this is {repository}" for one in sorted(named - {repository})]


def main() -> None:
    crates = published()
    wrong = [line for crate in crates for line in lacking(crate)] + disagreeing(crates)
    if len(sys.argv) == 3:
        wrong += unreleasable(crates, sys.argv[1], sys.argv[2])
    if wrong:
        sys.exit("not ready:\n" + "\n".join(wrong))
    print("ready: " + ", ".join(f"{crate['name']} {crate['version']}" for crate in crates))


if __name__ == "__main__":
    main()
