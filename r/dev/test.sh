#!/usr/bin/env bash
# The tests of the R package: testthat of what is installed of this folder as it is, and the session of its README. CHECK=yes has the same of
# the source package, by R CMD check --as-cran, which runs its examples as well and looks at all that is in it, and runs its vignettes.
# Skipped, with a message, where R or a package is missing; PYTHON names an interpreter with the package bestset to compare with.
# What is linked and tested is the engine as `make test-r` has compiled it with the workspace. CHECK=yes makes that of the source package by
# its own rules, of the crates in it alone, as far as the compiler checks it; WHOLE=yes to the end, with all optimisation.
set -euo pipefail
cd "$(dirname "$0")/../.."

whole=${CHECK:-}${WHOLE:-}
debian="r-base-core r-cran-matrix r-cran-testthat r-cran-survival${whole:+ r-cran-knitr r-cran-rmarkdown pandoc xz-utils}"
if ! command -v R >/dev/null; then
    echo "make test-r: skipped, there is no R (Debian: apt install $debian)"
    exit 0
fi
missing=$(Rscript -e 'wanted <- commandArgs(TRUE); cat(wanted[!wanted %in% rownames(installed.packages())])' \
    Matrix testthat survival ${whole:+knitr rmarkdown})
for program in ${whole:+pandoc python3 xz}; do
    command -v "$program" >/dev/null || missing="$missing $program"
done
if [ -n "$missing" ]; then
    echo "make test-r: skipped, R has no $missing (Debian: apt install $debian)"
    exit 0
fi

out=$PWD/target/r-source
mkdir -p "$out"
engine=$PWD/target/debug
[ -f "$engine/libbestset_r.a" ] || { echo "make test-r: the engine is not compiled; make test-r does it" >&2; exit 1; }
export BESTSET_TARGET=$PWD/target/r-check XZ_LEVEL=-1
export OMP_THREAD_LIMIT=2 NOT_CRAN=true
# What is not on this machine is not asked for: CRAN's pages, a clock, packages that are only suggested, a PDF without LaTeX.
export _R_CHECK_CRAN_INCOMING_REMOTE_=false _R_CHECK_FORCE_SUGGESTS_=false
export _R_CHECK_SYSTEM_CLOCK_=false
command -v checkbashisms >/dev/null || export _R_CHECK_BASHISMS_=false # Debian: devscripts
manual=()
command -v pdflatex >/dev/null || manual=(--no-manual)
if [ -d ../shared/data ]; then BESTSET_DATA=$(cd ../shared/data && pwd) && export BESTSET_DATA; fi
if [ -x target/debug/bestset ]; then export BESTSET_COMMAND=$PWD/target/debug/bestset; fi
if [ -n "${PYTHON:-}" ] && "$PYTHON" -c 'import bestset' 2>/dev/null; then
    BESTSET_PYTHON=$(command -v "$PYTHON") && export BESTSET_PYTHON
fi

if [ -z "$whole" ]; then
    quick=$PWD/target/r-quick
    rm -rf "$quick" && mkdir -p "$quick/library" && cp -R r "$quick/bestset"
    BESTSET_LIBRARY=$engine R CMD INSTALL --no-lock --no-byte-compile --no-docs --no-test-load --library="$quick/library" "$quick/bestset"
    export R_LIBS=$quick/library
    (cd "$quick/bestset/tests" && Rscript testthat.R)
    cd r && Rscript dev/readme.R
    echo "make test-r: passed"
    exit 0
fi

rm -f "$out"/bestset_*.tar.gz
# Vignettes are run here, once: an error ends it.
BESTSET_LIBRARY=$engine r/dev/source.sh "$out"
cd "$out"
if [ -n "${CHECK:-}${WHOLE:-}" ]; then
    # Unpacked at the same place every time, where cargo finds again what it has seen of the crates of others. Without a lock: one that an
    # interrupted run left behind would stop all others.
    rm -rf unpacked && mkdir -p unpacked library && tar xf bestset_*.tar.gz -C unpacked
    if [ -n "${WHOLE:-}" ]; then
        R CMD INSTALL --no-lock --library=library unpacked/bestset
    else
        BESTSET_LIBRARY=$engine BESTSET_CHECK=yes R CMD INSTALL --no-lock --no-byte-compile --no-docs --library=library unpacked/bestset
    fi
fi
export BESTSET_LIBRARY=$engine
status=0
R CMD check --as-cran --no-vignettes "${manual[@]}" bestset_*.tar.gz || status=$?
# A program that the check would like to have and this machine has not (Debian: devscripts, qpdf) is a warning about the machine.
log=bestset.Rcheck/00check.log
warnings=$(sed -n 's/^Status: .*\b\([0-9][0-9]*\) WARNING.*/\1/p; s/^Status: \([0-9]*\) WARNING.*/\1/p' "$log" | head -n 1)
lacking=$(grep -c "^A complete check needs the 'checkbashisms' script\|qpdf.* is needed for checks on size reduction" "$log" || true)
if [ "$status" -ne 0 ] || [ "${warnings:-0}" -gt "$lacking" ]; then
    cat bestset.Rcheck/00install.out bestset.Rcheck/tests/*.fail 2>/dev/null | tail -60
    echo "make test-r: R CMD check has errors or warnings, see $out/bestset.Rcheck" >&2
    exit 1
fi
cd "$OLDPWD/r"
R_LIBS=$out/bestset.Rcheck Rscript dev/readme.R
echo "make test-r: passed"
