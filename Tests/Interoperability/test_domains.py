"""Tests of plugs that are registered in a domain of a real name server (BIND)."""

import pytest

from deadlines import eventually
from harness.bind import Bind


@pytest.fixture
def server(lan, tmp_path):
    return Bind(lan.host(), tmp_path / "bind")


@pytest.fixture
def browse(lan, controller, server):
    """Returns a function that browses local and the domain on a new host which uses the name server."""
    def start():
        host = lan.host()
        server.serve(host)
        return controller(host).browsing("--domain", server.zone)

    return start


def test_registered_plugs_are_found_and_followed(server, browse):
    """Plugs in a zone are listed with their attributes. Changes and removals are shown after the time to live."""
    server.register("Ceiling Light", 4711)
    browser = browse()
    found = browser.found("Ceiling Light")
    assert (found["domain"], found["type"], found["interface"]) == (server.zone, "_smartplug._tcp", "")
    assert found["txt"] == {"id": "000000000001"}, "the attributes are known when the plug is listed"
    server.register("Lamp", 4712, txt="id=000000000002")
    server.update(f"delete {server.instance('Ceiling Light')} TXT", f'add {server.instance("Ceiling Light")} 1 TXT "id=000000000003"')
    browser.found("Lamp", within=15)
    browser.told_text("Ceiling Light", {"id": "000000000003"}, within=15)
    server.remove("Ceiling Light")
    browser.shows(["Lamp"], within=25)


def test_a_long_list_arrives_by_tcp(server, browse):
    names = [f"Lamp {number}" for number in range(90)]
    for name in names:
        server.register(name, 4711, txt=f"model={name}", life=60)
    browse().shows(names, within=20)


def test_a_plug_at_home_is_listed_once(lan, plug, server, browse):
    """A plug that is in local and in a domain is one plug, and local is preferred."""
    lamp = plug(lan.host(), "Lamp")
    browser = browse()
    attributes = browser.found("Lamp")["txt"]
    server.register("Hall Lamp", 4711, txt=f"id={attributes['id']}")
    server.register("Fan", 4712, txt="id=000000000009")
    browser.found("Fan", within=15)
    assert browser.names() == {"Lamp", "Fan"}
    lamp.running.stop()
    browser.shows(["Hall Lamp", "Fan"])


def test_a_plug_beyond_multicast_is_used(lan, plug, controller, server, tmp_path):
    """A controller that multicast DNS does not reach finds a paired plug in the domain, switches it and receives its events. A daemon runs
    rules about it."""
    host = lan.host()
    lamp = plug(host, "Lamp")
    at_home = controller(lan.host())
    port, identifier = at_home.port("Lamp"), at_home.browse().found("Lamp")["txt"]["id"]
    server.register("Lamp", port, txt=f"id={identifier}", host=host)
    far = lan.host()
    far.run("nft", "add table inet far; add chain inet far in { type filter hook input priority 0; }; add rule inet far in udp dport 5353 drop")
    server.serve(far)
    away = controller(far)
    missing = away.finish("on", "Lamp", within=15)
    assert missing.status == 1 and "no plug with the name" in missing.errors, missing
    away.under(["env", f"SMARTPLUG_DOMAIN={server.zone}"])
    watching = away.watch()
    watching.seen_object(lambda told: told["event"] == "snapshot", 10, "the snapshot")
    for verb, on in [("on", True), ("off", False), ("on", True)]:
        away.does(verb, "Lamp")
        assert lamp.status()["relay"] == ("on" if on else "off")
    watching.seen_object(lambda told: told["event"] == "relay" and told["on"] is True, 10, "the event")
    place = away.resolve("Lamp")
    assert (place["host"], place["port"], place["addresses"]) == (f"plug.{server.zone}", port, [host.ipv4])
    rules = tmp_path / "rules.yaml"
    rules.write_text("- rule: Off\n  when: { plug: Lamp, button: double }\n  then:\n    - turn off: Lamp\n")
    away.daemon(rules).seen_object(lambda told: told.get("plugs") == 1, 15, "that it follows the plug")
    lamp.press("--double")
    eventually(lambda: lamp.status()["relay"] == "off", 10, "that the rule switched the plug off")


def test_a_stopped_server_is_named_and_its_plugs_remain(server, browse):
    server.register("Lamp", 4711)
    browser = browse()
    browser.found("Lamp")
    server.stop()
    warning = browser.running.seen(lambda line: "cannot search example.org" in line.text, 40, "the reason")
    assert "no name server answered" in warning.text
    assert browser.names() == {"Lamp"}
    server.start()
    server.register("Fan", 4712)
    browser.shows(["Lamp", "Fan"], within=40)


def test_a_host_without_a_name_server_is_told(lan, controller):
    running = controller(lan.host()).browsing("--domain", "example.org").running
    running.seen(lambda line: "no name server is known" in line.text, 10, "the reason")


def test_a_wrong_domain_is_refused(lan, controller):
    person = controller(lan.host())
    for domain in ["", "..", "a" * 64 + ".org", ".".join(["a" * 60] * 3)]:
        done = person.finish("browse", "--domain", domain)
        assert done.status == 64 and "--domain" in done.errors, done
    person.under(["env", "SMARTPLUG_DOMAIN=.."])
    done = person.finish("on", "Lamp")
    assert done.status == 64 and "SMARTPLUG_DOMAIN" in done.errors, done
