"""Tests of `plugctl info` for a plug that was killed, but is still announced: the command ends after its timeout or on a
signal."""

import os
import pathlib
import signal

import pytest

from harness import zeroconf_peer


@pytest.fixture
def killed(lan, plug):
    """A paired plug that was killed. python-zeroconf on its host still announces its name and id, with a port on which no program listens."""
    lamp = plug(lan.host(), "Lamp")
    lamp.running.seen(lambda line: "announced as" in line.text, 10, "that it is announced")
    identity = lamp.status()["id"]
    lamp.running.process.kill()
    lamp.running.ended(5)
    zeroconf_peer.publish(lamp.host, "Lamp", 4711, "txtvers=1", f"id={identity}", "pv=1", "pair=0", "caps=relay")
    return lamp


@pytest.fixture
def person(lan, controller):
    return controller(lan.host())


def asks(person, *words):
    """Starts `plugctl info`, and waits until it has failed to connect and retries."""
    running = person.start("info", "Lamp", *words)
    running.seen(lambda line: line.error and "retrying" in line.text, 15, "that it retries")
    return running


def test_info_of_a_killed_plug_ends_after_its_timeout(killed, person):
    done = person.finish("info", "Lamp", "--timeout", "2s", within=15)
    assert done.status == 1 and not done.output, done
    assert "retrying" in done.errors and "no answer within 2" in done.errors, done


def test_a_plug_is_reached_at_its_last_address(lan, plug, controller):
    """A command does not need multicast DNS for a plug with an unchanged address, and finds a plug that has a new port."""
    lamp = plug(lan.host(), "Lamp")
    person = controller(lan.host())
    person.does("on", "Lamp")
    person.host.run("nft", "add table inet deaf; add chain inet deaf in { type filter hook input priority 0; };"
                    " add rule inet deaf in udp dport 5353 drop")
    person.does("off", "Lamp")
    assert lamp.status()["relay"] == "off"
    person.host.run("nft", "delete table inet deaf")
    lamp.running.terminate()
    lamp.running.ended(within=5)
    missing = person.finish("on", "Lamp")
    assert missing.status == 1 and "it was last reached at" in missing.errors, missing
    plug(lamp.host, "Lamp", state=lamp.state)
    person.does("on", "Lamp")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_info_of_a_killed_plug_ends_at_once_on_a_signal(killed, person, number):
    running = asks(person, "--timeout", "600s")
    running.process.send_signal(number)
    assert running.ended(5) == 128 + number, running.transcript()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_info_as_the_first_process_of_a_container_ends_at_once_on_a_signal(killed, person, number):
    """The kernel delivers a signal to the first process of a container only if that process has a handler for the signal."""
    # libdispatch counts running threads in /proc and traps if one of its threads is missing there, so the container has its own /proc.
    person.under(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"])
    running = asks(person, "--timeout", "600s")
    parent = running.process.pid
    [child] = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    os.kill(int(child), number)
    assert running.ended(5) == 128 + number, running.transcript()

