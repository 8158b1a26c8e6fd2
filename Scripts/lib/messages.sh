# What the scripts say. Sourced.

say() { printf '%s\n' "$*"; }

# complain WHAT [HINT]: on standard error, with what to try next.
complain() {
    printf 'error: %s\n' "$1" >&2
    if [[ -n ${2:-} ]]; then printf 'hint: %s\n' "$2" >&2; fi
}

# stop WHAT [HINT]
stop() {
    complain "$@"
    exit 1
}

# quietly LOG COMMAND...: shows the command at work on a terminal, and elsewhere only what it said when it failed.
quietly() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if [[ -t 1 ]]; then
        "$@"
    elif ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        return 1
    fi
}
