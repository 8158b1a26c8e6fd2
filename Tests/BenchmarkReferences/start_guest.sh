# Measures the time until a plug's button works in the guest, from the start of the kernel and of the process. Prints
# "measured NAME: NANOSECONDS". The guest's clock counts instructions, so the emulator's speed does not affect the times.
set -e
. /bin/guest_plug.sh

# A board has a hardware random generator. This kernel has none, and its first random bytes take a second.
dd if=/dev/random of=/dev/null bs=1 count=1 2>/dev/null

# At the first start, a plug creates its key and the kernel reads the program from disk.
configure 1
starts=5
if [ -e /bin/guest_quick.sh ]; then . /bin/guest_quick.sh; fi
for start in $(seq $starts); do
    start_to_button "$(lines board)/sim_gpio1/pull" "$(lines board)/sim_gpio0/value" $plug 2>/tmp/plugd.log >/tmp/start ||
        fail "the button did not work"
    if [ "$start" = 1 ]; then
        sed -n "1s/^/measured first start: /p; 2s/^/measured boot: /p" /tmp/start
    else
        sed -n "1s/^/measured start: /p" /tmp/start
    fi
done
