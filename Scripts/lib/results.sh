# Sums the results of everything that ran. Sourced.

results=$PWD/.build-tests/results
passed=0 failed=0 skipped=0

# record NAME PASSED FAILED SKIPPED
record() {
    passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
    say "$1: $2 passed, $3 failed, $4 skipped"
}

# count_report NAME STATUS FILE...: what a test run reported. A run that ended badly without telling of a
# failure (it crashed, or wrote no report) is itself one, and so is a run of nothing.
count_report() {
    local name=$1 status=$2 counts
    shift 2
    mapfile -t counts < <(python3 Scripts/lib/count_results.py "$@")
    if ((counts[0] + counts[1] + counts[2] == 0)); then complain "$name: no test ran"; fi
    if ((counts[1] == 0 && (status != 0 || counts[0] + counts[2] == 0))); then counts[1]=1; fi
    record "$name" "${counts[@]}"
}

close_with_totals() {
    say "$passed passed, $failed failed, $skipped skipped"
    ((failed == 0 && passed > 0))
}
