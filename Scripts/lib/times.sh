# Notes how long each phase of a run takes, for Scripts/lib/results.py. Sourced.

results=$PWD/.build-tests/results
times=$results/times.jsonl

begin_times() {
    mkdir -p "$results" .build-logs
    find "$results" -maxdepth 1 -type f -delete
    # The compilers' wrappers add a line for each module.
    export SMARTPLUG_TIMES=$times
}

# note FORMAT ARGUMENT...: a line of JSON, as printf makes it.
note() {
    # shellcheck disable=SC2059
    printf "$1\n" "${@:2}" >>"$times"
}

# phase NAME COMMAND...
phase() {
    local name=$1 began=${EPOCHREALTIME/[.,]/} status=0
    shift
    "$@" || status=$?
    note '{"kind": "phase", "name": "%s", "seconds": %s, "status": %s}' \
        "$name" "$(((${EPOCHREALTIME/[.,]/} - began) / 100000))e-1" "$status"
    return "$status"
}
