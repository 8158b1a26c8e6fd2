"""`plugctl doctor` reports each fault with a hint, and reports none in a healthy house."""

import sys

import pytest

from harness.avahi import Avahi
from harness.keys import controller_directory, key_in

HOLDER = "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 5353)); print('bound', flush=True); time.sleep(60)"


def about(done, subject, name=None):
    found = [told for told in done.objects if told["subject"] == subject and name in (None, told["about"])]
    assert found, f"nothing about {subject} {name or ''}: {done}"
    return found


def problems(done):
    return [told for told in done.objects if told["level"] == "problem"]


@pytest.fixture
def lamp(lan, plug):
    return plug(lan.host(), "Lamp")


@pytest.fixture
def person(lan, lamp, controller):
    """Returns a controller that is paired with the lamp, after the lamp's announcement."""
    person = controller(lan.host())
    lamp.running.seen(lambda line: "announced as" in line.text, 10, "the announcement")
    return person


def test_a_healthy_house_has_no_problem(lamp, person):
    done = person.doctor()
    assert done.status == 0 and not problems(done), done
    assert person.host.ipv4 in about(done, "interface", "eth0")[0]["what"]
    assert lamp.host.ipv4 in about(done, "multicast", "eth0")[0]["what"]
    assert about(done, "port")[0]["what"].startswith("no other program")
    service, lamp_found = about(done, "service", "Lamp")[0], about(done, "plug", "Lamp")[0]
    assert service["level"] == lamp_found["level"] == "ok" and "next" not in service, "there is a hint for a paired plug"
    assert f"port {person.port('Lamp')}" in service["what"]
    assert lamp_found["what"].startswith("its key matches the pinned key, and it answers in ")


def test_it_is_read_by_people_too(person):
    """Without --json, findings and hints are printed as text."""
    done = person.finish("doctor", within=25)
    assert done.status == 0 and "ok       plug Lamp: its key matches" in done.output, done
    person.host.run("ip", "link", "set", "eth0", "down")
    done = person.finish("doctor", within=25)
    assert done.status == 1, done
    assert "problem  interface eth0: it is switched off\n         hint: ip link set eth0 up" in done.output, done


def test_what_it_says_about_an_interface_without_multicast_helps(person):
    """The hint for an interface without multicast is a command that repairs the interface."""
    person.host.run("ip", "link", "set", "eth0", "multicast", "off")
    done = person.doctor()
    assert done.status == 1, done
    finding = about(done, "interface", "eth0")[0]
    assert (finding["level"], finding["what"]) == ("problem", "multicast is disabled")
    person.host.run(*finding["next"].split())
    done = person.doctor()
    assert done.status == 0, done


def test_an_interface_that_is_not_there(person):
    """A missing interface is a problem."""
    done = person.doctor("--interface", "wlan7", "--wait", "1s")
    assert done.status == 1 and about(done, "interface", "wlan7")[0]["level"] == "problem", done


def test_another_responder_on_the_host_is_named(person):
    """The doctor names another responder on the host, which is not a problem."""
    Avahi(person.host)
    done = person.doctor()
    assert done.status == 0, done
    assert "avahi-daemon (process " in about(done, "port")[0]["what"], done


def test_a_program_that_keeps_the_port_for_itself_is_named(person):
    """A program that uses port 5353 exclusively over IPv4 is named, and the plug is still reachable over IPv6."""
    holder = person.host.start(sys.executable, "-c", HOLDER)
    holder.seen(lambda line: line.text == "bound", 5, "that it opened the port")
    done = person.doctor()
    assert done.status == 1, done
    finding = about(done, "multicast", "eth0, IPv4")[0]
    assert finding["what"].startswith("cannot open port 5353: bind: ") and f"(process {holder.process.pid})" in finding["why"], done
    # IPv6 still works.
    assert about(done, "plug", "Lamp")[0]["level"] == "ok", done


def test_a_plug_that_is_away(lamp, person):
    """A paired plug without an announcement is a problem. The hint has a command for a plug that is gone forever, which removes the
    problem."""
    lamp.running.terminate()
    lamp.running.ended(10)
    done = person.doctor()
    assert done.status == 1, done
    finding = about(done, "plug", "Lamp")[0]
    assert finding["what"].startswith("it is paired but not announced")
    assert finding["next"].endswith('plugctl unpair "Lamp" --here-only')
    assert about(done, "service")[0]["what"] == "no host answers for _smartplug._tcp"
    # Runs the command of the hint.
    person.does("unpair", "Lamp", "--here-only")
    assert person.doctor().status == 0


def test_a_plug_with_another_key(lan, plug, controller, tmp_path):
    """A plug whose key differs from the pinned one is a problem with a hint."""
    state = tmp_path / "lamp"
    lamp = plug(lan.host(), "Lamp", state=state)
    lamp.running.terminate()
    lamp.running.ended(10)
    (state / "key").unlink()
    key_in(state / "key")
    plug(lan.host(), "Lamp", state=state).running.seen(lambda line: "announced as" in line.text, 10, "the announcement")
    done = controller(lan.host()).doctor()
    assert done.status == 1, done
    finding = about(done, "plug", "Lamp")[0]
    assert finding["level"] == "problem" and "a different key than the paired plug" in finding["what"] and "next" in finding, done


def test_a_key_that_others_may_read(person):
    """A controller key that other users may read is a problem."""
    (controller_directory() / "key").chmod(0o644)
    done = person.doctor("--wait", "1s")
    assert done.status == 1 and about(done, "controller")[0]["level"] == "problem", done


def test_alone_on_the_network(lan, controller):
    """Without any other host, the doctor warns about multicast and missing services, and creates no key."""
    done = controller(lan.host()).doctor()
    assert done.status == 0, done
    warned = {(told["subject"], told["about"]) for told in done.objects if told["level"] == "warning"} - {("clock", "")}
    assert warned == {("multicast", "eth0"), ("service", "")}, done
    assert not (controller_directory() / "key").exists(), "the doctor created a key"
