# Runs in the guest of Tests/HardwareInTheLoop. Measures plugd with its drivers, simulated GPIO lines and a meter on a simulated I2C bus.
# As a reference, measures the C program edge_to_line on separate lines. Prints "measured NAME: VALUE" for each value: the latency of
# a press in nanoseconds, and for an idle plugd the context switches per second and the percentage of a core. Prints nothing during
# a measurement.
set -e
. /bin/guest_plug.sh

presses=500 rounds=5 rest_seconds=60
if [ -e /bin/guest_quick.sh ]; then . /bin/guest_quick.sh; fi

# make_reference_chip: creates a gpio-sim chip for the reference.
make_reference_chip() {
    local chip=/sys/kernel/config/gpio-sim/reference
    mkdir -p "$chip/bank0/line0" "$chip/bank0/line1"
    echo 16 >"$chip/bank0/num_lines"
    echo REFERENCE_RELAY >"$chip/bank0/line0/name"
    echo REFERENCE_BUTTON >"$chip/bank0/line1/name"
    echo 1 >"$chip/live"
}

# wait_for TEXT FILE: waits up to 30 s until FILE contains TEXT.
wait_for() {
    local tries=0
    until grep -q "$1" "$2"; do
        tries=$((tries + 1))
        if [ $tries -gt 300 ]; then fail "\"$1\" was not printed within 30 s"; fi
        sleep 0.1
    done
}

# start_plugd INTERVAL [SETTING]: calls `configure` with these arguments, starts plugd, and waits for its announcement.
start_plugd() {
    configure "$@"
    : >/tmp/plugd.log  # Removes the output of the previous plugd.
    $plug 2>>/tmp/plugd.log &
    plugd=$!
    wait_for "announced as" /tmp/plugd.log
}

stop_plugd() {
    # After its start, plugd may fail to read the meter once, and then recover.
    if [ "$(grep -c " cannot " /tmp/plugd.log)" != "$(grep -c " can .* again" /tmp/plugd.log)" ]; then
        fail "plugd reported an error that it did not recover from"
    fi
    kill $plugd
    wait $plugd
}

# press LINES PRESSES [HELD]: presses the button of the chip with the sysfs folder LINES, for HELD ms each. Prints for each press the
# nanoseconds from the release to the change of the relay's line.
press() { press_poller "$1/sim_gpio1/pull" "$1/sim_gpio0/value" "$2" "$3"; }

# tell NAME FILE: prints each line of FILE as a measurement.
tell() { sed "s/^/measured $1: /" "$2"; }

# rest NAME: measures the idle plugd.
rest() {
    process_rest $plugd $rest_seconds >/tmp/rest
    tell "$1" /tmp/rest
}

# Tracing each edge would add to the latencies.
echo 0 >/sys/kernel/tracing/events/gpio/enable

make_reference_chip
echo pull-up >"$(lines reference)/sim_gpio1/pull"
edge_to_line REFERENCE_BUTTON REFERENCE_RELAY >/tmp/reference.log &
wait_for ready /tmp/reference.log

start_plugd 1 "debounce_ms = 0"
Benchmarks --peer presses Benchmark $state "$(lines board)/sim_gpio1/pull" $presses >/tmp/events || fail "the events were not measured"
tell event /tmp/events
for round in $(seq $rounds); do
    press "$(lines board)" $((presses / rounds)) 20 >>/tmp/ours || fail "the presses were not measured"
    press "$(lines reference)" $((presses / rounds)) 20 >>/tmp/theirs || fail "the presses of the reference were not measured"
done
tell relay /tmp/ours
tell "reference relay" /tmp/theirs
rest rest
stop_plugd

start_plugd 0.1
press "$(lines board)" $presses 50 >/tmp/debounced || fail "the debounced presses were not measured"
tell "debounced relay" /tmp/debounced
rest "rest at 10 Hz"
stop_plugd
