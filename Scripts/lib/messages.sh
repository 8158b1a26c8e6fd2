# Prints messages and errors. Sourced.

say() { printf '%s\n' "$*"; }

# complain ERROR [HINT]: prints an error, and a hint for the user, on standard error.
complain() {
    printf 'error: %s\n' "$1" >&2
    if [[ -n ${2:-} ]]; then printf 'hint: %s\n' "$2" >&2; fi
}

# stop ERROR [HINT]: prints them and exits with 1.
stop() {
    complain "$@"
    exit 1
}

# quietly LOG COMMAND...: shows the output of the command if standard output is a terminal. Otherwise it writes the output to LOG, and
# prints LOG only if the command fails.
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
