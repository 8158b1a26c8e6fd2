"""Tests of plugs that register themselves at a scripted registrar of the Service Registration Protocol (RFC 9665)."""

import pytest

from bind import TYPE
from deadlines import eventually
from registrar import Registrar

ZONE = Registrar.zone


@pytest.fixture
def registrar(lan):
    return Registrar(lan.host())


@pytest.fixture
def registered(lan, plug, registrar, tmp_path):
    """Returns a function that starts a plug which registers itself at the registrar."""
    configuration = tmp_path / "plugd.toml"
    configuration.write_text(registrar.configuration)
    return lambda name, **options: plug(lan.host(), name, config=configuration, **options)


def state(lamp):
    return lamp.status()["wide_area"] if lamp.answers() else {}


def named(lamp, name):
    eventually(lambda: state(lamp).get("name") == name, 20, lambda: f"the name {name}:\n{lamp.running.transcript()}")


def test_a_plug_registers_itself(lan, registered, registrar, controller):
    """The registrar verifies the signature and lists the plug. A new name replaces the old one, and a stop removes the records."""
    lamp = registered("Lamp", port=4711)
    named(lamp, "Lamp")
    assert registrar.records(TYPE, "PTR") == [f"Lamp.{TYPE}.{ZONE}."]
    assert registrar.records(f"plug-{lamp.status()['id']}", "A") == [lamp.host.ipv4]
    person = controller(lan.host())
    registrar.serve(person.host)
    found = person.browsing("--domain", ZONE).found("Lamp")
    assert found["txt"]["id"] == lamp.status()["id"]
    person.does("rename", "Lamp", "Desk Lamp")
    named(lamp, "Desk Lamp")
    assert registrar.records(TYPE, "PTR") == [f"Desk\\032Lamp.{TYPE}.{ZONE}."]
    lamp.running.stop()
    assert registrar.records(TYPE, "PTR") == []
    last = [line.json for line in registrar.running.lines if isinstance(line.json, dict)][-1]
    assert (last["code"], last["lease"], last["key_lease"]) == (0, 0, 1209600)


def test_the_first_plug_owns_a_name(registered, registrar, tmp_path):
    """A plug keeps its name across a crash, because its key is kept. Another plug gets another name, also while the first one is away."""
    deaf = "nft 'add table inet deaf; add chain inet deaf in { type filter hook input priority 0; }; add rule inet deaf in udp dport 5353 drop'"
    lamp = registered("Lamp", state=tmp_path / "first", prepare=deaf)
    named(lamp, "Lamp")
    key = tmp_path / "first" / "registration-key"
    assert key.stat().st_mode & 0o777 == 0o600
    lamp.running.process.kill()
    lamp.running.ended(within=5)
    other = registered("Lamp", prepare=deaf)
    named(other, "Lamp (2)")
    again = registered("Lamp", state=tmp_path / "first", prepare=deaf)
    named(again, "Lamp")
    assert len(registrar.records(TYPE, "PTR")) == 2


def test_a_registrar_that_refuses_is_named(registered, registrar, tmp_path, lan, plug):
    """The domain of the plug is not that of the registrar."""
    configuration = tmp_path / "other.toml"
    configuration.write_text(f'[wide_area]\ndomain = "other.example.org"\nserver = "{registrar.address}"\nmethod = "srp"\n')
    lamp = plug(lan.host(), "Lamp", config=configuration)
    warning = lamp.running.seen(lambda line: "not registered in" in line.text, 15, "the reason")
    assert "rejected the update (code 1)" in warning.text


def test_the_registrar_of_a_domain_is_found(lan, plug, registrar, tmp_path):
    """Without `server`, the plug asks its name server for the registrar of the domain. It removes itself from there at a stop."""
    configuration = tmp_path / "found.toml"
    configuration.write_text(f'[wide_area]\ndomain = "{ZONE}"\nmethod = "srp"\n')
    host = lan.host()
    registrar.serve(host)
    lamp = plug(host, "Lamp", config=configuration)
    named(lamp, "Lamp")
    lamp.running.stop()
    assert registrar.records(TYPE, "PTR") == []
