#!/usr/bin/env bash
# apply.sh --verify: proves in a scratch copy that the series changes no bit with the cache off, and
# that with it on a resumed run equals a cold one. No GPU. Exits 0 only if every comparison is equal.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$root/build/verify

say() { printf '%s\n' "$*"; }
fail() { printf 'verify: %s\n' "$*" >&2; exit 1; }

# A fresh copy of the unpatched engine; files that did not change keep their times, so that a second
# run builds only what is new.
copy_engine() {
  local to=$1
  mkdir -p "$scratch"
  rm -rf "$to.new"
  mkdir "$to.new"
  cp -rp "$root/engine/." "$to.new"
  "$root/build/release/patcher/patcher" revert --root "$to.new" --series "$root/patches/series" >/dev/null ||
    fail "engine/ is neither unpatched nor wholly patched; run ./apply.sh to see"
}

# Makes $1 equal to $1.new, touching only files that differ.
settle() {
  local to=$1 file
  mkdir -p "$to"
  (cd "$to" && find . -type f ! -path './build/*') | while read -r file; do
    [ -e "$to.new/$file" ] || rm "$to/$file"
  done
  (cd "$to.new" && find . -type f) | while read -r file; do
    cmp -s "$to.new/$file" "$to/$file" || { mkdir -p "$to/$(dirname "$file")"; cp -p "$to.new/$file" "$to/$file"; touch "$to/$file"; }
  done
  rm -rf "$to.new"
}

build_engine() {
  local dir=$1 log=$1.log
  cmake -S "$dir" -B "$dir/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DENGINE_CUDA=OFF >"$log" 2>&1 &&
    cmake --build "$dir/build" --target engine >>"$log" 2>&1 ||
    { tail -n 30 "$log" >&2; fail "building $dir failed; whole log: $log"; }
}

# digest ENGINE MODEL: the total over a fixed set of prompts, cut from real text.
digest() { "$1/build/cli/engine" digest -m "$2" | awk '$2 == "total" {print $1}'; }

# same WHAT LEFT RIGHT
same() {
  [ -n "$2" ] || fail "$1: no digest was printed"
  [ "$2" = "$3" ] || fail "$1: the digests differ"
}

"$root/.ci/setup" patcher engine
"$root/.ci/build" release patcher
say 'verify: copying engine/ and applying the series to one of the copies'
copy_engine "$scratch/unpatched"
copy_engine "$scratch/patched"
"$root/build/release/patcher/patcher" apply --root "$scratch/patched.new" --series "$root/patches/series"
settle "$scratch/unpatched"
settle "$scratch/patched"
for engine in unpatched patched; do
  say "verify: building the $engine engine"
  build_engine "$scratch/$engine"
done

rm -rf "$scratch/models"
for preset in micro plain mini glm4moe-mini glm5-mini; do
  "$scratch/unpatched/build/cli/engine" init-model --preset $preset --seed 1 "$scratch/models/$preset" >/dev/null
done
models=("$scratch"/models/* "$root/engine/model/reference")

for model in "${models[@]}"; do
  say
  say "model $(basename "$model")"
  before=$(digest "$scratch/unpatched" "$model")
  off=$(TF_GLM53_PREFIX_CACHE=0 digest "$scratch/patched" "$model")
  say "  unpatched                        $before"
  say "  patched, cache off               $off"
  same 'cache off' "$before" "$off"
  grid=$(TF_GLM53_PREFIX_CACHE=0 TF_GLM53_FIXED_CHUNKS=1 digest "$scratch/patched" "$model")
  on=$(digest "$scratch/patched" "$model")
  say "  patched, grid, nothing reused    $grid"
  say "  patched, cache on                $on"
  same 'cache on' "$grid" "$on"
done
for model in "${models[@]}"; do
  say
  say "model $(basename "$model"), two turns: resumed against cold"
  "$scratch/patched/build/cli/engine" kv-diff -m "$model" || fail 'a resumed run differs from a cold one'
done
# Shown, not compared: what the cache keeps of a session of tool calls.
say
say 'a session of the built-in model on the patched engine: prompt tokens, rows kept'
python3 -B "$root/engine/training/session.py" --engine "$scratch/patched/build/cli/engine" \
  --model "$root/engine/model/reference" --index 1 --prompt-rows 64 || fail 'the session broke its rules'
say
say 'verify: every comparison is equal'
