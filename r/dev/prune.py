"""Takes out of vendored crates what no build reads: tests, examples, benchmarks, pages, and platforms that are never compiled."""

import json
import shutil
import sys
from pathlib import Path

#: Reached only through crates for macOS, and there only on Windows: the resolver wants them, no build does.
NEVER = ("windows-sys", "windows-link", "winapi-util")
FOLDERS = ("tests", "examples", "benches", "bench", "docs", "doc", ".github", "ci", "assets", "book", "images", "fuzz", "paper")
ENDINGS = (".png", ".svg", ".jpg", ".gif", ".pdf", ".ipynb", ".csv")
LICENCES = ("license", "licence", "copying", "copyright", "notice", "unlicense")


def prune(crate: Path) -> None:
    for folder in FOLDERS:
        shutil.rmtree(crate / folder, ignore_errors=True)
    if crate.name.startswith(NEVER):
        shutil.rmtree(crate / "src", ignore_errors=True)
        (crate / "src").mkdir()
        (crate / "src" / "lib.rs").write_text("")
    for file in list(crate.rglob("*")):
        top = file.parent == crate
        page = top and file.suffix.lower() == ".md" and not file.name.lower().startswith(LICENCES)
        hidden = top and file.name.startswith(".") and file.name != ".cargo-checksum.json"
        if file.is_file() and (page or hidden or file.suffix.lower() in ENDINGS):
            file.unlink()
    checksum = crate / ".cargo-checksum.json"
    kept = json.loads(checksum.read_text())
    checksum.write_text(json.dumps({"files": {}, "package": kept["package"]}))


for crate in sorted(Path(sys.argv[1]).iterdir()):
    prune(crate)
