"""A plug answers for a computer that sleeps, and wakes it when a client needs it."""

from deadlines import eventually
from harness.avahi import Avahi
from harness.served import Served
from observers import asleep, connected, media, sleepers


def test_a_sleeping_computer_is_found_and_woken_by_a_connection(lan, proxy, sleeper):
    """While a computer sleeps, clients find its service unchanged, and a connection wakes it and succeeds. A ping and a
    connection to another port do not wake it."""
    lamp, computer = proxy(lan.host()), sleeper()
    computer.sleeps()
    asleep(lamp, computer)
    client = lan.host()
    found = media(client)
    assert (found["name"], found["port"], found["addresses"], found["txt"]) == ("Media", 7000, [computer.address], {"path": "/films"})
    card = lamp.host.hardware_address()
    assert card in client.run("arping", "-c", "1", "-I", "eth0", computer.address).lower()
    assert client.finish("ping", "-c", "2", "-W", "1", computer.address).status != 0
    assert card in client.run("ip", "neighbour", "show", computer.address)
    assert connected(client, computer.address, 7001, within=2) is None
    assert computer.wakeups == 0
    assert connected(client, computer.address, 7000) == "awake"
    assert computer.wakeups == 1
    eventually(lambda: not sleepers(lamp), 5, lambda: f"no sleeper: {lamp.status()}")
    assert computer.host.hardware_address() in client.run("ip", "neighbour", "show", computer.address)


def test_avahi_finds_a_sleeping_computer(lan, proxy, sleeper):
    """Avahi finds and resolves the service of a computer that sleeps, and does not lose it when the computer wakes up."""
    lamp, computer = proxy(lan.host()), sleeper()
    computer.sleeps()
    asleep(lamp, computer)
    avahi = Avahi(lan.host())
    assert avahi.services("_media._tcp") == {"Media": 7000}
    computer.wakes()
    eventually(lambda: not sleepers(lamp), 5, lambda: f"no sleeper: {lamp.status()}")
    assert avahi.services("_media._tcp") == {"Media": 7000}


def test_neighbor_discovery_finds_the_plug_while_a_computer_sleeps(lan, proxy, sleeper):
    """ndisc6 receives the plug's hardware address for the IPv6 address of a computer that sleeps, and later the computer's own."""
    lamp, computer, client = proxy(lan.host()), sleeper(), lan.host()

    def neighbor():
        return client.run("ndisc6", "-1", "-q", computer.link_local, "eth0").strip().lower()

    assert neighbor() == computer.host.hardware_address()
    computer.sleeps(addresses=[computer.address, computer.link_local])
    asleep(lamp, computer)
    assert neighbor() == lamp.host.hardware_address()
    computer.wakes()
    eventually(lambda: not sleepers(lamp), 5, lambda: f"no sleeper: {lamp.status()}")
    assert neighbor() == computer.host.hardware_address()


def test_a_killed_proxy_serves_again_after_its_restart(lan, proxy, sleeper, tmp_path):
    """A plug that was killed and started again answers for the computers that still sleep."""
    host = lan.host()
    lamp, computer = proxy(host, state=tmp_path / "lamp"), sleeper()
    computer.sleeps()
    asleep(lamp, computer)
    lamp.running.process.kill()
    lamp.running.process.wait()
    lamp = proxy(host, state=tmp_path / "lamp")
    asleep(lamp, computer)
    client = lan.host()
    assert media(client)["port"] == 7000
    assert connected(client, computer.address, 7000) == "awake"
    assert computer.wakeups == 1


def test_a_computer_that_wakes_up_by_itself_is_released(lan, proxy, sleeper):
    """When a computer wakes up by itself, the plug no longer answers for it."""
    lamp, computer = proxy(lan.host()), sleeper()
    computer.sleeps()
    asleep(lamp, computer)
    computer.wakes()
    eventually(lambda: not sleepers(lamp), 5, lambda: f"no sleeper: {lamp.status()}")
    assert connected(lan.host(), computer.address, 7000) == "awake"
    assert computer.wakeups == 0


def test_a_daemon_learns_a_computer_from_a_plug_and_wakes_it(lan, proxy, sleeper, controller, tmp_path):
    """Without machines.toml, `plugctl wake` and `plugctl info` know a computer at the sleep proxy of a plug."""
    lamp, computer, person = proxy(lan.host()), sleeper(), controller(lan.host())
    served = Served(person, tmp_path / "daemon").follows(1)
    assert served.get("/api/v1/machines") == []
    computer.sleeps()
    asleep(lamp, computer)
    [machine] = eventually(lambda: served.get("/api/v1/machines"), 15, lambda: f"the machine: {served.plug('Lamp')}")
    assert machine == {
        "machine": "media", "mac": computer.host.hardware_address(), "addresses": [computer.address], "learned": True}
    person.through(served.socket)
    done = person.finish("wake", "media", "--json", within=30)
    assert done.status == 0 and done.objects[0]["outcome"] == "awake", done
    assert computer.wakeups == 1
    eventually(
        lambda: served.plug("Lamp")["sleepers"][0]["state"] == "awake", 15, lambda: f"the return: {served.plug('Lamp')}")
    [info] = person.finish("info", "Lamp", "--json").objects
    assert [(one["host"], one["sleeps"], one["wakes"]) for one in info["sleepers"]] == [("media.local", 1, {})]


def test_forged_registrations_obtain_nothing(lan, proxy, sleeper):
    """A registration with an address or a name of another host is refused, and so is one for another host's card."""
    lamp, victim, attacker = proxy(lan.host()), sleeper("victim", {"Victim": 7000}), sleeper("attacker", {"Attacker": 7100})

    def code(**forged):
        return attacker.register(**forged)["code"]

    assert code(addresses=[lamp.host.ipv4]) == 5, "the plug's own address"
    assert code(addresses=[attacker.address, victim.address]) == 5, "an address of a host that answers"
    assert code(addresses=["10.7.0.250"]) == 5, "an address that is not the sender's"
    assert code(card=victim.host.hardware_address()) == 5, "another host's card"
    assert code(host="victim.local") in {5, 6}, "another host's name"
    assert code(services={"Victim": 7000}) in {5, 6}, "another host's service"
    assert not sleepers(lamp)
    assert sum(lamp.status()["sleep_proxy"]["refusals"].values()) >= 6
    # The victim sleeps, and the attacker still obtains nothing.
    victim.sleeps()
    asleep(lamp, victim)
    assert code(addresses=[victim.address]) == 5
    assert code(addresses=[victim.address], card=victim.host.hardware_address(), sequence=9) == 5
    assert list(sleepers(lamp)) == ["victim.local"]
    assert connected(lan.host(), victim.address, 7000) == "awake"


def test_a_plug_that_does_not_manage_its_interface_says_why_it_serves_nobody(lan, plug):
    """By default, a plug whose addresses another program manages serves no sleeping host, and its status has the reason."""
    lamp = plug(lan.host(), "Lamp")
    eventually(lamp.answers, 15, "that the plug answers")
    eventually(
        lambda: "eth0" in lamp.status()["sleep_proxy"].get("reason", ""), 10, lambda: f"{lamp.status()['sleep_proxy']}")
    assert lamp.status()["sleep_proxy"]["enabled"] is False
