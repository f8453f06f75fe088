#!/usr/bin/env bash
# The command line as an archive: binary, completions, manual pages, licences: release/dist.sh VENV [TARGET]
# On Linux against musl, by zig: one static file that needs nothing of the system.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$1/bin
[ -d "$bin" ] || bin=$1/Scripts
PATH=$(cd "$bin" && pwd):$PATH
host=$(rustc -vV | sed -n 's/^host: //p')
target=${2:-${host/-linux-gnu/-linux-musl}}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=bestset-$version-$target
folder=target/dist/$name
binary=target/$target/release/bestset
[ "${target##*windows*}" ] || binary=$binary.exe
build=build
[ "${target##*linux*}" ] || build=zigbuild

rustup target list --installed 2> /dev/null | grep -qx "$target" || rustup target add "$target"
cargo "$build" --release --locked -p bestset-cli --bin bestset --target "$target"
rm -rf "$folder" "target/dist/$name.tar.gz" && mkdir -p "$folder/completions" "$folder/man"
cp "$binary" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$folder/"
packed=$folder/$(basename "$binary")
if [ "${target##*windows*}" ]; then strip "$packed"; fi
python release/third_party.py bestset-cli "$target" "$folder/THIRD-PARTY-LICENSES.txt"
for shell in bash elvish fish powershell zsh; do
    "$packed" completions "$shell" > "$folder/completions/bestset.$shell"
done
"$packed" man --directory "$folder/man"
tar -C target/dist -czf "target/dist/$name.tar.gz" "$name"

# What was packed, unpacked and run.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xzf "target/dist/$name.tar.gz"
command=$work/$name/$(basename "$binary")
"$command" --version
"$command" demo --directory "$work/demo" | grep 'proved best possible'
[ -s "$work/demo/report.html" ] && [ -s "$work/$name/man/bestset-fit.1" ] && [ -s "$work/$name/completions/bestset.zsh" ]
if [ -z "${target##*musl*}" ]; then
    ! readelf -d "$command" | grep NEEDED || { echo "$binary is not static" >&2; exit 1; }
fi
du -h --apparent-size "target/dist/$name.tar.gz" "$command" 2> /dev/null | sed "s#$work/##" || true
