#!/usr/bin/env bash
# Runs test programs and prints failed tests and totals: run.sh PROGRAM...
#
# Build a test program for a GPU from the root of the repository:
#   nvcc -std=c++20 -O2 -gencode arch=compute_90a,code=sm_90a --expt-relaxed-constexpr \
#     -Icommon/include -o launches common/cuda_on_cpu/tests/launches.cu
set -u
status=0
for program in "$@"; do
  output=$(timeout 120 "$program" 2>&1)
  ended=$?
  count() { grep -c "$1" <<<"$output"; }
  printf '%-12s %3d ok, %d skipped, %d not ok' "${program##*/}" "$(count '^ok')" "$(count '# SKIP')" \
    "$(count '^not ok')"
  [ "$ended" = 0 ] && echo && continue
  status=1
  echo ", exit status $ended"
  grep -v '^ok' <<<"$output"
done
exit "$status"
