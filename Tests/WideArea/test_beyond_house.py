"""Tests of plugs behind a router that maps ports (miniupnpd), whose controllers are in another house behind another router."""

import time

import pytest

from deadlines import eventually
from bind import TYPE, Bind
from registrar import Registrar
from router import Internet, Router
from silence import packets_of_an_unconfigured_plug


@pytest.fixture
def internet(lan):
    return Internet(lan)


@pytest.fixture
def server(request, internet, tmp_path):
    host = internet.host()
    return getattr(request, "param", Bind)(host, tmp_path / "server", host.address)


@pytest.fixture
def router(lan, internet, tmp_path):
    """The router of the plug's house."""
    return Router(internet, lan, tmp_path / "router")


@pytest.fixture
def mapped(lan, plug, server, tmp_path):
    """Returns a function that starts a plug behind a router. It maps its port and registers itself."""
    def start(router):
        host = lan.host()
        router.serve(host)
        configuration = tmp_path / "plugd.toml"
        configuration.write_text(server.configuration + "map_port = true\n")
        return plug(host, "Lamp", config=configuration, port=4711)

    return start


@pytest.fixture
def lamp(mapped, router):
    return mapped(router)


@pytest.fixture
def away(lan, internet, controller, server, tmp_path):
    """A controller in another house, with the attributes `house` and `router`."""
    house = lan.link()
    router, host = Router(internet, house, tmp_path / "other router", maps=False), house.host()
    router.serve(host)
    server.serve(host)
    person = controller(host)
    person.under(["env", f"SMARTPLUG_DOMAIN={server.zone}"])
    person.house, person.router = house, router
    return person


def wide_area(lamp):
    return lamp.status()["wide_area"] if lamp.answers() else {}


def is_reachable_at(lamp, server, address):
    """Returns True if the router's mapping is known and registered."""
    state = wide_area(lamp)
    is_mapped = state.get("mapping", {}).get("address") == address and state["mapping"]["public"]
    return is_mapped and state.get("name") == "Lamp" and server.records(f"plug-{lamp.status()['id']}", "A") == [address]


def reachability(person):
    """The entries of the plug's audit log about its reachability: kind and place."""
    entries = person.does("audit", "Lamp", "--json").objects
    return [(entry["kind"], entry["detail"]) for entry in entries if entry["kind"] in ("reachable", "unreachable")]


@pytest.mark.parametrize("server", [Bind, Registrar], indirect=True)
def test_a_plug_is_used_from_another_house(lamp, away, server, router):
    """The zone has the external address and port. The controller switches the plug and receives its events. A stop removes the records and
    the mapping."""
    eventually(lambda: is_reachable_at(lamp, server, router.address), 20, lambda: f"the mapping:\n{lamp.running.transcript()}")
    assert [record.split()[2] for record in server.records(f"Lamp.{TYPE}", "SRV")] == [str(wide_area(lamp)["mapping"]["port"])]
    assert router.mapped_ports() == {4711}
    watching = away.watch()
    watching.seen_object(lambda line: line["event"] == "snapshot", 15, "the snapshot")
    away.does("on", "Lamp")
    watching.seen_object(lambda line: line["event"] == "relay" and line["on"] is True, 10, "the event")
    assert lamp.status()["relay"] == "on"
    info = away.does("info", "Lamp", "--json").objects[0]
    assert (info["domain"], info["addresses"], info["port"]) == (server.zone, [router.address], 4711)
    assert info["reachability"] == [{"address": router.address, "port": 4711, "public": True}]
    assert reachability(away) == [("reachable", f"{router.address} port 4711")]
    assert any(f"reachable from the internet at {router.address} port 4711" in finding["what"] for finding in away.doctor().objects)
    assert lamp.status()["light"] == "on, reachable"
    lamp.running.stop()
    assert router.mapped_ports() == set()
    assert server.records(TYPE, "PTR") == server.records(f"Lamp.{TYPE}", "SRV") == []


def test_a_router_that_restarts_or_gets_another_address(lamp, away, server, router):
    """The router forgets the mapping, and later gets another address. The plug maps the port again, and corrects its records."""
    eventually(lambda: is_reachable_at(lamp, server, router.address), 20, lambda: f"the mapping:\n{lamp.running.transcript()}")
    time.sleep(4)  # The router must have run for longer than clocks may differ (RFC 6887 §8.5).
    router.restart()
    eventually(lambda: router.mapped_ports() == {4711}, 15, lambda: f"the mapping:\n{lamp.running.transcript()}")
    away.does("on", "Lamp")
    former = f"{router.address} port 4711"
    router.change_address("11.7.0.99")
    eventually(lambda: is_reachable_at(lamp, server, "11.7.0.99"), 15, lambda: f"the new address:\n{lamp.running.transcript()}")
    assert reachability(away) == [("reachable", former), ("unreachable", former), ("reachable", "11.7.0.99 port 4711")]
    assert lamp.status()["relay"] == "on"


