#!/bin/sh
# Creates the environments of the benchmark's peers and installs the pinned versions.
#
#   bench/setup.sh            safe to run again: what is installed is left alone
#
# A peer that cannot be installed or imported is named, with the reason, and the benchmark runs without it.
set -u
cd "$(dirname "$0")" || exit 1
PYTHON=${PYTHON:-python3}
LOG=$(mktemp)
trap 'rm -f "$LOG"' EXIT

# install NAME: the environment .venv-NAME from requirements-NAME.txt; line by line if it does not go in one piece
install() {
    environment=.venv-$1
    requirements=requirements-$1.txt
    if [ ! -x "$environment/bin/python" ]; then
        "$PYTHON" -m venv "$environment" || { echo "cannot create bench/$environment"; return 1; }
    fi
    if "$environment/bin/python" -m pip install --quiet --prefer-binary --requirement "$requirements" >"$LOG" 2>&1; then
        return 0
    fi
    echo "bench/$requirements does not install as a whole; trying its lines one by one"
    grep -v '^ *\(#\|$\)' "$requirements" | while read -r line; do
        "$environment/bin/python" -m pip install --quiet --prefer-binary "$line" >"$LOG" 2>&1 ||
            echo "  not installed: $line: $(grep -i 'error' "$LOG" | tail -n 1)"
    done
}

# check ENVIRONMENT MODULE: does it import, and if not, why
check() {
    if ".venv-$1/bin/python" -c "import $2" >"$LOG" 2>&1; then
        echo "  ok       $2"
    else
        echo "  MISSING  $2: $(tail -n 1 "$LOG")"
        return 1
    fi
}

install peers || exit 1
install l0bnb || exit 1

# el0ps needs an MPI library to import; the pinned wheel brings one, a system package is the second choice
if ! .venv-peers/bin/python -c "import el0ps" >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "el0ps does not import with the MPI wheel; installing the system's MPI library"
    { apt-get update && apt-get install --yes --no-install-recommends libopenmpi-dev openmpi-bin; } >"$LOG" 2>&1 ||
        echo "  not installed: $(tail -n 1 "$LOG")"
fi

echo "peers of the benchmark:"
for module in celer skglm sklearn glmnet adelie abess el0ps; do
    check peers "$module"
done
check l0bnb l0bnb
exit 0
