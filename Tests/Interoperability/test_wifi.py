"""The plug's own network and the networks that it joins. Its radio is an Ethernet interface with a control interface of wpa_supplicant that
this test answers; the hardware suite has a real wpa_supplicant with simulated radios."""

import pytest

from deadlines import eventually
from harness.setup_network import ADDRESS, Setup
from test_records import check

PASSWORD = "correct horse"


@pytest.fixture
def setup(lan, plug, tmp_path):
    made = []

    def make(**access_points):
        made.append(Setup(lan, plug, tmp_path, access_points))
        return made[-1]

    yield make
    for one in made:
        one.supplicant.close()


def test_a_phone_sets_up_a_new_plug(setup):
    """The page lists the networks. It names a wrong password and keeps nothing; the right one is stored and joined after a restart."""
    house = setup(home=PASSWORD, other="")
    house.opens()
    identity = house.host.finish(house.plug._plugd, "identity", "--state", house.state, "--config", house.state.parent / "plugd.toml").output
    name, password = house.supplicant.served
    assert f"{name}, password {password}" in identity, identity
    status, _, page = house.load("/")
    assert status == 200 and "home" in page and "other" in page and "without a password" in page, page
    digits = "home".encode().hex()
    assert house.load("/join", {"network": digits, "password": "short"})[0] == 400
    status, _, page = house.load("/join", {"network": digits, "password": "wrong horse"})
    assert status == 200 and "now connects to <b>home</b>" in page, page
    eventually(lambda: house.supplicant.served is None, 10, "the end of the plug's own network")
    house.opens(within=40)
    assert "the network has a different password" in house.load("/")[2]
    assert not (house.state / "wifi").exists()
    status, _, page = house.load("/join", {"network": digits, "password": PASSWORD, "country": "de"})
    assert status == 200, page
    house.joins("home")
    eventually((house.state / "wifi").exists, 10, "the stored network")
    assert (house.state / "wifi").stat().st_mode & 0o77 == 0
    assert "SET country DE" in house.supplicant.commands
    assert PASSWORD not in house.plug.running.transcript()
    house.restart()
    house.joins("home")


def test_the_page_answers_only_as_itself(setup):
    """The phone's test for the internet leads to the page, and forms of other pages are refused."""
    house = setup(home=PASSWORD)
    house.opens()
    for host, path in (("captive.apple.com", "/hotspot-detect.html"), ("connectivitycheck.gstatic.com", "/generate_204"), (ADDRESS, "/other")):
        assert house.load(path, host=host)[:2] == (302, f"http://{ADDRESS}/"), host
    form = {"name": "home", "password": PASSWORD}
    assert house.load("/join", form, Origin="http://evil.example")[0] == 403
    assert house.load("/join", form, host="evil.example")[0] == 302
    assert house.load("/join", {"name": "x" * 4000})[0] == 400
    assert house.supplicant.joined is None and house.supplicant.served


def test_an_owner_changes_the_networks(setup, lan, controller):
    """plugctl shows, adds and removes networks, and shows why one cannot be joined."""
    house = setup(home=PASSWORD, office="battery staple")
    house.opens()
    assert house.load("/join", {"name": "home", "password": PASSWORD})[0] == 200
    house.joins("home")
    person = controller(lan.host())
    eventually(lambda: house.phase() == "joined", 10, lambda: f"the plug in its network: {house.phase()}")
    shown = person.does("wifi", "Lamp", "--json").objects
    check("wifi", shown)
    assert [shown[0][key] for key in ("phase", "network", "signal", "megahertz", "networks")] == ["joined", "home", -47, 2437, ["home"]]
    secret = house.state.parent / "password"
    secret.write_text("battery staple\n")
    done = person.finish("wifi", "Lamp", "--join", "office", "--password-file", secret, "--country", "se", "--json", within=60)
    assert done.status == 0 and done.objects[-1]["network"] == "office" and done.objects[-1]["country"] == "SE", done
    check("wifi", done.objects)
    secret.write_text("wrong battery\n")
    done = person.finish("wifi", "Lamp", "--join", "home", "--password-file", secret, within=60)
    assert done.status == 1 and "cannot join home: the network has a different password" in done.output, done
    assert house.supplicant.joined == "office"
    assert "does not know the network nowhere" in person.finish("wifi", "Lamp", "--remove", "nowhere").errors
    person.does("wifi", "Lamp", "--remove", "office")
    house.joins("home")
    assert "the Wi-Fi network office" in person.does("audit", "Lamp").output
    person.does("wifi", "Lamp", "--setup")
    house.opens()


def test_a_laptop_sets_up_a_plug(setup, controller):
    """plugctl on a computer in the plug's own network does what the page does."""
    house = setup(home=PASSWORD)
    house.opens()
    person = controller(house.phone)
    secret = house.state.parent / "password"
    secret.write_text("wrong horse\n")
    assert "the plug waits for a network" in person.does("setup").output
    assert "now tries home" in person.does("setup", "--join", "home", "--password-file", secret).output
    eventually(lambda: house.supplicant.served is None, 10, "the end of the plug's own network")
    house.opens(within=40)
    assert "Cannot connect to home: the network has a different password" in person.does("setup").output
    secret.write_text(PASSWORD)
    person.does("setup", "--join", "home", "--password-file", secret)
    house.joins("home")
    assert "no plug answers" in person.finish("setup", within=20).errors


def test_a_plug_without_a_radio_names_the_setting(lan, plug, controller):
    plug(lan.host(), "Lamp")
    person = controller(lan.host())
    for words, status, reason in (
            (("Lamp",), 1, "[wifi] in plugd.toml turns that on"), (("Lamp", "--join", "x" * 33), 64, "1 to 32 bytes"),
            (("Lamp", "--open"), 64, "require --join"), (("Lamp", "--join", "home", "--open", "--country", "Germany"), 64, "two letters"),
            (("Lamp", "--join", "home", "--setup"), 64, "cannot be combined")):
        done = person.finish("wifi", *words)
        assert done.status == status and reason in done.errors, (words, done)
