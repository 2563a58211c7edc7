#!/usr/bin/env bash
# make_parked.sh PATCHER SOURCE OUT: OUT becomes SOURCE/engine with the seven patches and those of patches/parking
# applied. Files whose bytes did not change keep their times, so that only what changed is built again.
set -euo pipefail
patcher=$1 source=$2 out=$3

rm -rf "$out.new"
mkdir -p "$out.new" "$out"
(cd "$source/engine" && tar -c --exclude='*.safetensors' --exclude=training .) | tar -x -C "$out.new"
run() { "$patcher" "$@" >"$out.log" 2>&1 || { cat "$out.log" >&2; exit 1; }; }
# Also right where engine/ itself has been patched: first back to nothing.
if [ -e "$out.new/runtime/parking.h" ]; then run revert --root "$out.new" --series "$source/patches/parking/series"; fi
run revert --root "$out.new" --series "$source/patches/series"
run apply --root "$out.new" --series "$source/patches/series"
run apply --root "$out.new" --series "$source/patches/parking/series"
(cd "$out" && find . -type f) | while read -r file; do [ -e "$out.new/$file" ] || rm "$out/$file"; done
(cd "$out.new" && find . -type f) | while read -r file; do
  cmp -s "$out.new/$file" "$out/$file" || { mkdir -p "$out/$(dirname "$file")"; cp "$out.new/$file" "$out/$file"; }
done
rm -rf "$out.new"
