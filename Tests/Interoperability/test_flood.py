"""Unpaired peers from many addresses use all connections of a plug; a paired controller still connects, also after the
plug was killed."""

import pathlib
import sys
import time

from deadlines import eventually

STRANGER = pathlib.Path(__file__).with_name("harness") / "stranger_program.py"
PORT = 4711


def test_a_plug_that_was_killed_in_a_flood_has_room_for_those_it_knew(lan, plug, controller):
    """A plug killed during a flood still accepts known controllers, because it stores their addresses."""
    host = lan.host(ipv6=False)
    lamp = plug(host, "Lamp", port=PORT)
    person = controller(lan.host(ipv6=False))
    person.does("on", "Lamp")
    kept = pathlib.Path(lamp.state, "run", "addresses")
    eventually(kept.exists, 5, lambda: "the stored address of a controller")
    assert kept.read_text().split() == [f"::ffff:{person.host.ipv4}"]
    assert kept.stat().st_mode & 0o077 == 0

    flooding = lan.host(ipv6=False)
    sources = [f"10.7.0.{number}" for number in range(150, 190)]
    for source in sources:
        flooding.run("ip", "address", "add", f"{source}/24", "dev", "eth0")
    flood = flooding.start(sys.executable, STRANGER, "flood", host.ipv4, PORT, *sources, name="flood")
    flood.seen_object(lambda told: told["connections"] >= 100, 10, "a hundred connections")
    lamp.running.process.kill()
    lamp.running.ended(within=5)
    again = plug(host, "Lamp", state=lamp.state, port=PORT)
    eventually(lambda: again.press().status == 0, 5, lambda: "a restarted plug")
    flood.seen_object(lambda told: told["connections"] >= 1000, 20, "a thousand connections")
    for state in ("off", "on", "off"):
        began = time.monotonic()
        person.does(state, "Lamp", within=15)
        print(f"{state} in {time.monotonic() - began:.1f} s")
    assert again.status()["relay"] == "off" and flood.is_running
