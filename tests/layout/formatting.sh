#!/usr/bin/env bash
# Every source file is as clang-format writes it. Cases of the patcher are inputs, not our source.
set -euo pipefail
cd "$1"
git ls-files -z -- '*.h' '*.cpp' '*.cu' '*.cuh' ':!tests/patcher/cases' ':!tests/*/data' |
  xargs -0 clang-format --dry-run --Werror
