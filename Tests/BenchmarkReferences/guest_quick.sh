# The short form of what is measured in the guest: that each value can be had. Sourced where it is there.
presses=20 rounds=1 rest_seconds=3 starts=2
