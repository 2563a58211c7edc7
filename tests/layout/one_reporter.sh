#!/usr/bin/env bash
# The patcher prints through report/console alone, so that no text of a tree or a patch reaches a terminal raw. First
# proves on a made-up tree that it can fail.
set -euo pipefail
root=$1

# The lines of TREE's patcher that name a stream, print, or write an escape sequence, outside of the console and of
# the program's entry, which hands it the streams.
prints() {
  grep -rnE 'ostream|std::(cout|cerr|clog|format_to)|<iostream>|\b(printf|fprintf|puts|fputs|perror)\(|fmt::print|\\x1b\[|\\033' \
    "$1/patcher" --include='*.h' --include='*.cpp' | grep -vE "^$1/patcher/(report/console|cli/cli|cli/main)\.(h|cpp):" |
    grep -vE '(of|basic_of|str)stream' || true
}

made_up=$(mktemp -d)
trap 'rm -rf "$made_up"' EXIT
mkdir -p "$made_up"/patcher/{report,carry}
echo 'void show(std::ostream& out);' >"$made_up/patcher/carry/wrong.h"
echo 'const char* red = "\x1b[31m";' >"$made_up/patcher/report/wrong.cpp"
echo 'std::ostream& out_;' >"$made_up/patcher/report/console.h"
[ "$(prints "$made_up" | wc -l)" = 2 ] || { echo 'the check itself is broken'; prints "$made_up"; exit 1; }

wrong=$(prints "$root")
if [ -n "$wrong" ]; then
  echo 'printed around patcher/report/console.h:'
  echo "$wrong"
  exit 1
fi
