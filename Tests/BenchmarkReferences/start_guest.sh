# How long a plug takes in the guest until its button works. Prints "measured NAME: NANOSECONDS": of the kernel's start and of the
# process's. It is booted with instructions counted, or the emulation of a processor would be measured.
set -e
. /bin/guest_plug.sh

# A board has a source of randomness; this kernel has none and takes a second until it gives any.
dd if=/dev/random of=/dev/null bs=1 count=1 2>/dev/null

# The first time a plug makes its key, and the kernel reads its program.
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
