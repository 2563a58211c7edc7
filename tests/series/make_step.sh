#!/usr/bin/env bash
# make_step.sh PATCHER SOURCE STEP OUT: OUT/runtime becomes SOURCE/engine/runtime with the first STEP patches
# applied. Files whose bytes did not change keep their times, so that only what a patch touches is rebuilt.
set -euo pipefail
patcher=$1 source=$2 step=$3 out=$4

rm -rf "$out.new"
mkdir -p "$out.new/runtime" "$out/runtime"
cp -p "$source"/engine/runtime/* "$out.new/runtime"
# Also right where engine/ itself has been patched: first back to step 0, then up to STEP.
"$patcher" revert --root "$out.new" --series "$source/patches/series" >"$out.log" 2>&1 || { cat "$out.log" >&2; exit 1; }
if [ "$step" -gt 0 ]; then
  "$patcher" apply --root "$out.new" --series "$source/patches/series" --until "$step" >"$out.log" 2>&1 ||
    { cat "$out.log" >&2; exit 1; }
fi
for file in "$out"/runtime/*; do
  [ -e "$out.new/runtime/$(basename "$file")" ] || rm -f "$file"
done
for file in "$out.new"/runtime/*; do
  cmp -s "$file" "$out/runtime/$(basename "$file")" || cp "$file" "$out/runtime/"
done
rm -rf "$out.new"
