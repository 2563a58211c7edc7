#!/usr/bin/env bash
# run.sh [SECONDS]: builds the five fuzz programs and runs each for a fifth of SECONDS (60), from
# seeds that the cases give. What they find stays in build/fuzz/corpus; an input that breaks one is
# written there too, named and shown, and the script fails.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
seconds=${1:-60}
corpus=$root/build/fuzz/corpus
cases=$root/tests/patcher/cases

"$root/.ci/setup"
"$root/.ci/build" fuzz fuzz_patch fuzz_mail fuzz_series fuzz_judge fuzz_options
mkdir -p "$corpus"/{patch,mail,series,judge,options}
for case in "$cases"/*/; do
  name=$(basename "$case")
  for patch in "$case"/*.patch; do
    [ -f "$patch" ] || continue
    cp "$patch" "$corpus/patch/$name-$(basename "$patch")"
    ! grep -q '^@@ -' "$patch" || cp "$patch" "$corpus/mail/$name-$(basename "$patch")"
    while IFS= read -r -d '' file; do
      { cat "$patch"; printf '\x1f'; cat "$file"; } >"$corpus/judge/$name-$(basename "$patch")-$(basename "$file")"
    done < <(find "$case"/before -type f -size -16k -print0)
  done
  [ ! -f "$case/series" ] || cp "$case/series" "$corpus/series/$name"
done
printf 'a.patch\n# all\n  b.patch\r\n' >"$corpus/series/plain"
printf 'diff\0--side-by-side\0--width\0%s' 80 >"$corpus/options/diff"
printf 'check\0--format\0sarif\0--until\0%s' 3 >"$corpus/options/check"
printf 'help\0apply' >"$corpus/options/help"
printf '{"state":"prepare","directories":["d"],"steps":[{"path":"a.cpp","remove":false}]}' >"$corpus/options/prepare"
printf '{"state":"commit","directories":[],"steps":[{"path":"kept.cpp","remove":true}]}' >"$corpus/options/commit"

for name in patch mail series judge options; do
  log=$root/build/fuzz/$name.log
  if ! "$root/build/fuzz/tests/patcher/fuzz/fuzz_$name" -max_total_time=$((seconds / 5)) \
    -timeout=60 -rss_limit_mb=3000 -max_len=20000 -print_final_stats=1 -close_fd_mask=1 \
    -artifact_prefix="$corpus/$name-" "$corpus/$name" >"$log" 2>&1; then
    tail -n 40 "$log"
    exit 1
  fi
  printf 'fuzz %-8s %s executions\n' "$name" "$(awk '/number_of_executed_units/ {print $2}' "$log")"
done
