"""Tests of plugs that a router separates from the controllers: they are reached by their addresses, without multicast DNS and without a
domain."""

import pytest

from deadlines import eventually

PORT = 7001
NETWORK = "10.9.0.0/24"
NETWORK6 = "2001:db8:9::/64"
PREFIX6 = "2001:db8:7::"


@pytest.fixture
def beyond(lan):
    """A host in another network, behind a router, with the attribute `router`."""
    far = lan.link()
    router, host = lan.host(), far.host(ipv4=False)
    router.connect("eth1", ipv4=False, link=far)
    router.run("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
    for address in ("10.9.0.1/24", "2001:db8:9::1/64"):
        router.run("ip", "address", "add", address, "dev", "eth1")
    router.run("ip", "address", "add", f"{PREFIX6}1/64", "dev", "eth0")
    for address in ("10.9.0.2/24", "2001:db8:9::2/64"):
        host.run("ip", "address", "add", address, "dev", "eth0")
    host.run("ip", "route", "add", "default", "via", "10.9.0.1")
    host.run("ip", "route", "add", "default", "via", "2001:db8:9::1", "dev", "eth0")
    host.router = router
    return host


@pytest.fixture
def start(lan, plug, beyond, tmp_path):
    """Returns a function that starts a plug in the first network, with a route to the host `beyond`."""
    def start(name, configuration="", **options):
        host = lan.host()
        host.run("ip", "route", "add", NETWORK, "via", beyond.router.ipv4)
        host.run("ip", "address", "add", f"{PREFIX6}{host.number:x}/64", "dev", "eth0")
        host.run("ip", "route", "add", NETWORK6, "via", f"{PREFIX6}1", "dev", "eth0")
        file = tmp_path / f"{name}.toml"
        file.write_text(f"[network]\nport = {PORT}\n{configuration}")
        lamp = plug(host, name, config=file, **options)
        eventually(lamp.answers, 10, lambda: f"its start:\n{lamp.running.transcript()}")
        return lamp

    return start


@pytest.fixture
def away(controller, beyond):
    return controller(beyond)


def address6(lamp):
    return f"{PREFIX6}{lamp.host.number:x}"


def is_named(host, name, address):
    """Gives the host a name for the address, in its own /etc/hosts."""
    host.run("sh", "-c", f"cp /etc/hosts /run/hosts && echo '{address} {name}' >>/run/hosts && mount --bind /run/hosts /etc/hosts")


def test_a_plug_is_paired_and_used_by_address(start, away):
    """The plug allows the network of the controller. The address is stored with the pairing, and all commands use it."""
    lamp = start("Lamp", f'[pairing]\nnetworks = ["{NETWORK}", "{NETWORK6}"]\n', paired=False)
    code = lamp.setup_code()
    missing = away.finish("pair", "Lamp", "--code-file", code)
    assert missing.status == 1 and "no plug with the name" in missing.errors, missing
    away.does("pair", "Lamp", "--code-file", code, "--address", lamp.host.ipv4)
    assert away.does("address", "--json").objects == [
        {"plug": "Lamp", "id": lamp.status()["id"], "address": f"{lamp.host.ipv4}:{PORT}"}]
    for verb in ["on", "off"]:
        away.does(verb, "Lamp")
        assert lamp.status()["relay"] == verb
    info = away.does("info", "lamp", "--json").objects[0]
    assert (info["domain"], info["addresses"], info["port"]) == ("address", [lamp.host.ipv4], PORT)
    away.does("address", "Lamp", f"[{address6(lamp)}]:{PORT}")
    assert away.does("info", "Lamp", "--json").objects[0]["addresses"] == [address6(lamp)]
    away.does("rename", "Lamp", "Lounge")
    away.does("on", "Lounge")
    assert lamp.status()["relay"] == "on"
    away.does("unpair", "Lounge", "--here-only")
    assert "no plug has a stored address" in away.finish("address").errors


def test_a_paired_plug_is_used_at_a_given_address(start, away):
    """--address needs no stored address. It accepts a host name, IPv4 and IPv6, and stores nothing."""
    lamp = start("Lamp")
    is_named(away.host, "lamp.example.org", lamp.host.ipv4)
    for number, address in enumerate([lamp.host.ipv4, f"[{address6(lamp)}]:{PORT}", address6(lamp), f"lamp.example.org:{PORT}"]):
        verb = ["on", "off"][number % 2]
        away.does(verb, "Lamp", "--address", address)
        assert lamp.status()["relay"] == verb, address
    assert away.does("set", "Lamp", "auto-off", "1h", "--address", lamp.host.ipv4, "--json").objects[0]["autoOff"] == 3600
    watching = away.watch("Lamp", "--address", lamp.host.ipv4)
    watching.seen_object(lambda record: record["event"] == "snapshot", 15, "the snapshot")
    lamp.press()
    watching.seen_object(lambda record: record["event"] == "button", 15, "the press")
    assert away.finish("address").output == ""


def test_the_daemon_uses_a_stored_address(start, away, tmp_path):
    """A daemon follows the plug when its wrong address is corrected, and runs rules about it."""
    lamp = start("Lamp")
    rules = tmp_path / "rules.yaml"
    rules.write_text("- rule: Off\n  when: { plug: Lamp, button: double }\n  then:\n    - turn off: Lamp\n")
    away.does("address", "Lamp", "10.7.0.250")
    daemon = away.daemon(rules)
    daemon.seen_object(lambda record: record.get("event") == "serving", 30, "that it runs")
    away.does("address", "Lamp", lamp.host.ipv4)
    eventually(lambda: lamp.status()["controllers"], 30, lambda: f"that it follows the plug:\n{daemon.transcript()}")
    away.does("on", "Lamp")
    lamp.press("--double")
    eventually(lambda: lamp.status()["relay"] == "off", 30, lambda: f"that the rule switched the plug off:\n{daemon.transcript()}")


def test_the_local_network_is_preferred_to_an_address(lan, start, controller):
    """A stored address without a plug does not keep a controller from a plug in its own network."""
    lamp = start("Lamp")
    near = controller(lan.host())
    near.does("address", "Lamp", "10.9.0.77:9")
    near.does("on", "Lamp")
    assert lamp.status()["relay"] == "on"
    assert near.does("info", "Lamp", "--json").objects[0]["domain"] == "local"


def test_an_address_grants_nothing(start, away, beyond):
    """A different plug at the address is not used. A plug refuses to pair with a controller of another network that it does not allow."""
    lamp, fan = start("Lamp"), start("Fan", paired=False)
    refused = away.finish("on", "Lamp", "--address", fan.host.ipv4)
    assert refused.status == 1 and "different key than the paired plug" in refused.errors, refused
    assert (lamp.status()["relay"], fan.status()["relay"]) == ("off", "off")
    refused = away.finish("pair", "Fan", "--code-file", fan.setup_code(), "--address", fan.host.ipv4)
    assert refused.status == 1 and "only with controllers in its own network" in refused.errors, refused
    assert "[pairing]" in refused.errors and away.finish("address").output == ""


@pytest.mark.parametrize("words, status, reason", [
    (("on", "Fan", "--address", "10.9.0.9"), 1, 'no plug is paired as "Fan"'),
    (("on", "Lamp", "Fan", "--address", "10.9.0.9"), 64, "exactly one plug"),
    (("watch", "--address", "10.9.0.9"), 64, "exactly one plug"),
    (("info", "Lamp", "--address", "10.9.0.9:0"), 64, "the port must be 1 to 65535"),
    (("info", "Lamp", "--address", "http://10.9.0.9"), 64, "has a slash"),
    (("info", "Lamp", "--address", "10.9.0"), 64, "is not an IPv4 address"),
    (("pair", "Fan", "--address", "2001:db8::9:70000:1"), 64, "is not an IPv6 address"),
    (("address", "Fan", "10.9.0.9"), 1, 'no plug is paired as "Fan"'),
    (("address", "Lamp", "fe80::9"), 64, "append the interface"),
    (("address", "Lamp", "10.9.0.9", "--clear"), 64, "--clear requires"),
    (("address", "--clear"), 64, "--clear requires"),
    (("info", "Lamp", "--address", "lamp.invalid", "--timeout", "8s"), 1, 'cannot look up the address of "lamp.invalid"'),
])
def test_a_wrong_address_is_reported(start, away, words, status, reason):
    start("Lamp")
    refused = away.finish(*words, within=30)
    assert refused.status == status and reason in refused.errors, refused
