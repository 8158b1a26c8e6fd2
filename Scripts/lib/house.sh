# The house of the demonstration: six plugs, a rule, and what to do in it. Sourced.
# Expects: programs, interface (empty for all), traces, from, speed, broker (true: with one).

# furnish_house: makes the state directories and the list of plugs, one a line: name, state directory, arguments, by tabs.
furnish_house() {
    house=$(mktemp -d "${TMPDIR:-/tmp}/smartplug.XXXXXX")
    export XDG_STATE_HOME=$house/remembered  # What plugctl remembers of this house goes with it.
    export SMARTPLUG_DAEMON=$house/daemon.socket
    trap leave_house EXIT
    # Minutes pass as seconds for what takes hours, so that a cycle is seen while one looks.
    local fast=${speed:-60} on=$'\t--power-on\ton'
    plugs=()
    add_plug Television "$(load TV-LCD television "${speed:-1}")$on"
    add_plug Amplifier "$(load Amplifier amplifier "${speed:-1}")"
    add_plug "Ceiling Light" $'--simulate\tlamp'
    add_plug Refrigerator "$(load Refrigerator refrigerator "$fast")$on"
    add_plug "Washing Machine" "$(load Washingmachine washing-machine "$fast")$on"
    add_plug Kettle $'--simulate\tkettle'
}

# load TRACE MODEL SPEED: the arguments that play the trace, or else the model.
load() {
    local file
    file=$(compgen -G "${traces:-/nonexistent}/$1*.csv*" | head -n 1 || true)
    if [[ -n $file ]]; then
        printf -- '--simulate\t%s\t--from\t%s\t--speed\t%s' "$(realpath "$file")" "$from" "${speed:-1}"
    else
        printf -- '--simulate\t%s\t--speed\t%s' "$2" "$3"
    fi
}

