# What is measured in the guest of Tests/HardwareInTheLoop: plugd with its drivers, the kernel's lines and a meter on the kernel's bus,
# beside the C program edge_to_line on lines of its own. Prints "measured NAME: VALUE" for each value: nanoseconds of presses and of
# starts, and of a plug at rest context switches a second and the percentage of a core. Nothing is said on the console while something is measured.
set -e

presses=500 rounds=5 rest_seconds=60 starts=5
state=/tmp/plug

fail() {
    echo "error: $1"
    cat /tmp/plugd.log
    exit 1
}

# lines CHIP: the folder in which the simulation shows the chip's lines.
lines() {
    local chip=/sys/kernel/config/gpio-sim/$1
    echo "/sys/devices/platform/$(cat "$chip/dev_name")/$(cat "$chip/bank0/chip_name")"
}

# The reference gets a chip of the same kind.
make_reference_chip() {
    local chip=/sys/kernel/config/gpio-sim/reference
    mkdir -p "$chip/bank0/line0" "$chip/bank0/line1"
    echo 16 >"$chip/bank0/num_lines"
    echo REFERENCE_RELAY >"$chip/bank0/line0/name"
    echo REFERENCE_BUTTON >"$chip/bank0/line1/name"
    echo 1 >"$chip/live"
}

# wait_for TEXT FILE
wait_for() {
    local tries=0
    until grep -q "$1" "$2"; do
        tries=$((tries + 1))
        if [ $tries -gt 300 ]; then fail "\"$1\" was not said"; fi
        sleep 0.1
    done
}

# configure INTERVAL [LINE OF THE BUTTON'S TABLE]: meters so often. Without a line the contact is debounced as usual.
configure() {
    cat >/tmp/plugd.toml <<TOML
[relay]
kind = "plain"
line = "RELAY"
[button]
line = "BUTTON"
active_low = true
bias = "pull-up"
double_press_ms = 0
$2
[meter]
kind = "ade7953"
bus = "/dev/$bus"
interval_s = $1
[protection]
switches = 0
TOML
}

plug="plugd run --config /tmp/plugd.toml --name Benchmark --state $state --interface lo"

# start_plugd INTERVAL [LINE OF THE BUTTON'S TABLE]
start_plugd() {
    configure "$@"
    : >/tmp/plugd.log  # What the one before said is not what this one says.
    $plug 2>>/tmp/plugd.log &
    plugd=$!
    wait_for "announced as" /tmp/plugd.log
}

stop_plugd() {
    # A meter that was only just set up says so once.
    if [ "$(grep -c " cannot " /tmp/plugd.log)" != "$(grep -c " can .* again" /tmp/plugd.log)" ]; then
        fail "plugd had trouble"
    fi
    kill $plugd
    wait $plugd
}

# press LINES PRESSES [HELD]: the nanoseconds to its relay.
press() { press_poller "$1/sim_gpio1/pull" "$1/sim_gpio0/value" "$2" "$3"; }

# tell NAME FILE
tell() { sed "s/^/measured $1: /" "$2"; }

# rest NAME
rest() {
    process_rest $plugd $rest_seconds >/tmp/rest
    tell "$1" /tmp/rest
}

chip=$(grep -l "plug bench" /sys/class/i2c-adapter/*/name)
bus=$(basename "$(dirname "$chip")")
# 230 V.
echo "0x31c 5980000" >/sys/kernel/debug/plug_i2c/0x38/registers
# Each edge written down by the kernel would cost its time.
echo 0 >/sys/kernel/tracing/events/gpio/enable

# The first time a plug makes its key, and the kernel reads its program.
configure 1
for start in $(seq $starts); do
    start_to_button "$(lines board)/sim_gpio1/pull" "$(lines board)/sim_gpio0/value" $plug 2>/tmp/plugd.log >/tmp/start ||
        fail "the button did not work"
    if [ "$start" = 1 ]; then
        sed -n "1s/^/measured first start: /p; 2s/^/measured boot: /p" /tmp/start
    else
        sed -n "1s/^/measured start: /p" /tmp/start
    fi
done

make_reference_chip
echo pull-up >"$(lines reference)/sim_gpio1/pull"
edge_to_line REFERENCE_BUTTON REFERENCE_RELAY >/tmp/reference.log &
wait_for ready /tmp/reference.log

start_plugd 1 "debounce_ms = 0"
Benchmarks --peer presses Benchmark $state "$(lines board)/sim_gpio1/pull" $presses >/tmp/events || fail "no events"
tell event /tmp/events
for round in $(seq $rounds); do
    press "$(lines board)" $((presses / rounds)) 20 >>/tmp/ours || fail "no presses"
    press "$(lines reference)" $((presses / rounds)) 20 >>/tmp/theirs || fail "no presses of the reference"
done
tell relay /tmp/ours
tell "reference relay" /tmp/theirs
rest rest
stop_plugd

start_plugd 0.1
press "$(lines board)" $presses 50 >/tmp/debounced || fail "no presses"
tell "debounced relay" /tmp/debounced
rest "rest at 10 Hz"
stop_plugd
