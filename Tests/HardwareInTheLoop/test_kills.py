"""plugd is killed at random times, and restarted."""

import os
import random

from deadlines import eventually

ROUNDS = min(20, int(os.environ.get("SMARTPLUG_KILL_ROUNDS", "3")))


def test_killed_and_restarted_at_random_moments(guest, plug, lines, button, mains):
    """A restarted plugd writes only the value that the relay had before the kill, and the button still works."""
    seed = random.randrange(1 << 32)
    draw = random.Random(seed)
    print(f"seed {seed}")
    lines.last_when_let_go()
    mains.feeds(230, 1, 230)
    running = plug(
        button={"line": "BUTTON", "double_press_ms": 0},
        meter={"kind": "ade7953", "bus": "/dev/i2c-0", "interval_s": 0.1}).start()
    for _ in range(ROUNDS):
        if draw.random() < 0.6:
            running.is_ready()
            before = lines.changes("RELAY")
            button.press(120)
            eventually(lambda: len(lines.changes("RELAY")) == len(before) + 1, 10, "a toggle")
        value = lines.value("RELAY")
        count = len(lines.written("RELAY"))
        # The kill occurs at a random time within a second, possibly during the start or a measurement.
        guest.does(f"usleep {draw.randrange(1_000_000)}; kill -9 $(cat {running.folder}/pid)")
        running.has_ended()
        running.start(waits=False)
        guest.does(f"usleep {draw.randrange(300_000)}")
        assert set(lines.written("RELAY")[count:]) <= {value}, f"seed {seed}: {lines.record()[-10:]}"
    running.is_ready()
    assert lines.value("RELAY") == value
    before = len(lines.changes("RELAY"))
    button.press(120)
    eventually(lambda: len(lines.changes("RELAY")) == before + 1, 10, "a toggle by the button")
