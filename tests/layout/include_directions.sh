#!/usr/bin/env bash
# Each room of the engine may include only the rooms before it; the engine and the patcher know nothing of each
# other. First proves on a made-up tree that it can fail.
set -euo pipefail
root=$1
rooms=(numerics model kernels runtime lane bench cli)

# wrong_includes TREE: prints every include that goes against the order.
wrong_includes() {
  local tree=$1 later='' i
  for ((i = ${#rooms[@]} - 1; i >= 0; --i)); do
    if [ -n "$later" ] && [ -d "$tree/engine/${rooms[i]}" ]; then
      grep -rnE "#include \"(${later%|})/" "$tree/engine/${rooms[i]}" --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' || true
    fi
    later+="${rooms[i]}|"
  done
  grep -rnE '#include "(patcher|patches|tests)/' "$tree/engine" --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' || true
  [ ! -d "$tree/patcher" ] ||
    grep -rnE "#include \"(engine|$(IFS='|'; echo "${rooms[*]}"))/" "$tree/patcher" --include='*.h' --include='*.cpp' || true
  # The cache's module may know the runtime and what is below it.
  [ ! -d "$tree/patches" ] || grep -rnE '#include "(lane|bench|cli|patcher)/' "$tree/patches" --include='*.h' --include='*.cpp' || true
}

made_up=$(mktemp -d)
trap 'rm -rf "$made_up"' EXIT
mkdir -p "$made_up/engine/numerics" "$made_up/engine/runtime"
echo '#include "runtime/state.h"' >"$made_up/engine/numerics/wrong.h"
echo '#include "numerics/bf16.h"' >"$made_up/engine/runtime/right.h"
[ "$(wrong_includes "$made_up" | wc -l)" = 1 ] || { echo 'the check itself is broken'; exit 1; }

wrong=$(wrong_includes "$root")
if [ -n "$wrong" ]; then
  echo "includes against the order ${rooms[*]}:"
  echo "$wrong"
  exit 1
fi
