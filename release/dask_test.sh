#!/usr/bin/env bash
# The wheel with Dask in an empty environment, and the example of the page on clusters, run as it is printed there:
# [PYTHON=...] release/dask_test.sh WHEEL
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-$(command -v python3 || command -v python)}
wheel=$PWD/$1 here=$PWD
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
cd "$work"

SECONDS=0
"$python" -m venv empty
bin=$work/empty/bin
[ -d "$bin" ] || bin=$work/empty/Scripts
"$bin/python" -m pip install --quiet "$wheel[dask]"
installed=$SECONDS
"$bin/python" -m pip check
# Nothing of Dask is imported before it is asked for.
"$bin/python" -c 'import sys, bestset; assert not any(name.partition(".")[0] in ("dask", "distributed") for name in sys.modules)'

# The page prints the file in two parts, its imports after what they are for; here they are in the order of the file.
"$bin/python" - "$here/docs/site/guide/clusters.md" <<'PYTHON' > cluster.py
import pathlib, re, sys
page = pathlib.Path(sys.argv[1])
blocks = re.findall(r"```\{literalinclude\} (\S+cluster\.py)\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
printed = {}
for name, options in blocks:
    lines = (page.parent / name).read_text("utf-8").splitlines()
    after = re.search(r":start-after: (.*)", options)
    begin = 1 + next(k for k, line in enumerate(lines) if after[1] in line) if after else 0
    first, _, last = re.search(r":lines: (\S+)", options)[1].partition("-")
    for k in range(begin + int(first) - 1, begin + int(last) if last else len(lines)):
        printed[k] = lines[k]
print("\n".join(printed.get(k, "") for k in range(max(printed) + 1)))
PYTHON
"$bin/python" -W error::FutureWarning cluster.py | tee said.txt
grep -q '^the same predictions: True$' said.txt || { echo "the example of the page does not say what it should" >&2; exit 1; }
echo "bestset[dask] installed in $installed s, the example after $((SECONDS - installed)) s"
