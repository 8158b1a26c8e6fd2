"""A wrong wall clock for one program and its children."""

import pathlib
import subprocess
import time


class WrongClock:
    """`offset`: seconds added to the system's clock. `words` precede the program's command line."""

    def __init__(self, folder, offset):
        library = pathlib.Path(folder) / "wall_clock.so"
        self._step = pathlib.Path(folder) / "clock-is-set"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", library, pathlib.Path(__file__).with_name("wall_clock.c")], check=True)
        self.words = ["env", f"LD_PRELOAD={library}", f"CLOCK_OFFSET={offset:.3f}", f"CLOCK_STEP={self._step}"]

    @classmethod
    def of_1970(cls, folder):
        """The clock of a board without a battery, one minute after its start."""
        return cls(folder, 60 - time.time())

    def is_set(self):
        """Sets the clock right while the program runs."""
        self._step.touch()
