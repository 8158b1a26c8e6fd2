# Configures the plug that is measured in the guest: its drivers, its GPIO lines, and a meter on a simulated I2C bus. The guest's
# scripts source this file.

state=/tmp/plug
export LD_LIBRARY_PATH=/lib/libgpiod1  # The libgpiod of the C reference program.

fail() {
    echo "error: $1"
    cat /tmp/plugd.log
    exit 1
}

# lines CHIP: prints the folder of sysfs in which gpio-sim has the chip's lines.
lines() {
    local chip=/sys/kernel/config/gpio-sim/$1
    echo "/sys/devices/platform/$(cat "$chip/dev_name")/$(cat "$chip/bank0/chip_name")"
}

chip=$(grep -l "plug bench" /sys/class/i2c-adapter/*/name)
bus=$(basename "$(dirname "$chip")")
# Sets the meter's voltage register to 230 V.
echo "0x31c 5980000" >/sys/kernel/debug/plug_i2c/0x38/registers

# configure INTERVAL [SETTING]: writes plugd's configuration with a metering interval of INTERVAL seconds. SETTING is a line of TOML for the
# table [button], for example a debounce time; without it the default debounce time applies.
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
