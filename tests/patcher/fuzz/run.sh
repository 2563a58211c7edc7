#!/usr/bin/env bash
# run.sh [SECONDS [PROGRAM...]]: builds the fuzz programs and runs each for its part of SECONDS (60),
# from seeds that the cases give. What they find stays in build/fuzz/corpus; an input that breaks one
# is written there too, named and shown, and the script fails. Programs are patch, mail, series,
# judge and options, and, by its name only, import: its every execution tries many anchors, so that it
# needs minutes.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
seconds=${1:-60}
programs=("${@:2}")
[ ${#programs[@]} -gt 0 ] || programs=(patch mail series judge options)
corpus=$root/build/fuzz/corpus
cases=$root/tests/patcher/cases

"$root/.ci/setup"
"$root/.ci/build" fuzz "${programs[@]/#/fuzz_}"
mkdir -p "$corpus"/{patch,mail,series,judge,import,options}
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
  while IFS= read -r -d '' file; do
    after=${file/"$case"\/before/"$case"/after}
    [ ! -f "$after" ] || { printf 0; cat "$file"; printf '\x1f'; cat "$after"; printf '\x1f'; cat "$file"; } \
      >"$corpus/import/$name-$(basename "$file")"
  done < <(find "$case"/before -type f -size -6k -print0)
  [ ! -f "$case/series" ] || cp "$case/series" "$corpus/series/$name"
done
printf 'a.patch\n# all\n  b.patch\r\n' >"$corpus/series/plain"
printf 'diff\0--side-by-side\0--width\0%s' 80 >"$corpus/options/diff"
printf 'check\0--format\0sarif\0--until\0%s' 3 >"$corpus/options/check"
printf 'help\0apply' >"$corpus/options/help"
printf '{"state":"prepare","directories":["d"],"steps":[{"path":"a.cpp","remove":false}]}' >"$corpus/options/prepare"
printf '{"state":"commit","directories":[],"steps":[{"path":"kept.cpp","remove":true}]}' >"$corpus/options/commit"

for name in "${programs[@]}"; do
  log=$root/build/fuzz/$name.log
  length=20000
  [ "$name" != import ] || length=1500
  if ! "$root/build/fuzz/tests/patcher/fuzz/fuzz_$name" -max_total_time=$((seconds / ${#programs[@]})) \
    -timeout=60 -rss_limit_mb=3000 -max_len=$length -print_final_stats=1 -close_fd_mask=1 \
    -artifact_prefix="$corpus/$name-" "$corpus/$name" >"$log" 2>&1; then
    tail -n 40 "$log"
    exit 1
  fi
  printf 'fuzz %-8s %s executions\n' "$name" "$(awk '/number_of_executed_units/ {print $2}' "$log")"
done
