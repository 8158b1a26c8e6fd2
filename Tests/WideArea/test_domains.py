"""Tests of plugs that are registered in a domain of a real name server (BIND, and Knot for the updates)."""

import pytest

from deadlines import eventually
from harness.avahi import Avahi
from bind import TYPE, Bind
from knot import Knot

# A line of shell that drops the multicast DNS that a host receives.
DEAF = "nft 'add table inet deaf; add chain inet deaf in { type filter hook input priority 0; }; add rule inet deaf in udp dport 5353 drop'"


@pytest.fixture
def server(request, lan, tmp_path):
    return getattr(request, "param", Bind)(lan.host(), tmp_path / "server")


@pytest.fixture
def browse(lan, controller, server):
    """Returns a function that browses local and the domain on a new host which uses the name server."""
    def start():
        host = lan.host()
        server.serve(host)
        return controller(host).browsing("--domain", server.zone)

    return start


@pytest.fixture
def registered(lan, plug, server, tmp_path):
    """Returns a function that starts a plug which registers itself in the domain, on a new host or on `host`. `key` is its key file, if it
    differs from the server's."""
    def start(name, key=None, host=None, **options):
        host = host or lan.host()
        configuration = tmp_path / f"{host.number}.toml"
        configuration.write_text(server.configuration.replace(str(server.key), str(key or server.key)))
        return plug(host, name, config=configuration, **options)

    return start


def name_of(lamp):
    """The name under which the plug is registered, or None."""
    return lamp.status()["wide_area"].get("name") if lamp.answers() else None


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
    far.run("sh", "-c", DEAF)
    server.serve(far)
    away = controller(far)
    missing = away.finish("on", "Lamp", within=15)
    assert missing.status == 1 and '"Lamp" is paired, but it is away' in missing.errors, missing
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


@pytest.mark.parametrize("name", ["Lamp", "Fake"])
def test_a_false_announcement_does_not_hide_a_plug(lan, registered, controller, server, beyond, name):
    """A host announces a service with the id of a plug of another network, under the plug's name or another one. The controller connects to
    the plug in the domain."""
    lamp = registered("Lamp", host=beyond)
    eventually(lambda: name_of(lamp) == "Lamp", 15, lambda: f"the registration:\n{lamp.running.transcript()}")
    Avahi(lan.host()).publish(name, 9, f"id={lamp.status()['id']}")
    near = lan.host()
    near.run("ip", "route", "add", "10.9.0.0/24", "via", beyond.router.ipv4)
    server.serve(near)
    person = controller(near)
    person.under(["env", f"SMARTPLUG_DOMAIN={server.zone}"])
    for verb in ["on", "off"]:
        person.does(verb, "Lamp")
        assert lamp.status()["relay"] == verb
    watching = person.watch()
    watching.seen_object(lambda record: record["event"] == "snapshot" and record["plug"] == "Lamp", 20, "the snapshot")


@pytest.mark.parametrize("way", ["search domain", "network"])
def test_recommended_domains_are_searched(lan, controller, server, way):
    """The list below the search domain or below the name of the network (RFC 6763 section 11) is shown, and `--domain auto` follows it."""
    host = lan.host()
    server.serve(host, search=server.zone if way == "search domain" else "")
    parent = server.zone if way == "search domain" else server.reverse
    person = controller(host)
    nothing = person.finish("domains")
    assert (nothing.status, nothing.output) == (0, "") and "recommends no domain" in nothing.errors, nothing
    server.register("Lamp", 4711)
    server.update(*(f"add {kind}._dns-sd._udp.{parent} 1 PTR {server.zone}" for kind in ["b", "lb"]))
    # The answer that the list is empty is valid for 5 s.
    eventually(lambda: person.does("domains", "--json").objects == [{"domain": server.zone, "purposes": ["automatic", "browsing"]}], 15, "the list")
    browser = person.browsing("--domain", "auto")
    browser.found("Lamp", within=15)
    server.update(f"delete lb._dns-sd._udp.{parent} PTR")
    browser.shows([], within=30)


def test_a_dashboard_is_registered(lan, controller, server, tmp_path):
    """A daemon whose dashboard is open to the network registers it, with a name that its certificate has, and removes it at the end."""
    person = controller(lan.host())
    configuration = tmp_path / "configuration/smartplug/wide_area.toml"
    configuration.parent.mkdir(parents=True)
    configuration.write_text(server.configuration)
    person.host.run("sh", "-c", f"echo 'correct horse battery' | {person.program} daemon password")
    rules = tmp_path / "rules"
    rules.mkdir()
    daemon = person.daemon(rules, "--listen", "0.0.0.0:7580")
    eventually(lambda: server.records("_https._tcp", "PTR"), 20, lambda: f"the registration:\n{daemon.transcript()}")
    [instance] = server.records("_https._tcp", "PTR")
    [place] = server.records(instance.removesuffix(f".{server.zone}."), "SRV")
    port, name = place.split()[2:]
    assert port == "7580" and server.records(name.removesuffix(f".{server.zone}."), "A") == [person.host.ipv4]
    names = person.host.run("sh", "-c", "openssl s_client -connect 127.0.0.1:7580 </dev/null 2>&1 | openssl x509 -noout -ext subjectAltName")
    assert f"DNS:{name.rstrip('.')}" in names
    daemon.stop()
    assert server.records("_https._tcp", "PTR") == []


