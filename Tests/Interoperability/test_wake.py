"""`plugctl wake` sends magic packets, and reports whether the machine answers."""

import json
import sys

import pytest

RECEIVER = """\
import json, socket
port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
port.bind(("", 9))
print(json.dumps({"event": "ready"}), flush=True)
while True:
    print(json.dumps({"event": "packet", "bytes": port.recv(2000).hex()}), flush=True)
"""
ABSENT = "02:00:00:00:99:99"


@pytest.fixture
def person(lan, controller, tmp_path):
    """Returns a controller, and a function that writes machines.toml."""
    person = controller(lan.host())
    person.under(["env", f"XDG_CONFIG_HOME={tmp_path}"])

    def write(text):
        (tmp_path / "smartplug").mkdir(exist_ok=True)
        (tmp_path / "smartplug" / "machines.toml").write_text(text)

    return person, write


def card_of(host):
    [link] = json.loads(host.run("ip", "-json", "link", "show", "eth0"))
    return link["address"]


def test_a_machine_that_answers_is_awake(lan, person):
    person, write = person
    machine = lan.host()
    receiver = machine.start(sys.executable, "-c", RECEIVER, name="the machine's card")
    receiver.seen_object(lambda told: told["event"] == "ready", 10, "that it listens")
    card = card_of(machine)
    write(f'[Server]\nmac = "{card}"\naddress = "{machine.ipv4}"\npassword = "01:02:03:04"\n')
    done = person.finish("wake", "server", "--timeout", "20s", within=25)
    assert done.status == 0 and done.output.startswith("Server: awake after "), done
    packet = receiver.seen_object(lambda told: told["event"] == "packet" and len(told["bytes"]) > 2, 5, "the packet")
    assert packet.json["bytes"] == "ff" * 6 + card.replace(":", "") * 16 + "01020304"


def test_a_machine_that_does_not_answer_did_not_wake(lan, person):
    """The host at the address answers with a different card, as a sleep proxy does."""
    person, write = person
    write(f'[Server]\nmac = "{ABSENT}"\naddress = "{lan.host().ipv4}"\n')
    done = person.finish("wake", "Server", "--timeout", "4s", "--json", within=15)
    assert done.status == 1 and done.objects == [{"machine": "Server", "outcome": "asleep"}], done


def test_an_unknown_machine_is_an_error_with_the_known_ones(person):
    person, write = person
    write(f'[Server]\nmac = "{ABSENT}"\n')
    done = person.finish("wake", "Servant")
    assert done.status == 1 and 'known: "Server"' in done.errors, done
