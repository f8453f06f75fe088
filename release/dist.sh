#!/usr/bin/env bash
# The command line and the checker of proofs as an archive: binaries, completions, manual pages, licences: release/dist.sh VENV [TARGET]
# On Linux against musl, by zig: static files that need nothing of the system.
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
suffix=
[ "${target##*windows*}" ] || suffix=.exe
build=build
[ "${target##*linux*}" ] || build=zigbuild

rustup target list --installed 2> /dev/null | grep -qx "$target" || rustup target add "$target"
cargo "$build" --release --locked -p bestset-cli --bin bestset -p bestset-check --bin bestset-check --target "$target"
rm -rf "$folder" "target/dist/$name.tar.gz" && mkdir -p "$folder/completions" "$folder/man"
cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$folder/"
for program in bestset bestset-check; do
    cp "target/$target/release/$program$suffix" "$folder/"
    if [ "${target##*windows*}" ]; then strip "$folder/$program"; fi
done
packed=$folder/bestset$suffix
python release/third_party.py bestset-cli "$target" "$folder/THIRD-PARTY-LICENSES.txt"
for shell in bash elvish fish powershell zsh; do
    "$packed" completions "$shell" > "$folder/completions/bestset.$shell"
done
"$packed" man --directory "$folder/man"
cp release/bestset-check.1 "$folder/man/"
tar -C target/dist -czf "target/dist/$name.tar.gz" "$name"

# What was packed, unpacked and run.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xzf "target/dist/$name.tar.gz"
command=$work/$name/bestset$suffix
checker=$work/$name/bestset-check$suffix
"$command" --version
"$command" demo --directory "$work/demo" | grep 'proved best possible'
[ -s "$work/demo/report.html" ] && [ -s "$work/$name/man/bestset-fit.1" ] && [ -s "$work/$name/completions/bestset.zsh" ]
"$command" simulate "$work/data.csv" --n 60 --p 20 --true-features 3 --seed 1
"$command" exact "$work/data.csv" --target y -k 3 --proof "$work/data.bsp" > /dev/null
"$checker" "$work/data.csv" "$work/data.bsp" | grep '^Proved: '
if [ -z "${target##*musl*}" ]; then
    for program in "$command" "$checker"; do
        ! readelf -d "$program" | grep NEEDED || { echo "$program is not static" >&2; exit 1; }
    done
fi
du -h --apparent-size "target/dist/$name.tar.gz" "$command" "$checker" 2> /dev/null | sed "s#$work/##" || true
