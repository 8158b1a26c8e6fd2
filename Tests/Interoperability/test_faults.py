"""Faults of real processes and networks: peers that stop, never read, open too many sessions, or become silent."""

import pathlib
import signal
import sys
import time

import pytest

WIRE = pathlib.Path(__file__).with_name("harness") / "wire_program.py"
SILENCE = 62  # seconds: more than the 45 s after which a silent peer is disconnected


def wire(host, kind, *words):
    return host.start(sys.executable, WIRE, kind, *words, name=f"wire {kind}")


def told(running, event, within):
    return running.seen_object(lambda line: line["event"] == event, within, event).json


def test_a_controller_that_never_reads_costs_no_memory_and_delays_nobody(lan, plug, controller, tmp_path):
    """A subscriber that does not read costs the plug less than 1 MB and does not delay others. When it reads again, it gets a gap for the
    missed events."""
    host = lan.host()
    lamp = plug(host, "Lamp")
    address, port = host.ipv4, controller(lan.host()).port("Lamp")
    hurried = lan.host()
    # Fills the journal's ring before memory is measured.
    told(wire(hurried, "commands", address, port, 6000), "done", 30)
    begin = lamp.status()["nextSequence"] - 1
    go = tmp_path / "go"
    sleeper = wire(lan.host(), "stall", address, port, begin, go)
    told(sleeper, "subscribed", 10)
    before = lamp.running.memory
    # The relay's state is known now, so each command causes an event.
    count = 36_000
    reader = wire(lan.host(), "follow", address, port, begin, begin + count)
    told(reader, "subscribed", 10)
    changed = told(wire(hurried, "commands", address, port, count), "done", 60)["changed"]
    last = lamp.status()["nextSequence"] - 1
    assert last - begin >= changed >= count - 1
    read = told(reader, "read", 20) if last >= begin + count else None
    after = lamp.running.memory
    assert after - before < 1024, f"{before} kB before, {after} after"
    assert read is None or (read["lost"] == 0 and read["events"] == count), read
    go.write_text(str(last))
    slept = told(sleeper, "read", 20)
    assert slept["last"] == last and slept["lost"] > 0 and slept["events"] + slept["lost"] == last - begin, slept
    print(f"{count} events: {after - before} kB more; the stalled reader read {slept['events']}, and got a gap of {slept['lost']}")


def test_one_session_too_many_is_told_why(lan, plug, controller):
    """The session above the limit is refused with the limit and a hint."""
    host = lan.host()
    plug(host, "Lamp")
    person = controller(lan.host())
    crowd = wire(lan.host(), "crowd", host.ipv4, person.port("Lamp"), 16)
    told(crowd, "all in", 10)
    detail = told(crowd, "refused", 10)["detail"]
    assert "16 connections" in detail and "close one" in detail
    crowd.stop()
    person.does("on", "Lamp")


@pytest.mark.time_limit(150)
def test_a_minute_of_silence(lan, plug, controller):
    """The plug disconnects a stopped controller. Controllers report a stopped plug and a partitioned network as disconnected. All
    controllers reconnect afterwards."""
    hosts = {name: lan.host() for name in ("Lamp", "Kettle", "Heater")}
    plugs = {name: plug(host, name) for name, host in hosts.items()}
    far = lan.host()
    watching = {name: controller(far if name == "Heater" else lan.host()).watch(name) for name in hosts}
    for name, lines in watching.items():
        lines.seen_object(lambda line: line["event"] == "snapshot", 10, f"the snapshot of {name}")
    slow = wire(lan.host(), "trickle", hosts["Lamp"].ipv4, controller(lan.host()).port("Lamp"))
    # Waits for the second announcement, one second after the first. A controller that receives it sends a ping to the plug.
    time.sleep(2)

    watching["Lamp"].process.send_signal(signal.SIGSTOP)
    plugs["Kettle"].running.process.send_signal(signal.SIGSTOP)
    far.part()
    cut = time.monotonic()
    time.sleep(2)
    for name in ("Lamp", "Heater"):
        assert plugs[name].press().status == 0
    time.sleep(SILENCE - 2)
    assert plugs["Lamp"].status()["controllers"] == 0, "the plug did not disconnect a silent controller"
    for name in ("Kettle", "Heater"):
        gone = next(line for line in watching[name].lines if line.json and line.json["event"] == "disconnected")
        assert 20 < gone.at - cut < 50, f"{name}: {gone}"

    back = time.monotonic()
    watching["Lamp"].process.send_signal(signal.SIGCONT)
    plugs["Kettle"].running.process.send_signal(signal.SIGCONT)
    far.join()
    for name in ("Lamp", "Heater"):
        pressed = watching[name].seen_object(lambda line: line["event"] == "button", 30, f"the press of {name}")
        assert SILENCE - 4 < pressed.json["age"] < SILENCE + 30, pressed
        numbers = [line.json["seq"] for line in watching[name].lines if line.json and "seq" in line.json]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), numbers
        print(f"{name} is followed again {pressed.at - back:.1f} s after")
    assert plugs["Kettle"].press().status == 0
    pressed = watching["Kettle"].seen_object(lambda line: line["event"] == "button", 30, "the press of Kettle")
    print(f"Kettle is followed again {pressed.at - back:.1f} s after")
    hung_up = told(slow, "hung up", 10)
    assert 40 < hung_up["after"] < 50 and "Nothing was received" in hung_up["said"], hung_up
