# shellcheck shell=bash
# Functions that read the TAP output of `tap`. Sourced by the other scripts here.

# Prints how many tests of a kind (pass, fail, skip) the summaries of a log have: count_tests KIND LOG
count_tests () {
  sed -nE "s/^# \{.*\b$1: ([0-9]+).*/\1/p" "$2" | awk '{ sum += $1 } END { print sum + 0 }'
}

# Prints how many tests failed, or 1 if the run failed for another reason, such as its coverage: count_failed STATUS LOG
count_failed () {
  local failed
  failed=$(count_tests fail "$2")
  local found=$(($(count_tests pass "$2") + $(count_tests skip "$2")))
  if [ "$failed" -eq 0 ] && { [ "$1" -ne 0 ] || [ "$found" -eq 0 ]; }; then failed=1; fi
  echo "$failed"
}

# Prints the failed tests again, because the start of a long output may be cut: show_failures LOG
show_failures () {
  grep -qE '^ *not ok' "$1" || return 0
  echo '== failed tests'
  awk '/^ *(ok |#|[0-9]+\.\.)/ { shown = 0 } /^ *not ok/ { shown = 1 } shown' "$1"
}
