#!/usr/bin/env bash
# Nothing that lets a compiler change bits: no fast-math flag, no float atomics, contraction off.
set -euo pipefail
cd "$1"
fail() { echo "$*"; exit 1; }
! git grep -nE -- '-ffast-math|-use_fast_math|--use_fast_math|-Ofast|fp-contract=(fast|on)' -- engine patcher tests CMakeLists.txt CMakePresets.json ':!tests/layout' || fail 'fast math'
! git grep -nE 'atomicAdd *\( *\(?float|atomicAdd_block|std::atomic<(float|double)>' -- engine || fail 'float atomics'
grep -q -- '-ffp-contract=off' engine/cmake/CompileOptions.cmake || fail 'host contraction is not off'
grep -q -- '-fmad=false' engine/cmake/CompileOptions.cmake || fail 'device contraction is not off'
