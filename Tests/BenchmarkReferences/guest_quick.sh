# Reduces the measurements in the guest for the short form of the benchmarks. The guest's scripts source this file if it exists.
presses=20 rounds=1 rest_seconds=3 starts=2
