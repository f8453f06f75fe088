#!/usr/bin/env bash
# One wheel for every Python from 3.10 on, and the source distribution, into dist/: release/wheel.sh VENV
# On Linux linked by zig against the symbols of glibc 2.17, so that it runs wherever manylinux 2014 does.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$1/bin
[ -d "$bin" ] || bin=$1/Scripts
PATH=$(cd "$bin" && pwd):$PATH
host=$(rustc -vV | sed -n 's/^host: //p')
licences=python/bestset/THIRD-PARTY-LICENSES.txt

# The module that the tests use would be packed beside the one that is built: it is out of the way until the end.
aside=$(mktemp -d)
restore() {
    rm -f "$licences"
    find "$aside" -type f -exec mv {} python/bestset/ \;
    rmdir "$aside"
}
trap restore EXIT
find python/bestset -maxdepth 1 -name '_core*.so' -exec mv {} "$aside/" \;
rm -rf dist && mkdir -p dist

maturin sdist --out dist
python release/third_party.py bestset-py "$host" "$licences"
if [ "$(uname -s)" = Linux ]; then
    maturin build --release --locked --zig --compatibility manylinux2014 --out dist
    auditwheel show dist/*.whl | tee dist/audit.txt
    grep -qE '"?(manylinux_2_17|manylinux2014)' dist/audit.txt || { echo "not a manylinux 2014 wheel" >&2; exit 1; }
    rm dist/audit.txt
else
    maturin build --release --locked --out dist
fi
abi3audit --strict --summary dist/*.whl
python release/contents.py dist/*.whl dist/*.tar.gz
