#!/usr/bin/env bash
# The front door: sets up what is missing, builds the patcher, and runs it on engine/ with
# patches/series, or on the series that --series names. No logic of its own: everything but --verify is
# the patcher's.
#
#   ./apply.sh              dry run: would the series apply, and what would it change?
#   ./apply.sh --apply      patch engine/
#   ./apply.sh --revert     take the patches off again
#   ./apply.sh --series patches/parking/series     the series that comes after those seven; --apply, too
#   ./apply.sh --verify     in a scratch copy: apply, build both engines, prove equal bits
#   ./apply.sh --help       everything else that the patcher can do
set -euo pipefail
root=$(cd "$(dirname "$0")" && pwd)

if [ "${1:-}" = --verify ]; then
  shift
  exec "$root/tests/apply/verify.sh" "$@"
fi
"$root/.ci/setup" patcher
"$root/.ci/build" release patcher
case " $* " in *' --series'[\ =]*) ;; *) set -- --series "$root/patches/series" "$@" ;; esac
exec "$root/build/release/patcher/patcher" --root "$root/engine" "$@"
