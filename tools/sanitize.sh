#!/usr/bin/env bash
# Runs the native tests under sanitizers, then the fuzzers. The last line says
# what passed, and what was left out for want of what.
#
#   tools/sanitize.sh         everything
#   tools/sanitize.sh quick   address and undefined-behavior sanitizers only, for
#                             one instruction set beside "generic", x86-64-v3,
#                             without the tests tagged "no-sanitize-quick"
#
#   FUZZ_SECONDS  how long each fuzzer runs; default 60
#
# ThreadSanitizer runs the tests tagged "threads".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly FUZZERS=(
  kernel/fuzz/phase_type_fuzzer
  elimination/fuzz/elimination_fuzzer
)
readonly WORK=.build/fuzz  # inputs found, and those that failed

say() { echo "sanitize: $*" >&2; }

results=()
record() {  # name, exit status
  if (($2)); then results+=("$1 failed"); else results+=("$1 passed"); fi
}

native_tests() {
  bazel test --keep_going "$@"
}

thread_tests() {
  local options=(--config=tsan --test_tag_filters=threads)
  # gcc's ThreadSanitizer wants its memory where more randomness may not put it.
  if [[ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -gt 28 ]]; then
    options+=("--run_under=setarch -R")
  fi
  native_tests "${options[@]}" //native/...
}

# A clang that links libFuzzer, or nothing.
find_clang() {
  local name
  for name in clang clang-{21..11}; do
    command -v "${name}" >/dev/null || continue
    if echo 'extern "C" int LLVMFuzzerTestOneInput(const void*, unsigned long)
             { return 0; }' |
      "${name}" -fsanitize=fuzzer -xc++ - -lstdc++ -o /dev/null 2>/dev/null; then
      echo "${name}"
      return
    fi
  done
}

fuzz() {  # clang, fuzzer
  local options=(--config=fuzz "--repo_env=CC=$1")
  local folder="native/${2%/*}" name="${2##*/}" bin
  bazel build "${options[@]}" "//native:$2" || return
  bin="$(bazel info "${options[@]}" bazel-bin 2>/dev/null)" || return
  local work="${WORK}/${name}" seeds=()
  if [[ -d "${folder}/corpus" ]]; then seeds=("${folder}/corpus"); fi
  mkdir -p "${work}/found" "${work}/failed"
  say "${name} for ${FUZZ_SECONDS:-60} s; inputs that fail go to ${work}/failed"
  "${bin}/native/$2" "${work}/found" "${seeds[@]}" -max_len=300 -len_control=0 \
    -max_total_time="${FUZZ_SECONDS:-60}" -timeout=60 -report_slow_units=10 \
    -rss_limit_mb=4096 -artifact_prefix="${work}/failed/" \
    -print_final_stats=1 -verbosity=0
}

sanitizers=(--config=asan --config=ubsan)
if [[ "${1:-}" == quick ]]; then
  sanitizers+=(--config=dev --test_tag_filters=-no-sanitize-quick)
fi
native_tests "${sanitizers[@]}" //native/...
record "address and undefined" $?

if [[ "${1:-}" != quick ]]; then
  thread_tests
  record "thread" $?
  clang="$(find_clang)"
  if [[ -n "${clang}" ]]; then
    for fuzzer in "${FUZZERS[@]}"; do
      fuzz "${clang}" "${fuzzer}"
      record "${fuzzer##*/}" $?
    done
  else
    results+=("fuzzers left out: no clang with libFuzzer (on Debian 12: apt-get install clang-14 libclang-rt-14-dev)")
  fi
fi

printf -v line '%s; ' "${results[@]}"
say "${line%; }"
[[ "${line}" != *" failed; "* ]]
