#!/usr/bin/env bash
# Each room may include only the rooms before it; the engine and the patcher know nothing of each other. First
# proves on a made-up tree that it can fail.
set -euo pipefail
root=$1
engine_rooms=(numerics model kernels runtime lane bench cli)
patcher_rooms=(base text syntax patch hunk foreign tree git series write import drift carry report cli)

includes() { [ ! -d "$2" ] || grep -rnE "#include \"$1" "$2" --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' || true; }

# against_order FOLDER PREFIX ROOM...: the includes of FOLDER's rooms that name a later room as PREFIX/ROOM, and the
# rooms that are in the folder and not in the list (cmake and training hold no C++).
against_order() {
  local folder=$1 prefix=$2 later='' i room
  shift 2
  local rooms=("$@")
  for ((i = ${#rooms[@]} - 1; i >= 0; --i)); do
    [ -z "$later" ] || includes "$prefix(${later%|})/" "$folder/${rooms[i]}"
    later+="${rooms[i]}|"
  done
  for room in "$folder"/*/; do
    room=$(basename "$room")
    case " ${rooms[*]} cmake training " in *" $room "*) ;; *) echo "$folder/$room: a room without a place in the order" ;; esac
  done
}

# wrong_includes TREE: prints every include that goes against the order.
wrong_includes() {
  local tree=$1
  against_order "$tree/engine" '' "${engine_rooms[@]}"
  includes '(patcher|patches|tests)/' "$tree/engine"
  against_order "$tree/patcher" 'patcher/' "${patcher_rooms[@]}"
  includes "(engine|patches|tests|$(IFS='|'; echo "${engine_rooms[*]}"))/" "$tree/patcher"
  # Carry, import and drift make what a report shows, and know nothing of how; only the program writes.
  includes 'patcher/(write|import)/' "$tree/patcher/report"
  includes 'patcher/git/' "$tree/patcher/series"
  # The cache's module may know the runtime and what is below it.
  includes '(lane|bench|cli|patcher)/' "$tree/patches" | grep -v "^$tree/patches/parking/" || true
  # Its sources lie in the rooms that they are installed into.
  against_order "$tree/patches/parking" '' "${engine_rooms[@]}"
}

made_up=$(mktemp -d)
trap 'rm -rf "$made_up"' EXIT
mkdir -p "$made_up"/engine/{numerics,runtime} "$made_up"/patches/parking/runtime "$made_up"/patcher/{base,syntax,report,attic}
echo '#include "runtime/state.h"' >"$made_up/engine/numerics/wrong.h"
echo '#include "lane/slots.h"' >"$made_up/patches/parking/runtime/wrong.h"
echo '#include "lane/slots.h"' >"$made_up/patches/wrong.h"
echo '#include "numerics/bf16.h"' >"$made_up/engine/runtime/right.h"
echo '#include "patcher/syntax/source.h"' >"$made_up/patcher/base/wrong.h"
echo '#include "patcher/write/journal.h"' >"$made_up/patcher/report/wrong.h"
echo '#include "patcher/base/error.h"' >"$made_up/patcher/syntax/right.h"
[ "$(wrong_includes "$made_up" | wc -l)" = 6 ] || { echo 'the check itself is broken'; wrong_includes "$made_up"; exit 1; }

wrong=$(wrong_includes "$root")
if [ -n "$wrong" ]; then
  echo "includes against the order ${engine_rooms[*]}; ${patcher_rooms[*]}:"
  echo "$wrong"
  exit 1
fi
