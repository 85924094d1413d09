# Runs the tests with Bazel and counts what became of each.

passed=0
failed=0
skipped=0

# query OUT EXPRESSION: the labels, one a line; a package that does not load counts as a failure.
query() {
  local out="$1" errors="$scratch/query.err"
  shift
  if ! bazel query --noshow_progress --keep_going "$1" >"$out" 2>"$errors"; then
    grep -E 'ERROR|error' "$errors" >&2 || cat "$errors" >&2
    return 1
  fi
  sort -u -o "$out" "$out"
}

# run_tests NAME LABELS [BAZEL FLAGS…]: runs the tests listed in the file LABELS. Every label that Bazel does not
# report as passed has failed, whatever the reason: failure, time limit, build error, or no report at all.
run_tests() {
  local name="$1" labels="$2" log="$scratch/$1.log" total bad
  shift 2
  total="$(wc -l <"$labels")"
  if [ "$total" = 0 ]; then
    return
  fi
  say "$name: $total tests"
  bazel test --keep_going --test_summary=short --target_pattern_file="$labels" "$@" 2>&1 | tee "$log" || true
  # A line of Bazel's summary: //package:test  [(cached)] STATUS …
  sed -nE 's,^(//[^ ]+) +(\(cached\) +)?(PASSED|FLAKY)\b.*,\1,p' "$log" | sort -u >"$scratch/$name.reported"
  comm -12 "$labels" "$scratch/$name.reported" >"$scratch/$name.passed"
  comm -23 "$labels" "$scratch/$name.passed" >"$scratch/$name.failed"
  bad="$(wc -l <"$scratch/$name.failed")"
  passed=$((passed + total - bad))
  failed=$((failed + bad))
  if [ "$bad" != 0 ]; then
    say "$name: not passed:"
    local label
    while read -r label; do
      printf '  %s: %s\n' "$label" "$(status_of "$label" "$log")"
      show_log "$label"
    done <"$scratch/$name.failed"
  fi
}

status_of() {
  awk -v label="$1" '$1 == label && match($0, /(FAILED|TIMEOUT|NO STATUS|INCOMPLETE|REMOTE FAILURE).*/) {
    status = substr($0, RSTART, RLENGTH) } END { print status == "" ? "no report" : status }' "$2"
}

# The end of what a failed test printed; Bazel's own report of it is filtered with its other chatter.
show_log() {
  local path="${1#//}"
  path="bazel-testlogs/${path/:/\/}/test.log"
  if [ -f "$path" ] && [ "$path" -nt "$scratch/started" ]; then
    tail -n 60 "$path" | sed 's/^/    /'
  fi
}

have_gpu() { [ -e /dev/nvidiactl ]; }

count_tests() {
  local tests="tests(set($*))"
  query "$scratch/all" "$tests - attr(tags, '\\bmanual\\b', $tests)" || failed=$((failed + 1))
  : >"$scratch/skipped"
  if ! have_gpu; then
    query "$scratch/skipped" "attr(tags, '\\bgpu\\b', $tests)" || failed=$((failed + 1))
    comm -12 "$scratch/all" "$scratch/skipped" >"$scratch/without_gpu"
    mv "$scratch/without_gpu" "$scratch/skipped"
  fi
  comm -23 "$scratch/all" "$scratch/skipped" >"$scratch/labels"
  skipped="$(wc -l <"$scratch/skipped")"
  run_tests suite "$scratch/labels"
  # The lit tests of the dialects and passes once more: what they print must parse back.
  query "$scratch/lit" "filter('^//test/(dialect|lib)/', kind('lit_test', $tests))" || failed=$((failed + 1))
  comm -12 "$scratch/lit" "$scratch/labels" >"$scratch/roundtrip_labels"
  run_tests roundtrip "$scratch/roundtrip_labels" --test_env=GMOE_VERIFY_ROUNDTRIP=1
  if [ "$skipped" != 0 ]; then
    say "skipped, for want of a GPU:"
    sed 's/^/  /' "$scratch/skipped"
  fi
}

command_test() {
  local line
  scratch="$(mktemp -d)"
  touch "$scratch/started"
  unset GMOE_VERIFY_ROUNDTRIP
  if setup; then
    count_tests "${@:-//...}"
  else
    failed=1
  fi
  rm -rf "$scratch"
  shut_down
  bazel_used=0
  line="$passed passed, $failed failed"
  if [ "$skipped" != 0 ]; then
    line="$line, $skipped skipped"
  fi
  printf '%s\n' "$line"
  [ "$failed" = 0 ] && [ "$passed" != 0 ]
}
