"""Other houses on the page: those of fleet.toml, read from a real database and switched through a real broker."""

import json
import os
import pathlib

import pytest
from playwright.sync_api import expect

from harness.broker import Broker
from deadlines import eventually, patient
from harness.fleet import settings
from harness.postgres import Postgres, make_cluster
from test_access import violations

OWNERS, VIEWERS, USERS = "correct horse battery", "just looking thanks", "may switch the lamp"
EVIL = "<script>alert(1)</script>"
LOOKS = {
    "light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"},
    "small": {"width": 320, "height": 640, "has_touch": True, "is_mobile": True, "color_scheme": "dark"},
}
SEEDS = """
    INSERT INTO smartplug.houses (name, identity, labels, last_seen)
        SELECT 'elm-' || number, gen_random_uuid(), json_build_object('city', CASE WHEN number < 5 THEN 'Bonn' ELSE 'Köln' END), now() + interval '1 hour'
        FROM generate_series(1, 9) AS number;
    INSERT INTO smartplug.plugs (house, plug, name)
        SELECT houses.id, lpad(to_hex(houses.id * 16 + number), 12, '0'),
            CASE number WHEN 1 THEN 'Lamp' WHEN 2 THEN '<script>alert(1)</script>' ELSE 'A heater with a name that is as long as names are, and longer' END
        FROM smartplug.houses, generate_series(1, 3) AS number;
    INSERT INTO smartplug.states (plug, connected, last_seen, relay, active_power, tripped)
        SELECT plugs.id, plugs.name <> '<script>alert(1)</script>', now(), true, 12.5,
            CASE WHEN plugs.name LIKE 'A heater%' AND house < 3 THEN 'overload' END FROM smartplug.plugs;
    INSERT INTO smartplug.energy SELECT id, now()::date, 1500, 0, 0 FROM smartplug.plugs;
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    return make_cluster(tmp_path_factory.mktemp("cluster") / "c")


@pytest.fixture
def office(lan, empty_house, cluster, tmp_path):
    """A lamp in the house elm-1; its daemon uses a broker and also shows the other houses."""
    house = empty_house
    house.database = Postgres(lan.host(), cluster, tmp_path / "postgres")
    broker = Broker(lan.host(), tmp_path / "mosquitto")
    lamp = house.add("Lamp", simulate="lamp")
    plug = eventually(lambda: (file := pathlib.Path(lamp.state) / "id").exists() and file.read_text().split()[0], 10, "its id")
    schema = tmp_path / "schema.sql"
    schema.write_text(house._controller.does("history", "schema").output)
    house.database.host.run("cp", schema, "/run/postgresql/schema.sql")
    made = house.database.host.finish(
        "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "--single-transaction", "-h", "/run/postgresql", "-U", "smartplug", "-d", "smartplug",
        "-f", "/run/postgresql/schema.sql")
    assert made.status == 0, made
    house.database.sql(*SEEDS.split(";")[:-1], f"UPDATE smartplug.plugs SET plug = '{plug}' WHERE id = 1")
    configuration = pathlib.Path(os.environ["XDG_CONFIG_HOME"], "smartplug")
    configuration.mkdir(parents=True, exist_ok=True)
    configuration.joinpath("broker.toml").write_text(broker.settings('house = "elm-1"', discovery=False))
    configuration.joinpath("fleet.toml").write_text(
        settings(house.database, broker, owner={"owner": "*"}, user={"Anna": ["elm-1", "elm-2"]}, viewer={"Hallway": "elm-1"}))
    house.password(OWNERS)
    house.password(USERS, "Anna", "--as", "user")
    house.password(VIEWERS, "Hallway", "--as", "viewer")
    house.start_daemon()
    return house


def fleet(page):
    section = page.page.get_by_role("region", name="Fleet")
    expect(page.page.get_by_role("link", name="Fleet")).to_be_visible(timeout=1000 * patient(15))
    section.scroll_into_view_if_needed()
    return section


def test_houses_are_found_opened_and_switched(office, look):
    """An owner opens houses, switches a plug of another house, and uses the search and the filters."""
    page = look(password=OWNERS)
    section = fleet(page)
    houses = section.get_by_role("list", name="Houses").locator("> li")
    expect(houses).to_have_count(9)
    first = houses.filter(has_text="elm-1")
    expect(first).to_contain_text("3 plugs, 1 away, 1 tripped")
    expect(first).to_contain_text("25.0 W, 4.50 kWh this month")
    expect(first).to_contain_text("city=Bonn")
    first.get_by_role("button", name="elm-1").click()
    plugs = first.get_by_role("list", name="Plugs of elm-1").get_by_role("listitem")
    expect(plugs).to_have_count(3)
    expect(plugs.filter(has_text=EVIL)).to_contain_text("away")
    expect(plugs.filter(has_text="heater")).to_contain_text("tripped: overload")
    # The plug's own answer is shown before the database has it.
    switch = first.get_by_role("switch", name="Lamp in elm-1")
    expect(switch).to_have_attribute("aria-checked", "true")
    lamp = office.plugs["Lamp"]
    assert lamp.status()["relay"] == "off"
    lamp.press()
    eventually(lambda: lamp.status()["relay"] == "on", 10, "the lamp on")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false", timeout=1000 * patient(15))
    assert lamp.status()["relay"] == "off"
    # The search and the filters find plugs in all houses.
    section.get_by_label("Find").fill("lAmP")
    found = section.get_by_role("list", name="Plugs found").get_by_role("listitem")
    expect(found).to_have_count(9)
    section.get_by_label("Label").fill("city=Bonn")
    expect(found).to_have_count(4)
    expect(section.get_by_role("status")).to_contain_text("4 plugs")
    section.get_by_label("Find").fill("")
    section.get_by_label("Show").select_option(label="Plugs that tripped")
    expect(found).to_have_count(2)
    expect(houses).to_have_count(0)
    section.get_by_label("Show").select_option(label="Plugs that are away")
    expect(found).to_have_count(4)
    section.get_by_label("Label").fill("")
    section.get_by_label("Show").select_option(label="All plugs")
    expect(houses).to_have_count(9)
    # No daemon runs in elm-2, so a command to its plug expires.
    second = houses.filter(has_text="elm-2")
    second.get_by_role("button", name="elm-2").click()
    second.get_by_role("switch", name="Lamp in elm-2").click()
    expect(second.get_by_role("alert").filter(has_text="did not answer, so the command has expired")).to_be_visible(timeout=1000 * patient(25))
    assert page.page.locator("body script").count() == 0


def test_each_sees_and_switches_their_own_houses(office, look):
    """Each role sees only its houses, and may switch only where its role permits it."""
    user = look(password=USERS)
    section = fleet(user)
    houses = section.get_by_role("list", name="Houses").locator("> li")
    expect(houses).to_have_count(2)
    viewer = look(password=VIEWERS)
    section = fleet(viewer)
    houses = section.get_by_role("list", name="Houses").locator("> li")
    expect(houses).to_have_count(1)
    houses.first.get_by_role("button", name="elm-1").click()
    expect(section.get_by_role("switch", name="Lamp in elm-1")).to_be_disabled()
    ask = """async ([house, body]) => {
        const answer = await fetch(`/api/v1/fleet/houses/${house}/plugs/000000000011/relay`, {
            method: "POST", headers: { "Content-Type": "application/json" }, body });
        return answer.status;
    }"""
    body = json.dumps({"on": True})
    assert viewer.page.evaluate(ask, ["elm-1", body]) == 403
    assert user.page.evaluate(ask, ["elm-3", body]) == 404


@pytest.mark.parametrize("name", LOOKS)
def test_axe_finds_nothing(office, look, keep_picture, name):
    """axe reports no violation in the list of houses, and on a small screen all controls are large enough for touch."""
    page = look(password=OWNERS, **LOOKS[name])
    section = fleet(page)
    section.get_by_role("button", name="elm-1").click()
    expect(section.get_by_role("switch", name="Lamp in elm-1")).to_be_visible(timeout=1000 * patient(10))
    keep_picture(page, f"fleet-{name}")
    assert not violations(page)
    across = page.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert across[0] <= across[1], "the page is wider than the window"
    if name == "small":
        low = page.page.evaluate("""() => [...document.querySelectorAll("#fleet :is(button, input, select)")]
            .filter((one) => one.checkVisibility() && one.role !== "switch")
            .filter((one) => one.getBoundingClientRect().height < 43.5).map((one) => one.outerHTML.slice(0, 120))""")
        assert not low
