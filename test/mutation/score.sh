#!/usr/bin/env bash
# The mutation score of the hazard checker over every kernel of make_subjects.sh. Tools come from TOOLS (the build's
# output folder of //tools), else from the test's runfiles; further arguments go to gmoe-mutation.
set -euo pipefail
workspace="$(pwd)"
tools="${TOOLS:-$workspace/tools}"
out="${MUTATION_OUT:-${TEST_TMPDIR:-$(mktemp -d)}/mutation}"
test/mutation/make_subjects.sh "$tools/gmoe-compile" "$workspace" "$out"
exec "$tools/mutation/gmoe-mutation" "$out/list" --reasons="$workspace/test/mutation/redundant.tsv" "$@"
