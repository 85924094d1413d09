#!/usr/bin/env bash
# usage: run.sh FUZZER SECONDS SEED…      a SEED is a file, or a program that writes seeds to a folder
# What the fuzzer finds goes to bazel's undeclared outputs, where there are some.
set -euo pipefail
fuzzer="$1"
seconds="$2"
shift 2
scratch="$(mktemp -d "${TEST_TMPDIR:-/tmp}/fuzz.XXXXXX")"
artifacts="${TEST_UNDECLARED_OUTPUTS_DIR:-$scratch}/"
mkdir "$scratch/seeds" "$scratch/corpus"
for seed in "$@"; do
  if [ -x "$seed" ] && [ "${seed%.*}" = "$seed" ]; then
    "$seed" "$scratch/seeds"
  else
    cp "$seed" "$scratch/seeds/"
  fi
done
# The words of the PTX among the seeds, for the mutations. A dictionary only helps: bundles have no words, and then one is
# made up, so that nothing here may fail the run. What the fuzzer itself finds does.
{ cat "$scratch"/seeds/*.ptx 2>/dev/null || true; } | grep -oE '[.%@]?[A-Za-z_][A-Za-z0-9_.:]{1,40}' | sort -u | head -n 3000 |
  sed 's/.*/"&"/' >"$scratch/dictionary" || true
[ -s "$scratch/dictionary" ] || echo '"gmoe"' >"$scratch/dictionary"
exec "$fuzzer" -dict="$scratch/dictionary" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=1024 -max_len=65536 \
  -print_final_stats=1 -verbosity=1 -artifact_prefix="$artifacts" "$scratch/corpus" "$scratch/seeds"