# add_plug NAME ARGUMENTS
add_plug() {
    local state=$house/${1// /-}
    plugs+=("$1"$'\t'"$state"$'\t'"$2")
}

network_arguments() { if [[ -n $interface ]]; then printf -- '--interface\n%s\n' "$interface"; fi; }

live_in_house() {
    local network=() plug fields
    mapfile -t network < <(network_arguments)
    for plug in "${plugs[@]}"; do
        IFS=$'\t' read -ra fields <<<"$plug"
        "$programs/plugd" run --name "${fields[0]}" --state "${fields[1]}" "${network[@]}" "${fields[@]:2}" \
            2>"$house/${fields[0]}.log" &
    done
    pair_house &
    local address
    if $broker; then start_broker; fi
    start_daemon "${network[@]}"
    find_dashboard
    if [[ -z $traces ]]; then watch_television & fi
    local press=".build-demo/plugd press --state $house/Kettle"
    local switch=".build-demo/plugd load --state $house/Television on"
    # Another terminal knows neither this house's plugs nor its daemon.
    local known="XDG_STATE_HOME=$XDG_STATE_HOME"
    local chart="$known .build-demo/plugctl chart Refrigerator --live ${network[*]}"
    local kettle="SMARTPLUG_DAEMON=$SMARTPLUG_DAEMON .build-demo/plugctl toggle Kettle"
    if $broker || [[ ! -t 1 ]]; then printf '%s\n' "the dashboard: $address" "through the daemon: $kettle" "press a button: $press" "switch the television: $switch" "a chart: $chart"; fi
    if $broker; then
        printf '%s\n' "another subscriber: mosquitto_sub -p $broker_port -v -t 'smartplug/#'"
        watch_both
        return
    fi
    "$programs/plugctl" watch "${network[@]}" \
        --note "In a browser: $address" \
        --note "In another terminal:" \
        --note "  $kettle" \
        --note "  $press" \
        --note "  $switch     (or standby)" \
        --note "  $chart" || true
}

# start_broker: mosquitto on the loopback interface, at a port that is free, and a broker.toml for the daemon.
start_broker() {
    broker_port=1883
    while (: </dev/tcp/127.0.0.1/$broker_port) 2>/dev/null; do broker_port=$((broker_port + 1)); done
    printf '%s\n' "listener $broker_port 127.0.0.1" "allow_anonymous true" >"$house/mosquitto.conf"
    mosquitto -c "$house/mosquitto.conf" 2>"$house/mosquitto.log" &
    configuration=$house/configuration
    mkdir -p "$configuration/smartplug"
    printf '%s\n' "[broker]" "host = \"127.0.0.1:$broker_port\"" 'tls = "off"' >"$configuration/smartplug/broker.toml"
    until (: </dev/tcp/127.0.0.1/$broker_port) 2>/dev/null; do sleep 0.05; done
}

# watch_both: lines of the house, and between them what mosquitto_sub hears, without the states, which come each second.
watch_both() {
    mosquitto_sub -p "$broker_port" -v -t 'smartplug/+/availability' -t 'smartplug/+/+/availability' -t 'smartplug/+/+/event' -t 'smartplug/+/+/set' |
        sed -u 's/^/broker | /' &
    "$programs/plugctl" watch --dead-band 20W --interval 60s "${network[@]}" | sed -u 's/^/house  | /' || true
}

# start_daemon NETWORK-ARGUMENT...: with its dashboard on the usual port, or on any where that is taken.
start_daemon() {
    local port=7580
    if (: </dev/tcp/127.0.0.1/$port) 2>/dev/null; then port=0; fi
    # Whoever looks into it may be faster than the daemon.
    : >"$house/daemon.log"
    # With a broker the daemon reads the broker.toml of this house, and not the person's own.
    XDG_CONFIG_HOME=${configuration:-${XDG_CONFIG_HOME:-}} "$programs/plugctl" daemon --json --controller "the rules" --rules Controller/Examples/television.yaml \
        --state "$house/daemon" --socket "$SMARTPLUG_DAEMON" --listen "127.0.0.1:$port" \
        "$@" >"$house/daemon.log" 2>&1 &
}

# Sets address to what a browser takes, as the daemon says it.
find_dashboard() {
    local tries
    for tries in {1..100}; do
        address=$(sed -nE 's/.*"address":"([^"]+)".*"event":"serving".*/\1/p' "$house/daemon.log" | head -n 1)
        if [[ -n $address ]]; then return; fi
        sleep 0.05
    done
    address="none: $(tail -n 1 "$house/daemon.log")"
}

# Each plug with the setup code that it keeps in its state directory; the label of a real one has it.
pair_house() {
    local network=() plug fields
    mapfile -t network < <(network_arguments)
    for plug in "${plugs[@]}"; do
        IFS=$'\t' read -ra fields <<<"$plug"
        "$programs/plugctl" pair "${fields[0]}" --code-file "${fields[1]}/setup-code" --wait 20s "${network[@]}" &
    done >/dev/null 2>>"$house/pairing.log"
    wait
}

# Somebody in the house: the light goes on, then the television; after a while the television goes to standby, and again.
watch_television() {
    local network=()
    mapfile -t network < <(network_arguments)
    trap 'kill $(jobs -p) 2>/dev/null; exit' TERM
    pause() { sleep "$1" & wait $!; }
    while true; do
        pause 8
        "$programs/plugctl" on "Ceiling Light" "${network[@]}"
        pause 4
        "$programs/plugd" load --state "$house/Television" on
        pause 40
        "$programs/plugd" load --state "$house/Television" standby
        pause 30
    done >/dev/null 2>&1
}

# check_house: as root, or as root of a user namespace, in network and mount namespaces of its own.
check_house() {
    local arguments=(--programs "$programs" --rules Controller/Examples/television.yaml) plug isolation=(-n -m)
    if ((EUID != 0)); then isolation=(-Urnm); fi
    for plug in "${plugs[@]}"; do arguments+=(--plug "$plug"); done
    # The recorded television rises 17 s after the default start.
    if $broker; then arguments+=(--broker "$house/broker"); fi
    if [[ -n $traces ]]; then arguments+=(--traces --patience 60); fi
    unshare "${isolation[@]}" sh -c 'ip link set lo up && exec "$@"' sh python3 Scripts/lib/demo_check.py "${arguments[@]}"
}

leave_house() {
    trap - EXIT
    # Orderly, so that whoever watches sees the plugs go.
    local running
    running=$(jobs -p)
    if [[ -n $running ]]; then
        kill $running 2>/dev/null || true
        wait $running 2>/dev/null || true
    fi
    rm -rf "$house"
}
