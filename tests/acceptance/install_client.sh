#!/usr/bin/env bash
# install_client.sh [clients]: installs the official openai package, pinned and hash-checked, into an
# environment of its own under build/ for test_openai_client.py, or all of clients.txt for clients.py.
# Says nothing when it is there; where it cannot be installed, says why, leaves the reason for the test
# to say, and fails.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
name=${1:-openai_client}
environment=$root/build/$name
pinned=$root/tests/acceptance/$name.txt
log=$root/build/$name.log

cmp -s "$pinned" "$environment/requirements.txt" && exit 0
echo "setup: installing $name for its test"
mkdir -p "$root/build"
rm -rf "$environment"
if /usr/bin/python3 -m venv "$environment" >"$log" 2>&1 &&
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    --require-hashes -r "$pinned" >>"$log" 2>&1; then
  cp "$pinned" "$environment/requirements.txt"
  exit 0
fi
rm -rf "$environment"
echo "setup: $name could not be installed (network?): $(grep "[^ ]" "$log" | tail -n 1); whole log: $log" >&2
exit 1
