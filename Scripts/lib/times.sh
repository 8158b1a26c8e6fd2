# Records the duration of each phase of a run, for Scripts/lib/results.py. Sourced.

results=$PWD/.build-tests/results
times=$results/times.jsonl

begin_times() {
    mkdir -p "$results" .build-logs
    find "$results" -maxdepth 1 -type f -delete
    # The compilers' wrappers add a line for each module.
    export SMARTPLUG_TIMES=$times
}

# note FORMAT ARGUMENT...: appends a line of JSON that printf formats.
note() {
    # shellcheck disable=SC2059
    printf "$1\n" "${@:2}" >>"$times"
}

# phase NAME COMMAND...: runs the command, records its duration and returns its status.
phase() {
    local name=$1 began=${EPOCHREALTIME/[.,]/} status=0
    shift
    "$@" || status=$?
    note '{"kind": "phase", "name": "%s", "seconds": %s, "status": %s}' \
        "$name" "$(((${EPOCHREALTIME/[.,]/} - began) / 100000))e-1" "$status"
    return "$status"
}
