#!/usr/bin/env bash
# Each press of one plug's button dims the lamp on another by one step: bright, 60 %, 30 %, off, and bright again.
#
#     button-dims-lamp.sh BUTTON LAMP        such as: button-dims-lamp.sh "Hall Switch" "Hall Lamp"
#
# It needs bash and plugctl (in PATH), paired with both plugs, and runs until it is interrupted. Each press counts exactly once,
# also those made while this script was not running, however it ended: the file below holds the cursor of the last press together
# with what it led to, written before the lamp is told. Remove the file to begin anew.
set -uo pipefail

if (($# != 2)); then
    echo "usage: ${0##*/} BUTTON LAMP" >&2
    exit 64
fi
button=$1 lamp=$2
folder=${XDG_STATE_HOME:-$HOME/.local/state}/smartplug/examples
kept=$folder/button-dims-${lamp//\//_}
mkdir -p "$folder" || exit 1

# Two of these would both act. What an earlier one has just begun holds the lock until it is done.
exec 8>"$kept.lock"
flock --nonblock 8 || { echo "waiting for another ${0##*/} to end" >&2 && flock 8; }

# `keep done|begun`: all of it or nothing, also when the power fails.
keep() {
    printf '%s %s %s\n' "$cursor" "$level" "$1" >"$kept.new" && sync "$kept.new" && mv "$kept.new" "$kept"
}

# Tells the lamp its level. The plug does what bears one cursor only once, so that asking again is no second step.
act() {
    local try
    for try in 1 2 4 8 0; do
        if timeout 20 plugctl dim "$lamp" "$level%" --once "$cursor" </dev/null; then return; fi
        sleep "$try" 8>&-
    done
    echo "$lamp was not reached: this press is lost" >&2
}

# `take LINE`: a line of `plugctl watch --json`. Text in it has its quotes escaped, so that such a pattern finds keys alone.
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
    # The shell itself reads: when it is killed nobody does, and watch ends as well. Readings are not wanted here.
    exec 9< <(exec plugctl watch "$button" --json --dead-band 100kW --interval 1d ${cursor:+--after "$cursor"} \
        $([[ $cursor ]] || echo --from-now) 8>&-)
    watch=$!
    while read -r line <&9; do
        take "$line" 9<&- || exit 1
    done
    exec 9<&-
    wait "$watch"
    status=$?
    # 64: nothing will be better the next time. Otherwise the plug may be away: it is looked for again, ever less often.
    if ((status == 64)); then exit 64; fi
    if ((SECONDS - begun > 60)); then pause=1; fi
    sleep "$pause" 8>&-
    pause=$((pause < 30 ? pause * 2 : 60))
done
