#!/usr/bin/env bash
# Sets up what is missing, builds everything and passes the tests. Arguments go to ctest, for example
# -L patcher (one room's tests) or -N (list them).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

"$root/.ci/setup"
"$root/tests/acceptance/install_client.sh" || true # its test then says that it was skipped, and why
"$root/.ci/build" release
exec ctest --test-dir "$root/build/release" --output-on-failure --no-tests=error -j "$(nproc)" "$@"
