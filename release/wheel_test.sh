#!/usr/bin/env bash
# The wheel in an empty environment: installed, the first example of the README, a fit, the command: [PYTHON=...] release/wheel_test.sh WHEEL
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
"$bin/python" -m pip install --quiet "$wheel"
installed=$SECONDS
# The README's own block, from a folder without the sources.
"$bin/python" - "$here/README.md" <<'PYTHON' > example.py
import pathlib, re, sys
sys.stdout.reconfigure(encoding="utf-8")
print(re.search(r"```python\n(.*?)```", pathlib.Path(sys.argv[1]).read_text("utf-8"), re.DOTALL)[1])
PYTHON
PYTHONIOENCODING=utf-8 "$bin/python" -W error example.py
echo "installed in $installed s, first answer $((SECONDS - installed)) s after"
"$bin/python" -m pip check
"$bin/python" "$here/release/first_fit.py" "${PROCESSES:-5}"

"$bin/bestset" --version
"$bin/bestset" demo --directory demo > said.txt
grep -q 'proved best possible' said.txt
[ -s demo/report.html ]
"$bin/bestset" predict demo/model.json demo/flats.csv > predicted.csv
[ "$(wc -l < predicted.csv)" = "$(wc -l < demo/flats.csv)" ] || { echo "not one prediction for each row" >&2; exit 1; }
# A proof, checked by the other command.
"$bin/bestset" simulate data.csv --n 60 --p 20 --true-features 3 --seed 1 > /dev/null
"$bin/bestset" exact data.csv --target y -k 3 --proof data.bsp > /dev/null
"$bin/bestset-check" data.csv data.bsp | grep -q '^Proved: '
# What is wrong has the exit codes of the binary.
status=0; "$bin/bestset" fit nowhere.csv --target y 2> error.txt || status=$?
[ "$status" = 2 ] || { echo "a missing file ended with $status" >&2; exit 1; }
grep -q nowhere.csv error.txt
status=0; "$bin/bestset" fit 2> usage.txt || status=$?
[ "$status" = 2 ] || { echo "a usage error ended with $status" >&2; exit 1; }
"$bin/python" - <<'PYTHON'
import pathlib

import bestset

text = pathlib.Path(bestset.__file__).with_name("THIRD-PARTY-LICENSES.txt").read_text("utf-8")
assert "faer" in text and "Permission is hereby granted" in text and "echarts" in text
PYTHON
echo "wheel-test: passed"
