"""The daemon registers with a sleep proxy before the machine suspends, and takes over afterwards. logind is simulated on a message bus."""

import pathlib
import re
import sys
import time

import pytest

from deadlines import eventually
from harness.receivers import SYSTEM_PYTHON
from harness.served import PORT, Served

HERE = pathlib.Path(__file__).parent / "harness"


class Logind:
    """A system bus with logind's interface."""

    def __init__(self, host, folder):
        path = folder / "system-bus"
        self.host, self.address = host, f"unix:path={path}"
        host.start("dbus-daemon", "--session", "--nofork", "--nopidfile", "--nosyslog", f"--address={self.address}")
        eventually(path.exists, 5, "the bus")
        self.running = host.start(
            "env", f"DBUS_SESSION_BUS_ADDRESS={self.address}", SYSTEM_PYTHON, HERE / "logind_program.py", name="logind")
        self.running.seen(lambda line: line.text == "ready", 10, "that logind is ready")

    def announce(self, begins):
        self.host.run(
            "dbus-send", f"--bus={self.address}", "--type=method_call", "--print-reply", "--dest=org.freedesktop.login1",
            "/org/freedesktop/login1", "org.example.Test.Announce", f"boolean:{str(begins).lower()}")

    def events(self, event):
        """The events about the daemon's locks. The doctor takes one too, for another reason."""
        return [line for line in list(self.running.lines)
                if line.json and line.json["event"] == event and line.json["why"] == "registers with a sleep proxy"]


class Sleeper:
    """A machine whose daemon serves a dashboard to the network, with a plug, logind and a sleep proxy."""

    def __init__(self, lan, plug, controller, folder, manner):
        self.plug = plug(lan.host(), "Lamp")
        proxy = lan.host()
        self.proxy = proxy.start(
            sys.executable, HERE / "sleep_proxy_program.py", proxy.ipv4, "20-35-60-70 Plug", manner, name="the sleep proxy")
        self.proxy.seen_object(lambda told: told["event"] == "ready", 10, "that it is announced")
        self.host = lan.host()
        self.logind = Logind(self.host, folder)
        self.person = controller(self.host)
        typed = folder / "typed"
        typed.write_text("a long password of the owner\n")
        set_password = self.host.finish(
            "sh", "-c", 'typed=$1; shift; exec "$@" < "$typed"', "sh", typed, self.person.program, "daemon", "password")
        assert set_password.status == 0, set_password
        self.person.under(["env", f"DBUS_SYSTEM_BUS_ADDRESS={self.logind.address}"])
        self.served = Served(self.person, folder / "daemon", "--listen", f"{self.host.ipv4}:{PORT}").follows(1)
        self.logind.running.seen_object(lambda told: told["event"] == "inhibit", 15, "that the daemon holds a lock")

    def registrations(self):
        return [line.json for line in list(self.proxy.lines) if line.json and line.json["event"] == "registration"]

    def suspend(self):
        """Announces a suspend, and waits until the daemon permits it. Returns the duration in seconds."""
        before, start = len(self.logind.events("released")), time.monotonic()
        self.logind.announce(True)
        eventually(lambda: len(self.logind.events("released")) > before, 8, self.served.running.transcript)
        return time.monotonic() - start

    def said(self, words, within=10):
        return self.served.running.seen(lambda line: words in line.text, within, words).text


@pytest.fixture
def sleeper(lan, plug, controller, tmp_path):
    return lambda manner: Sleeper(lan, plug, controller, tmp_path, manner)


def test_the_daemon_registers_its_dashboard_and_takes_over(sleeper):
    """The lock delays the suspend until the proxy has the records. After the wake-up the lock is taken again."""
    machine = sleeper("accept")
    inhibit = machine.logind.events("inhibit")[0].json
    assert (inhibit["what"], inhibit["who"], inhibit["mode"]) == ("sleep", "plugctl", "delay")
    # The name of the dashboard is claimed a second after the start, and the proxy is found by then.
    eventually(lambda: proxy_finding(machine), 15, "that the doctor finds the proxy")
    machine.suspend()
    machine.said("registered with the sleep proxy Plug for 1 h")
    [registration] = machine.registrations()
    assert b"_https" in bytes.fromhex(registration["bytes"]) and registration["records"] >= 3
    assert machine.plug.press().status == 0
    time.sleep(1.5)  # The event follows when a second press would no longer make it a double press.
    machine.logind.announce(False)
    report = machine.said("awake after", 25)
    assert re.search(r"; Plug represented this host on eth0; [1-9]\d* events? of 1 plug happened meanwhile$", report), report
    eventually(lambda: len(machine.logind.events("inhibit")) == 2, 5, "the second lock")
    machine.suspend()
    first, second = (bytes.fromhex(told["bytes"]) for told in machine.registrations())
    assert owner_sequence(second) == (owner_sequence(first) + 1) % 256


def test_a_silent_proxy_delays_a_suspend_by_three_seconds_at_most(sleeper):
    machine = sleeper("silent")
    eventually(lambda: proxy_finding(machine), 15, "that the doctor finds the proxy")
    assert machine.suspend() < 4.5
    machine.said("the sleep proxy Plug did not answer")


def test_without_a_bus_only_a_line_in_the_log_and_in_the_doctor_differ(lan, plug, controller, tmp_path):
    plug(lan.host(), "Lamp")
    person = controller(lan.host())
    person.under(["env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent/bus"])
    served = Served(person, tmp_path / "daemon", "--no-dashboard").follows(1)
    served.running.seen(lambda line: "suspends of this machine are not followed" in line.text, 10, "the reason")
    found = [told for told in person.doctor().objects if told["subject"] == "sleep"]
    assert len(found) == 1 and found[0]["level"] == "ok" and "cannot use a sleep proxy" in found[0]["what"], found


def proxy_finding(machine):
    found = [told for told in machine.person.doctor().objects if told["subject"] == "sleep"]
    return any("the sleep proxy Plug" in told["what"] for told in found)


def owner_sequence(message):
    """The sequence number in the Owner option (code 4, 8 bytes, version 0)."""
    place = message.rindex(b"\x00\x04\x00\x08\x00")
    return message[place + 5]
