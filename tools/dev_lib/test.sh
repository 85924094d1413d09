# Runs the tests with Bazel and counts what became of each.

passed=0
failed=0
skipped=0

# query OUT EXPRESSION: the labels, sorted, one a line; fails where a package does not load, which is a failure too.
query() {
  local errors="$scratch/query.err" status=0
  bazel query --noshow_progress --keep_going "$2" >"$1" 2>"$errors" || status=1
  sort -u -o "$1" "$1"
  if [ "$status" != 0 ]; then
    grep -E 'ERROR|error' "$errors" >&2 || cat "$errors" >&2
  fi
  return "$status"
}

# run_tests LABELS: runs the tests listed in the file. Every label that Bazel does not report as passed has failed,
# whatever the reason: failure, time limit, build error, or no report at all.
run_tests() {
  local labels="$1" log="$scratch/log" label
  if [ ! -s "$labels" ]; then
    return
  fi
  say "$(wc -l <"$labels") tests"
  # The exit status is not read: a test that the summary below does not name
  # as passed counts as failed, one that did not build included.
  bazel test "${progress[@]}" --keep_going --test_summary=short --target_pattern_file="$labels" 2>&1 | tee "$log" || true
  # A line of Bazel's summary: //package:test  [(cached)] STATUS …
  sed -nE 's,^(//[^ ]+) +(\(cached\) +)?(PASSED|FLAKY)\b.*,\1,p' "$log" | sort -u >"$scratch/reported"
  comm -12 "$labels" "$scratch/reported" >"$scratch/passed"
  comm -23 "$labels" "$scratch/passed" >"$scratch/failed"
  passed="$(wc -l <"$scratch/passed")"
  failed=$((failed + $(wc -l <"$scratch/failed")))
  if [ -s "$scratch/failed" ]; then
    say "not passed:"
    while read -r label; do
      printf '  %s: %s\n' "$label" "$(status_of "$label" "$log")"
      show_log "$label"
    done <"$scratch/failed"
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
  local tests="tests(set($*))" broken=0
  query "$scratch/all" "$tests - attr(tags, '\\bmanual\\b', $tests)" || broken=1
  : >"$scratch/skipped"
  if ! have_gpu; then
    query "$scratch/skipped" "attr(tags, '\\bgpu\\b', $tests)" || broken=1
    comm -12 "$scratch/all" "$scratch/skipped" >"$scratch/without_gpu"
    mv "$scratch/without_gpu" "$scratch/skipped"
  fi
  comm -23 "$scratch/all" "$scratch/skipped" >"$scratch/labels"
  skipped="$(wc -l <"$scratch/skipped")"
  failed="$broken"
  run_tests "$scratch/labels"
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
