# What the commands of tools/dev share: messages, Bazel, the built tools.

say() { printf 'dev: %s\n' "$*"; }
complain() { printf 'dev: %s\n' "$*" >&2; }

# need_setup WHAT PATH: refuses when PATH is empty.
need_setup() {
  if [ -z "$2" ]; then
    complain "$1 not found: run tools/dev setup"
    exit 1
  fi
}

bazel_used=0

can_write() { mkdir -p "$1" 2>/dev/null && [ -w "$1" ]; }

# Bazel with its files where this user can write: HOME may be unset or read-only.
bazel() {
  bazel_used=1
  command bazel $(bazel_startup) "$@"
}

# A sign of life every half minute; a build is minutes long.
progress=(--show_progress --show_progress_rate_limit=30 --curses=no)

bazel_startup() {
  if [ -n "${HOME:-}" ] && can_write "$HOME/.cache/bazel" &&
      { [ -z "${XDG_CACHE_HOME:-}" ] || can_write "$XDG_CACHE_HOME/bazel"; }; then
    return
  fi
  local dir="/tmp/grouped-moe-bazel-$(id -u)"
  mkdir -p -m 700 "$dir"
  if [ ! -O "$dir" ]; then
    complain "$dir belongs to another user: set HOME to a writable folder"
    exit 1
  fi
  printf -- '--output_user_root=%s' "$dir"
}

# In continuous integration no server may outlive the job.
shut_down() {
  if [ "$bazel_used" = 1 ] && [ "${CI:-}" = true ]; then
    bazel shutdown >/dev/null 2>&1 || true
  fi
}

# run_tool NAME ARGS…: prints the command line and runs a tool of this build.
run_tool() {
  local path="bazel-bin/tools/$1"
  if [ -d "$path" ]; then
    path="$path/$1"
  fi
  shift
  printf '$ %s\n' "$path $*"
  "$path" "$@"
}
