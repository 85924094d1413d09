# What a build needs, found or installed. Every step looks at the real state, so a second run is quick.

ptxas_requirement='nvidia-cuda-nvcc==13.0.*'
venv="$root/.gmoe/venv"

# Debian package, and a file or command that shows it is there (an own LLVM counts through LLVM_ROOT).
required_packages() {
  local llvm="${LLVM_ROOT:-/usr/lib/llvm-22}"
  cat <<TEXT
bazel-bootstrap command:bazel
bazel-rules-java /usr/share/bazel/rules/java
bazel-rules-proto /usr/share/bazel/rules/proto
bazel-skylib /usr/share/bazel/tools/skylib
bazel-platforms /usr/share/bazel/platforms
libmlir-22-dev $llvm/include/mlir/IR/OpBase.td
mlir-22-tools $llvm/bin/mlir-tblgen
llvm-22-dev $llvm/include/llvm/IR/IRBuilder.h
llvm-22-tools $llvm/bin/FileCheck
clang-22 command:clang-22
libclang-rt-22-dev $llvm/lib/clang/22/lib/linux/libclang_rt.fuzzer-x86_64.a
lld-22 command:ld.lld-22
clang-format-22 command:clang-format-22
libflatbuffers-dev /usr/include/flatbuffers/flatbuffers.h
flatbuffers-compiler command:flatc
libgtest-dev /usr/include/gtest/gtest.h
nlohmann-json3-dev /usr/include/nlohmann/json.hpp
python3-venv module:ensurepip
TEXT
}

missing_packages() {
  local package probe
  while read -r package probe; do
    case "$probe" in
    command:*) command -v "${probe#command:}" >/dev/null 2>&1 && continue ;;
    module:*) has_module "${probe#module:}" && continue ;;
    *) [ -e "$probe" ] && continue ;;
    esac
    printf '%s\n' "$package"
  done < <(required_packages)
}

# The virtual environment is made from the system's Python, as its packages are.
base_python() {
  if [ -x /usr/bin/python3 ]; then
    printf /usr/bin/python3
  else
    command -v python3
  fi
}

has_module() {
  local python
  python="$(base_python)" && "$python" -c "import $1" 2>/dev/null
}

setup_packages() {
  local missing as_root=()
  missing="$(missing_packages | tr '\n' ' ')"
  if [ -z "$missing" ]; then
    return
  fi
  say "missing packages: $missing"
  if ! command -v apt-get >/dev/null; then
    complain "no apt-get here: install these (Debian's names) and run tools/dev setup again: $missing"
    return 1
  fi
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || { [ -t 2 ] && sudo -v </dev/tty; }; }; then
      complain "not root and no sudo: have these packages installed and run tools/dev setup again: $missing"
      return 1
    fi
    as_root=(sudo)
  fi
  say "installing them with apt-get"
  # A list that cannot be renewed may still be good enough.
  "${as_root[@]}" apt-get update -q || complain "apt-get update failed, going on with the lists that are here"
  # shellcheck disable=SC2086
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -q -y --no-install-recommends $missing; then
    complain "apt-get could not install: $missing"
    complain "the packages with -22 in their names are in the LLVM project's Debian repository: add it where they are unknown"
    return 1
  fi
  missing="$(missing_packages | tr '\n' ' ')"
  if [ -n "$missing" ]; then
    complain "still missing after the installation: $missing"
    return 1
  fi
}

# pip_install WHY ARGS…
pip_install() {
  local why="$1"
  shift
  if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    say "making the virtual environment .gmoe/venv"
    rm -rf "$venv"
    mkdir -p "$root/.gmoe"
    if ! "$(base_python)" -m venv "$venv"; then
      complain "cannot make .gmoe/venv: install python3-venv"
      return 1
    fi
  fi
  say "installing $why into .gmoe/venv"
  if ! "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-input "$@"; then
    complain "pip could not install $why ($*)"
    return 1
  fi
}

oracles_are_there() {
  "$venv/bin/python" - tools/dev_lib/requirements.txt 2>/dev/null <<'PYTHON'
import importlib, sys
for line in open(sys.argv[1]):
    line = line.split("#")[0].strip()
    if line:
        name, version = line.split("==")
        if importlib.import_module(name).__version__ != version:
            sys.exit(1)
PYTHON
}

setup_python() {
  oracles_are_there || pip_install "NumPy and ml_dtypes" -r tools/dev_lib/requirements.txt
}

# ptxas_version PATH: its version when that is 13.0 or later, which PTX 9.0 needs.
ptxas_version() {
  local version
  [ -f "$1" ] && [ -x "$1" ] || return 1
  version="$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p')"
  [ -n "$version" ] && [ "${version%%.*}" -ge 13 ] && printf '%s' "$version"
}

ptxas_candidates() {
  printf '%s\n' "${GMOE_PTXAS:-}" "${CUDA_HOME:+$CUDA_HOME/bin/ptxas}" /usr/local/cuda/bin/ptxas \
    "$(command -v ptxas || true)"
  # The wheel's folder carries its major version.
  find "$venv"/lib/python3*/site-packages/nvidia -name ptxas -path '*/bin/*' 2>/dev/null || true
}

find_ptxas() {
  local path
  while read -r path; do
    if [ -n "$path" ] && ptxas_version "$path" >/dev/null; then
      readlink -f "$path"
      return
    fi
  done < <(ptxas_candidates)
  return 1
}

setup_ptxas() {
  if [ -n "${GMOE_PTXAS:-}" ] && ! ptxas_version "$GMOE_PTXAS" >/dev/null; then
    complain "GMOE_PTXAS=$GMOE_PTXAS is not a ptxas of version 13.0 or later: looking elsewhere"
  fi
  local path
  if ! path="$(find_ptxas)"; then
    pip_install "ptxas 13.0" --no-deps "$ptxas_requirement" || {
      complain "no ptxas 13.0 or later: install a CUDA toolkit and set CUDA_HOME, or set GMOE_PTXAS"
      return 1
    }
    if ! path="$(find_ptxas)"; then
      complain "the package $ptxas_requirement holds no ptxas that runs here"
      return 1
    fi
  fi
  export GMOE_PTXAS="$path"
}

setup() {
  setup_packages && setup_python && setup_ptxas || return 1
  export GMOE_PYTHON="$venv/bin/python"
}
