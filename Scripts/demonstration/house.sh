# The house of the demonstration: six plugs, the daemon with a rule file, and simulated user actions. Sourced.
# Expects: programs, interface (empty for all), traces, from, speed, broker (true or false), and optionally matter=true.

: "${matter:=false}"

# furnish_house: creates the folder of the house and fills the array `plugs`. Each element has three fields, separated by tabs: the name,
# the path of the state directory, and the arguments.
furnish_house() {
    house=$(mktemp -d "${TMPDIR:-/tmp}/smartplug.XXXXXX")
    export XDG_STATE_HOME=$house/remembered  # leave_house removes this folder too.
    export SMARTPLUG_DAEMON=$house/daemon.socket
    trap leave_house EXIT
    # At this speed, an appliance cycle of some hours takes minutes, so that the user can watch it.
    local fast=${speed:-60} on=$'\t--power-on\ton'
    if $matter; then Scripts/matter-credentials "$house/matter" >/dev/null; fi
    plugs=()
    add_plug Television "$(load TV-LCD television "${speed:-1}")$on"
    add_plug Amplifier "$(load Amplifier amplifier "${speed:-1}")"
    add_plug "Ceiling Light" $'--simulate\tlamp'
    add_plug Refrigerator "$(load Refrigerator refrigerator "$fast")$on"
    add_plug "Washing Machine" "$(load Washingmachine washing-machine "$fast")$on"
    add_plug Kettle $'--simulate\tkettle'
}

# load TRACE MODEL SPEED: prints the arguments that play the trace, or the model if the trace does not exist.
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
    local state=$house/${1// /-} arguments=$2
    if $matter; then
        configure_matter "$state.toml"
        arguments+=$'\t--config\t'$state.toml
    fi
    plugs+=("$1"$'\t'"$state"$'\t'"$arguments")
}

# configure_matter FILE: writes the configuration of the next plug as a Matter device. All devices of a machine need different ports.
configure_matter() {
    printf '%s\n' '[matter]' 'enabled = true' "port = $((5540 + ${#plugs[@]}))" "credentials = \"$house/matter\"" >"$1"
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
    # Commands for a different terminal need the paths of this house's state and daemon.
    local known="XDG_STATE_HOME=$XDG_STATE_HOME"
    local chart="$known .build-demo/plugctl chart Refrigerator --live ${network[*]}"
    local kettle="SMARTPLUG_DAEMON=$SMARTPLUG_DAEMON .build-demo/plugctl toggle Kettle"
    local codes="$known .build-demo/plugctl matter Kettle" authority="$house/matter/paa" notes=()
    if $matter; then notes=(--note "  $codes" --note "  certificates that issued the Matter credentials: $authority"); fi
    if $broker || [[ ! -t 1 ]]; then
        printf '%s\n' "the dashboard: $address" "through the daemon: $kettle" "press a button: $press" "switch the television: $switch" "a chart: $chart"
        if $matter; then printf '%s\n' "Matter codes: $codes" "certificates that issued the Matter credentials: $authority"; fi
    fi
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
        --note "  $chart" "${notes[@]}" || true
}

# start_broker: starts mosquitto on a free port of the loopback interface and writes a broker.toml for the daemon.
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

# watch_both: prints the lines of the house and the messages of mosquitto_sub, without the states, which change each second.
watch_both() {
    mosquitto_sub -p "$broker_port" -v -t 'smartplug/+/availability' -t 'smartplug/+/+/availability' -t 'smartplug/+/+/event' -t 'smartplug/+/+/set' |
        sed -u 's/^/broker | /' &
    "$programs/plugctl" watch --dead-band 20W --interval 60s "${network[@]}" | sed -u 's/^/house  | /' || true
}

# start_daemon NETWORK-ARGUMENT...: starts the daemon with its dashboard on port 7580, or on any free port if 7580 is in use.
start_daemon() {
    local port=7580
    if (: </dev/tcp/127.0.0.1/$port) 2>/dev/null; then port=0; fi
    # find_dashboard may read the log before the daemon creates it.
    : >"$house/daemon.log"
    # With a broker, the daemon reads the broker.toml of this house instead of the user's.
    XDG_CONFIG_HOME=${configuration:-${XDG_CONFIG_HOME:-}} "$programs/plugctl" daemon --json --controller "the rules" --rules Controller/Examples/television.yaml \
        --state "$house/daemon" --socket "$SMARTPLUG_DAEMON" --listen "127.0.0.1:$port" \
        "$@" >"$house/daemon.log" 2>&1 &
}

# find_dashboard: sets `address` to the dashboard's URL from the daemon's log, or to an error after 5 s.
find_dashboard() {
    local tries
    for tries in {1..100}; do
        address=$(sed -nE 's/.*"address":"([^"]+)".*"event":"serving".*/\1/p' "$house/daemon.log" | head -n 1)
        if [[ -n $address ]]; then return; fi
        sleep 0.05
    done
    address="none: $(tail -n 1 "$house/daemon.log")"
}

# pair_house: pairs each plug with the setup code from its state directory. A real plug has the code on its label.
pair_house() {
    local network=() plug fields
    mapfile -t network < <(network_arguments)
    for plug in "${plugs[@]}"; do
        IFS=$'\t' read -ra fields <<<"$plug"
        "$programs/plugctl" pair "${fields[0]}" --code-file "${fields[1]}/setup-code" --wait 20s "${network[@]}" &
    done >/dev/null 2>>"$house/pairing.log"
    wait
}

# watch_television: simulates a user, in a loop: light on, television on, television to standby.
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

# check_house: runs check.py in new network and mount namespaces, and in a user namespace unless the user is root.
check_house() {
    local arguments=(--programs "$programs" --rules Controller/Examples/television.yaml) plug isolation=(-n -m)
    if ((EUID != 0)); then isolation=(-Urnm); fi
    for plug in "${plugs[@]}"; do arguments+=(--plug "$plug"); done
    if $broker; then arguments+=(--broker "$house/broker"); fi
    # The power of the recorded television rises 17 s after the default of --from.
    if [[ -n $traces ]]; then arguments+=(--traces --patience 60); fi
    unshare "${isolation[@]}" sh -c 'ip link set lo up && exec "$@"' sh python3 Scripts/demonstration/check.py "${arguments[@]}"
}

leave_house() {
    trap - EXIT
    # SIGTERM lets the plugs announce their departure.
    local running
    running=$(jobs -p)
    if [[ -n $running ]]; then
        kill $running 2>/dev/null || true
        wait $running 2>/dev/null || true
    fi
    rm -rf "$house"
}
