#!/usr/bin/env bash
# The pages of the R package, by pkgdown, into the folder given; none where R lacks pkgdown or the package, and the site then links to none.
set -euo pipefail
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
if command -v Rscript >/dev/null && Rscript -e 'library(bestset); library(pkgdown)' >/dev/null 2>&1 && command -v pandoc >/dev/null; then
    # pkgdown writes beside the sources, and wants the files of a package alone.
    work=$(mktemp -d)
    trap 'rm -rf "$work" "$work.log"' EXIT
    cp -R DESCRIPTION NAMESPACE LICENSE R inst README.md _pkgdown.yml man pkgdown vignettes "$work"
    Rscript -e 'words <- commandArgs(TRUE); options(bestset.threads = 2, pkgdown.internet = FALSE)
        pkgdown::build_site(words[[1]], override = list(destination = words[[2]]), install = FALSE, devel = FALSE, preview = FALSE)' \
        "$work" "$out" >"$work.log" 2>&1 || { tail -n 30 "$work.log" >&2; exit 1; }
    # Pages that ask nobody: scripts and styles from elsewhere go, and with them the one that needs them (a search box, headings that hide).
    # The contents of a page are made by extra.js; the search is the site's, which knows the functions.
    find "$out" -name '*.html' -exec sed -E -i -e 's#<script src="(https?|file):[^>]*></script>##g' \
        -e 's#<link rel="stylesheet" href="https?:[^>]*>##g' -e 's#<script src="[^"]*pkgdown\.js"></script>##g' {} +
else
    echo "the pages of the R package are not made: R, pkgdown (Debian: r-cran-pkgdown) or the package (make r) is missing" >&2
    rmdir "$out"
fi
