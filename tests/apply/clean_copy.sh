#!/usr/bin/env bash
# apply.sh as a user runs it, in a copy that holds what is tracked and nothing that was built: a dry run changes
# nothing, apply and revert are exact and idempotent, and a refusal leaves the tree alone.
set -euo pipefail
root=$1
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
# Bytes, modes and times of the tree that apply.sh may touch.
fingerprint() { (cd "$copy" && find engine patches -type f -printf '%p %m %T@ ' -exec sha256sum {} \; | sort | sha256sum); }
contents() { (cd "$copy" && find engine patches -type f -exec sha256sum {} + | sort | sha256sum); }
apply() { (cd / && "$copy/apply.sh" "$@") >"$copy.out" 2>"$copy.err"; }
expect() { grep -qF -- "$1" "$copy.out" "$copy.err" || { cat "$copy.out" "$copy.err" >&2; fail "no \"$1\" in the output"; }; }
trap 'rm -rf "$copy" "$copy.out" "$copy.err"' EXIT

(cd "$root" && git ls-files -z --cached --others --exclude-standard | tar -c --null -T - 2>/dev/null) | tar -x -C "$copy"
# The sources that set-up would fetch; everything else is built anew.
mkdir -p "$copy/build"
cp -r "$root/build/third_party" "$copy/build/"

echo 'the dry run builds the patcher, says that all seven apply, and changes nothing'
before=$(fingerprint)
apply || { cat "$copy.out" "$copy.err" >&2; fail 'dry run'; }
expect '7 patches: 7 would apply'
[ "$(fingerprint)" = "$before" ] || fail 'the dry run changed the tree'

echo 'a second run has nothing to set up or build'
apply || fail 'second dry run'
! grep -qE '^(setup|build):' "$copy.out" || fail 'the second run set up or built something'

echo 'apply patches; apply again changes not even a time'
original=$(contents)
apply --apply || fail 'apply'
[ "$(contents)" != "$original" ] || fail 'apply changed nothing'
grep -q canonical_end_ "$copy/engine/runtime/prefix_cache.h" || fail 'the module is not installed'
applied=$(fingerprint)
apply --apply || fail 'apply again'
expect 'all applied; nothing to do'
[ "$(fingerprint)" = "$applied" ] || fail 'applying again touched the tree'

echo 'the series that comes after them stacks on them, and comes off first'
parking=$copy/patches/parking/series
patched=$(contents)
apply --series "$parking" || { cat "$copy.out" "$copy.err" >&2; fail 'dry run of the second series'; }
expect 'would apply, 0 already applied; dry run'
[ "$(fingerprint)" = "$applied" ] || fail 'its dry run changed the tree'
apply --series="$parking" --apply || fail 'applying the second series'
stacked=$(fingerprint)
apply --series "$copy/patches/with_parking" --apply || fail 'both as one'
expect 'all applied; nothing to do'
[ "$(grep -v '^#' "$copy/patches/with_parking")" = "$(grep -v '^#' "$copy/patches/series"; grep -v '^#' "$parking" | sed 's|^|parking/|')" ] ||
  fail 'patches/with_parking does not list both series'
if apply --revert; then fail 'the first series came off under the second one'; fi
[ "$(fingerprint)" = "$stacked" ] || fail 'a refused revert changed the tree'
apply --series "$parking" --revert || fail 'reverting the second series'
[ "$(contents)" = "$patched" ] || fail 'reverting the second series did not restore the patched tree'

echo 'revert restores every byte'
apply --revert || fail 'revert'
[ "$(contents)" = "$original" ] || fail 'revert did not restore the tree'

echo 'one refused patch stops the whole series, and the tree is left alone'
sed -i 's/boundary_before/boundary_at/' "$copy/patches/04_chunk_alignment.patch"
sed -i 's/Decoding(Lane& lane/Decoding(Lane\& a_lane/' "$copy/engine/runtime/generate.cpp"
sed -i 's/drafter->restart()/drafter->reset()/' "$copy/engine/runtime/prefill.cpp"
before=$(fingerprint)
if apply --apply; then fail 'a refused patch must not succeed'; fi
expect 'nothing was written'
expect '01_prefill_offset.patch'
[ "$(fingerprint)" = "$before" ] || fail 'a refusal changed the tree'
[ -z "$(find "$copy/engine" -name '*.rej' -o -name '*.orig' -o -name '.patcher-*')" ] || fail 'files were left behind'
echo 'passed'