def test_a_wrong_file_of_the_dashboard_is_named(lan, controller, tmp_path):
    person = controller(lan.host())
    configuration = tmp_path / "configuration/smartplug/wide_area.toml"
    configuration.parent.mkdir(parents=True)
    configuration.write_text('[wide_area]\ndomain = "example.org"\nmap_port = true\n')
    rules = tmp_path / "rules"
    rules.mkdir()
    daemon = person.daemon(rules)
    daemon.seen(lambda line: "the dashboard is not registered" in line.text, 15, "the reason")
    assert all(key in daemon.transcript() for key in ["map_port", "server", "key_file"])


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


@pytest.mark.parametrize("server", [Bind, Knot], indirect=True)
def test_a_plug_registers_itself(lan, registered, server, browse):
    """The zone gets the records of RFC 6763, which a browser in another network uses. An orderly stop removes the plug. Knot writes all names in
    lower case."""
    lamp = registered("Lamp")
    eventually(lambda: name_of(lamp) == "Lamp", 15, lambda: f"the registration:\n{lamp.running.transcript()}")
    browser = browse()
    name = "lamp" if isinstance(server, Knot) else "Lamp"
    identifier = browser.found(name, within=15)["txt"]["id"]
    host = f"plug-{identifier}"
    assert server.records(TYPE, "PTR") == [f"{name}.{TYPE}.{server.zone}."]
    assert server.records(f"_dimmer._sub.{TYPE}", "PTR") == [f"{name}.{TYPE}.{server.zone}."]
    assert server.records("_services._dns-sd._udp", "PTR") == [f"{TYPE}.{server.zone}."]
    assert server.records(f"Lamp.{TYPE}", "SRV")[0].endswith(f" {host}.{server.zone}.")
    assert server.records(host, "A") == [lamp.host.ipv4]
    assert '"pair=' not in server.records(f"Lamp.{TYPE}", "TXT")[0]
    lamp.running.stop()
    assert server.records(TYPE, "PTR") == server.records(host, "A") == server.records(f"Lamp.{TYPE}", "SRV") == []


def test_the_server_of_a_domain_is_found(lan, plug, server, tmp_path):
    """Without `server`, the plug updates the primary server of the domain. A domain without such a server is reported."""
    lamps = {}
    for domain in [server.zone, "absent.example"]:
        configuration = tmp_path / f"{domain}.toml"
        configuration.write_text(f'[wide_area]\ndomain = "{domain}"\nkey_file = "{server.key}"\n')
        host = lan.host()
        server.serve(host)
        lamps[domain] = plug(host, "Lamp", config=configuration)
    lamp, lost = lamps.values()
    eventually(lambda: name_of(lamp) == "Lamp", 15, lambda: f"the registration:\n{lamp.running.transcript()}")
    warning = lost.running.seen(lambda line: "not registered in" in line.text, 20, "the reason")
    assert "no server that accepts registrations" in warning.text
    lamp.running.stop()
    assert server.records(TYPE, "PTR") == []


def test_a_registered_plug_is_renamed(lan, registered, controller, server):
    lamp = registered("Lamp")
    eventually(lambda: name_of(lamp) == "Lamp", 15, "the registration")
    controller(lan.host()).does("rename", "Lamp", "Ceiling Light")
    eventually(lambda: name_of(lamp) == "Ceiling Light", 15, lambda: f"the new name:\n{lamp.running.transcript()}")
    assert server.records(TYPE, "PTR") == [f"Ceiling\\032Light.{TYPE}.{server.zone}."]


def test_two_plugs_of_one_name(registered, server):
    """Plugs on links without multicast between them choose different names, and each one keeps its name after a crash."""
    lamps = [registered("Lamp", prepare=DEAF) for _ in range(2)]
    eventually(lambda: sorted(filter(None, map(name_of, lamps))) == ["Lamp", "Lamp (2)"], 20, lambda: f"two names: {[name_of(lamp) for lamp in lamps]}")
    assert len(server.records(TYPE, "PTR")) == 2


