#!/usr/bin/env bash
# The wheel with Dask in an empty environment, and the example of the page on clusters, run as it is printed there:
# [PYTHON=...] release/dask_test.sh WHEEL
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-$(command -v python3 || command -v python)}
here=$PWD
case $1 in /*) wheel=$1 ;; *) wheel=$PWD/$1 ;; esac
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work"

SECONDS=0
"$python" -m venv empty
bin=$work/empty/bin
[ -d "$bin" ] || bin=$work/empty/Scripts
"$bin/python" -m pip install --quiet "${wheel}[dask]"
installed=$SECONDS
"$bin/python" -m pip check
# Nothing of Dask is imported before it is asked for.
"$bin/python" -c 'import sys, bestset; assert not any(name.partition(".")[0] in ("dask", "distributed") for name in sys.modules)'

# The page prints a part of a file.
"$bin/python" - "$here/docs/site/guide/clusters.md" <<'PYTHON' > cluster.py
import pathlib, re, sys
page = pathlib.Path(sys.argv[1])
name, first = re.search(r"```\{literalinclude\} (\S+cluster\.py)\n:language: python\n:lines: (\d+)-\n```", page.read_text("utf-8")).groups()
print("\n".join((page.parent / name).read_text("utf-8").splitlines()[int(first) - 1 :]))
PYTHON
"$bin/python" -W error::FutureWarning cluster.py | tee said.txt
grep -q '^the same predictions: True$' said.txt || { echo "the example of the page does not say what it should" >&2; exit 1; }
echo "bestset[dask] installed in $installed s, the example after $((SECONDS - installed)) s"
