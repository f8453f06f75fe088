#!/usr/bin/env bash
# The source package of R: bestset_VERSION.tar.gz in the folder given, with all crates in it. Needs the network once, for cargo vendor;
# what it makes needs none.
#   r/dev/source.sh [folder, target/r-source unless given]
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$(mkdir -p "${1:-target/r-source}" && cd "${1:-target/r-source}" && pwd)
package=$out/bestset
rust=$package/src/rust

rm -rf "$package"
cp -R r "$package"
(cd "$package" && sh cleanup && rm -rf src/*.o src/*.so dev .gitignore src/rust/vendor.tar.xz)

# The crates of this repository: without their tests and what is optional, and with the workspace that their manifests refer to.
needed='/^\[/ {skip = /^\[(dev-dependencies|features|\[bench\])/} /optional = true/ {next} !skip'
for crate in bestset bestset-data bestset-report; do
    mkdir -p "$rust/crates/$crate"
    awk "$needed" "crates/$crate/Cargo.toml" >"$rust/crates/$crate/Cargo.toml"
    cp -R "crates/$crate/src" "$rust/crates/$crate/src"
done
mkdir "$rust/crates/bestset-report/assets"
(cd crates/bestset-report/assets && cp -R js LICENSE-echarts echarts.min.js report.css "$rust/crates/bestset-report/assets")
# Modules of tests reach into folders that stay behind.
find "$rust/crates" -name tests.rs -delete
rm -rf "$rust/crates/bestset-report/src/plot"
rm -rf "$rust"/crates/bestset-data/src/{simulation,write}
printf '\n[features]\nplots = []\n' >>"$rust/crates/bestset-report/Cargo.toml"
printf '\n[features]\ntables = []\n' >>"$rust/crates/bestset-data/Cargo.toml"
{
    sed -e 's|path = "../../../crates/|path = "crates/|' -e '/^#/d' r/src/rust/Cargo.toml
    printf '\n[profile.release]\nlto = "thin"\ncodegen-units = 4\nstrip = "debuginfo"\n'
    printf '\n[workspace]\nresolver = "2"\nmembers = ["crates/bestset", "crates/bestset-data", "crates/bestset-report"]\n\n'
    awk '/^\[workspace\./ {keep = 1} /^\[/ && !/^\[workspace\./ {keep = 0} keep' Cargo.toml
} >"$rust/Cargo.toml"

mkdir -p "$package/inst"
cp Cargo.lock "$rust"
cd "$rust"
# Versions stay as they are locked; what this workspace does not need goes.
cargo metadata --format-version 1 >/dev/null 2>"$out/vendor.log" || { cat "$out/vendor.log" >&2; exit 1; }
cargo vendor --locked vendor >/dev/null 2>"$out/vendor.log" || { cat "$out/vendor.log" >&2; exit 1; }
python3 "$OLDPWD/r/dev/authors.py" >"$package/inst/AUTHORS"
python3 "$OLDPWD/r/dev/prune.py" vendor
cat >vendor-config.toml <<'CONFIG'
[source.crates-io]
replace-with = "vendored-sources"

[source.vendored-sources]
directory = "rust/vendor"
CONFIG
# The same bytes for the same crates.
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf - vendor | xz "${XZ_LEVEL:--9e}" >vendor.tar.xz
rm -rf vendor
cd "$out"
# Vignettes want the package, which is compiled for them; R_BUILD_ARGS=--no-build-vignettes leaves them out.
# shellcheck disable=SC2086
R CMD build ${R_BUILD_ARGS:-} bestset
ls -l "$out"/bestset_*.tar.gz