@pytest.mark.parametrize("server", [Bind, Knot], indirect=True)
def test_a_plug_that_crashed_replaces_its_records(lan, plug, registered, server, tmp_path):
    lamp = registered("Lamp", state=tmp_path / "lamp", port=4711)
    eventually(lambda: name_of(lamp) == "Lamp", 15, "the registration")
    lamp.running.process.kill()
    lamp.running.ended(within=5)
    again = registered("Lamp", state=tmp_path / "lamp", port=4712)
    eventually(lambda: name_of(again) == "Lamp", 15, lambda: f"the registration:\n{again.running.transcript()}")
    assert [record.split()[2] for record in server.records(f"Lamp.{TYPE}", "SRV")] == ["4712"]
    identifier = again.status()["id"]
    assert server.records(f"plug-{identifier}", "A") == [again.host.ipv4]


@pytest.mark.parametrize("fault, reason", [
    ("unknown", "does not know the key"), ("wrong", "a different secret"), ("exposed", "have access"), ("missing", "No such file")])
def test_a_key_that_does_not_fit_is_named(lan, registered, controller, server, tmp_path, fault, reason):
    """The reason is logged and shown, also by doctor, and the plug works without the domain. A corrected key is used without a restart."""
    key = tmp_path / "key"
    if fault != "missing":
        Bind.write_key(key, "strangers" if fault == "unknown" else "plugs")
    if fault == "exposed":
        key.chmod(0o644)
    lamp = registered("Lamp", key=key)
    warning = lamp.running.seen(lambda line: "not registered in" in line.text, 15, "the reason")
    assert reason in warning.text
    assert reason in lamp.status()["wide_area"]["reason"]
    [problem] = [record for record in controller(lan.host()).doctor().objects if "not registered in" in record["what"]]
    assert problem["level"] == "problem" and reason in problem["what"] and problem["next"], problem
    key.unlink(missing_ok=True)
    key.write_bytes(server.key.read_bytes())
    key.chmod(0o600)
    eventually(lambda: name_of(lamp) == "Lamp", 40, lambda: f"the registration:\n{lamp.running.transcript()}")


def test_a_server_that_returns_gets_the_registration(registered, server):
    server.stop()
    lamp = registered("Lamp")
    warning = lamp.running.seen(lambda line: "not registered in" in line.text, 20, "the reason")
    assert "did not answer" in warning.text
    server.start()
    eventually(lambda: name_of(lamp) == "Lamp", 60, lambda: f"the registration:\n{lamp.running.transcript()}")


@pytest.fixture
def beyond(lan, server):
    """A host in another network, behind a router. It uses the name server."""
    far = lan.link()
    router, host = lan.host(), far.host(ipv4=False)
    router.connect("eth1", ipv4=False, link=far)
    router.run("ip", "address", "add", "10.9.0.1/24", "dev", "eth1")
    router.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
    host.run("ip", "address", "add", "10.9.0.2/24", "dev", "eth0")
    host.run("ip", "route", "add", "default", "via", "10.9.0.1")
    for near in lan.hosts:
        if near not in (router, host):
            near.run("ip", "route", "add", "10.9.0.0/24", "via", router.ipv4)
    host.router = router
    server.serve(host)
    return host


def test_a_controller_in_another_network_cannot_pair(lan, registered, controller, server, beyond):
    """It finds the plug in the domain and reaches it through a router. Only a controller in the plug's own network can pair."""
    lamp = registered("Lamp", paired=False)
    lamp.host.run("ip", "route", "add", "10.9.0.0/24", "via", beyond.router.ipv4)
    eventually(lambda: name_of(lamp) == "Lamp", 15, "the registration")
    code = lamp.setup_code()
    refused = controller(beyond).finish("pair", "Lamp", "--code-file", code, "--domain", server.zone)
    assert refused.status == 1 and "only with controllers in its own network" in refused.errors, refused
    near = controller(lan.host())
    near.does("pair", "Lamp", "--code-file", code)
    # The paired controller is then moved.
    moved = controller(beyond)
    moved.does("on", "Lamp", "--domain", server.zone)
    assert lamp.status()["relay"] == "on"


def test_doctor_examines_a_domain(registered, controller, lan, server):
    """It reports the number of registered plugs, a domain that does not exist, and servers that do not answer."""
    lamp = registered("Lamp")
    eventually(lambda: name_of(lamp) == "Lamp", 15, "the registration")
    host = lan.host()
    server.serve(host)
    person = controller(host)

    def found(*words):
        done = person.doctor(*words, within=60)
        return [record for record in done.objects if record["subject"] == "domain"]

    assert [(record["level"], record["what"]) for record in found("--domain", server.zone)] == [("ok", "it lists one plug")]
    assert [record["level"] for record in found("--domain", "absent.example.org")] == ["problem"]
    assert found() == []
    server.stop()
    silent = found("--domain", server.zone)
    assert [record["what"] for record in silent] == ["no name server answered; check the network"], silent