def test_a_controller_that_moves(lan, lamp, away, server, router):
    """A controller that watches a plug comes home and leaves again. It receives each event once, wherever it is."""
    eventually(lambda: is_reachable_at(lamp, server, router.address), 20, lambda: f"the mapping:\n{lamp.running.transcript()}")
    watching = away.watch()
    watching.seen_object(lambda record: record["event"] == "snapshot", 15, "the snapshot")
    first = lamp.status()["nextSequence"]
    for place, gateway in [(None, None), (lan.home, router), (away.house, away.router)]:
        if place:
            away.host.pull_cable()
            away.host.join(place)
            away.host.plug_cable()
            eventually(lambda: gateway.serve(away.host) is None, 10, "the route")
        last = lamp.status()["nextSequence"] + 1
        lamp.press()  # An event of the relay, and one of the button.
        watching.seen_object(lambda record: record.get("seq") == last, 20, f"event {last}")
    seen = [line.json["seq"] for line in watching.lines if isinstance(line.json, dict) and line.json.get("seq", 0) >= first]
    assert seen == sorted(set(seen)) == list(range(first, last + 1))


def test_a_router_with_upnp_only(lan, mapped, internet, server, tmp_path):
    """The port is mapped by UPnP IGD, and the mapping is removed at the stop."""
    router = Router(internet, lan, tmp_path / "router", upnp=True)
    lamp = mapped(router)
    eventually(lambda: is_reachable_at(lamp, server, router.address), 30, lambda: f"the mapping:\n{lamp.running.transcript()}")
    assert router.mapped_ports() == {4711}
    lamp.running.stop()
    assert router.mapped_ports() == set()


def test_a_pinhole_for_ipv6(lan, mapped, internet, server, tmp_path):
    """The router's firewall lets hosts on the internet connect to the plug's port. The zone has the plug's IPv6 address in addition to the
    router's IPv4 address. The stop closes the port."""
    router = Router(internet, lan, tmp_path / "router", prefix="2001:db8:1")
    lamp = mapped(router)
    address, outside = router.address6(lamp.host).split("/")[0], internet.host()
    outside.run("ip", "address", "add", "2001:db8:2::2/64", "dev", "eth0")
    router.lead(outside)
    router.host.run("ip", "route", "add", "2001:db8:2::/64", "dev", "eth1")

    def connects(port):
        code = f"import socket; socket.create_connection(('{address}', {port}), 2)"
        return outside.finish("python3", "-c", code).status == 0

    eventually(
        lambda: wide_area(lamp).get("pinhole") == {"address": address, "port": 4711, "public": True}, 20,
        lambda: f"the pinhole:\n{lamp.running.transcript()}")
    assert connects(4711)
    lamp.host.start("python3", "-m", "http.server", "4712", "--bind", "::").seen(lambda line: "Serving" in line.text, 10, "the other port")
    assert not connects(4712)
    host = f"plug-{lamp.status()['id']}"
    eventually(
        lambda: (server.records(host, "A"), server.records(host, "AAAA")) == ([router.address], [address]), 15, "both addresses")
    lamp.running.stop()
    lamp.host.start("python3", "-m", "http.server", "4711", "--bind", "::").seen(lambda line: "Serving" in line.text, 10, "the same port")
    assert not connects(4711)


def test_a_router_without_mapping_is_named(lan, mapped, controller, internet, server, tmp_path):
    """The plug and its controller report why the port is not mapped. The plug registers the address in its own network."""
    lamp = mapped(Router(internet, lan, tmp_path / "router", maps=False))
    warning = lamp.running.seen(lambda line: "cannot connect: " in line.text, 60, "the reason")
    assert "the router answers neither PCP nor NAT-PMP nor UPnP IGD" in warning.text
    assert "neither PCP nor NAT-PMP" in wide_area(lamp)["mapping"]["reason"]
    eventually(lambda: server.records(f"plug-{lamp.status()['id']}", "A") == [lamp.host.ipv4], 10, "the own address")
    person = controller(lan.host())
    [warning] = [finding for finding in person.doctor().objects if "its port is not mapped" in finding["what"]]
    assert warning["level"] == "warning" and warning["next"].startswith("turn on PCP")
    assert reachability(person) == []


def test_a_plug_that_is_not_configured_sends_nothing(lan, plug, controller, router):
    assert packets_of_an_unconfigured_plug(lan, plug, controller, router, seconds=3) == []
