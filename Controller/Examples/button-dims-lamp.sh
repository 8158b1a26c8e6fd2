#!/usr/bin/env bash
# Dims the lamp on one plug by one step per button press on a different plug: 100 %, 60 %, 30 %, off, and 100 % again.
#
#     button-dims-lamp.sh BUTTON LAMP        for example: button-dims-lamp.sh "Hall Switch" "Hall Lamp"
#
# The script needs bash and plugctl (in PATH), paired with both plugs, and runs until it is interrupted. Each single
# press counts exactly once, also if the script was not running at the press or was killed during it. The file below
# stores the cursor of the last press and the resulting level, before the lamp receives the command. Remove the file to
# start over.
set -uo pipefail

if (($# != 2)); then
    echo "usage: ${0##*/} BUTTON LAMP" >&2
    exit 64
fi
button=$1 lamp=$2
folder=${XDG_STATE_HOME:-$HOME/.local/state}/smartplug/examples
kept=$folder/button-dims-${lamp//\//_}
mkdir -p "$folder" || exit 1

# Two running scripts would both act. A command that an earlier script has started holds the lock until it ends.
exec 8>"$kept.lock"
flock --nonblock 8 || { echo "waiting for another ${0##*/} to end" >&2 && flock 8; }

# `keep done|begun`: replaces the file atomically, even if the power fails.
keep() {
    printf '%s %s %s\n' "$cursor" "$level" "$1" >"$kept.new" && sync "$kept.new" && mv "$kept.new" "$kept"
}

# Sends the level to the lamp. The plug performs a command with the same cursor only once, so a retry is safe.
act() {
    local try
    for try in 1 2 4 8 0; do
        if timeout 20 plugctl dim "$lamp" "$level%" --once "$cursor" </dev/null; then return; fi
        sleep "$try" 8>&-
    done
    echo "$lamp was not reached: this press is lost" >&2
}

# `take LINE`: handles a line of `plugctl watch --json`. Quotes in its strings are escaped, so the patterns match only keys.
take() {
    [[ $1 =~ \"cursor\":\"([-_0-9A-Za-z]+)\" ]] || return 0
    cursor=${BASH_REMATCH[1]}
    if [[ $1 == *'"event":"button"'* && $1 == *'"press":"single"'* ]]; then
        case $level in 100) level=60 ;; 60) level=30 ;; 30) level=0 ;; *) level=100 ;; esac
        keep begun || return
        echo "a press: $lamp to $level %"
        act
    fi
    keep done
}

cursor='' level=100 state=done
if [[ -e $kept ]]; then read -r cursor level state <"$kept"; fi
if [[ $state == begun ]]; then
    act
    keep done || exit 1
fi

pause=1
while true; do
    begun=$SECONDS
    # The shell itself reads the pipe, so `plugctl watch` ends if the shell is killed. The options suppress readings.
    exec 9< <(exec plugctl watch "$button" --json --dead-band 100kW --interval 1d ${cursor:+--after "$cursor"} \
        $([[ $cursor ]] || echo --from-now) 8>&-)
    watch=$!
    while read -r line <&9; do
        take "$line" 9<&- || exit 1
    done
    exec 9<&-
    wait "$watch"
    status=$?
    # Status 64 is a usage error, which a retry does not fix. Otherwise the plug may be absent: retry with a growing pause.
    if ((status == 64)); then exit 64; fi
    if ((SECONDS - begun > 60)); then pause=1; fi
    sleep "$pause" 8>&-
    pause=$((pause < 30 ? pause * 2 : 60))
done
