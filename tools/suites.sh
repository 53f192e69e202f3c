# To be sourced after tools/environments.sh, with WORK (a folder) and TIMEOUT
# (seconds): runs suites in many environments and keeps what they found for
# tools/versions_table.py.

rm -rf "${WORK}"
mkdir -p "${WORK}"
readonly RESULTS="${WORK}/results.jsonl"
: > "${RESULTS}"

record() {  # Python's version, column, log, result
  echo "{\"python\": \"$1\", \"column\": \"$2\", \"log\": \"$3\"," \
    "\"result\": $4}" >> "${RESULTS}"
}

# Runs a command, and records the JSON object that is its last line; null, a
# failure, where there is none.
run_suite() {  # Python's version, column, name of the suite, command
  local log="${WORK}/$1-$2-$3.log" begin="${SECONDS}" result
  timeout "${TIMEOUT}" "${@:4}" > "${log}" 2>&1 || true
  result="$(tail -n 1 "${log}" | grep '^{' || echo null)"
  record "$1" "$2" "${log}" "${result}"
  say "Python $1, $2, $3: $((SECONDS - begin)) s"
}
