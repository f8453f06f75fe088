"""What is inside a wheel and a source distribution, and whether that is all: python release/contents.py WHEEL SDIST"""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def wheel(file: str) -> None:
    """Size and largest parts; one module, the licences, the command."""
    with zipfile.ZipFile(file) as archive:
        parts = archive.infolist()
        entries = next(archive.read(p).decode() for p in parts if p.filename.endswith(".dist-info/entry_points.txt"))
    packed, unpacked = sum(p.compress_size for p in parts), sum(p.file_size for p in parts)
    print(f"{file}: {packed / 1e6:.1f} MB, {unpacked / 1e6:.1f} MB installed, {len(parts)} files; the largest:")
    for part in sorted(parts, key=lambda p: -p.file_size)[:4]:
        print(f"  {part.file_size / 1e6:7.2f} MB  {part.filename}")
    names = [part.filename for part in parts]
    assert "abi3" in Path(file).name, "for every Python"
    assert sum(name.endswith((".so", ".pyd")) for name in names) == 1, "one module is inside"
    for command in ("bestset=bestset._cli:main", "bestset-check=bestset._cli:check"):
        assert command in entries.replace(" ", "").split("\n"), f"{command} is inside"
    for wanted in ("bestset/py.typed", "bestset/_core.pyi", "bestset/THIRD-PARTY-LICENSES.txt"):
        assert wanted in names, f"{wanted} is inside"
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert any(name.endswith(f".dist-info/licenses/{licence}") for name in names), f"{licence} is inside"


def source(file: str) -> None:
    """Every file of the repository that the module is made of, and nothing that git does not know."""
    with tarfile.open(file) as archive:
        names = {member.name.split("/", 1)[1] for member in archive.getmembers() if member.isfile() or member.issym()}
        size = sum(member.size for member in archive.getmembers())
    tracked = set(subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n"))
    folders = ("python/bestset/", *(f"crates/{name}/src/" for name in ("bestset", "bestset-check", "bestset-data", "bestset-report", "bestset-cli", "bestset-py")))
    wanted = {name for name in tracked if name.startswith((*folders, "crates/bestset-report/assets/", "crates/bestset-cli/data/"))}
    wanted |= {"Cargo.lock", "Cargo.toml", "pyproject.toml", "LICENSE-MIT", "LICENSE-APACHE"}
    print(f"{file}: {Path(file).stat().st_size / 1e6:.1f} MB, {size / 1e6:.1f} MB unpacked, {len(names)} files")
    assert not wanted - names, f"missing: {sorted(wanted - names)}"
    unknown = {name for name in names - tracked if name != "PKG-INFO"}
    assert not unknown, f"not of the repository: {sorted(unknown)}"


if __name__ == "__main__":
    wheel(sys.argv[1])
    source(sys.argv[2])
