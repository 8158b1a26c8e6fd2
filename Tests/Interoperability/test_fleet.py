"""Many houses at one database and one broker: listed, searched and switched with the roles of fleet.toml; and a daemon
that moves."""

import shutil
import time

import pytest

from harness.broker import Broker
from deadlines import eventually
from harness.fleet import FleetHouse, settings
from harness.postgres import Postgres, make_cluster
from harness.served import PORT, Served


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    return make_cluster(tmp_path_factory.mktemp("cluster") / "c")


class Owner:
    """The owner of the houses: a host with plugctl and a fleet.toml."""

    def __init__(self, lan, controller, folder, database, broker):
        self.host, self.folder = lan.host(), folder
        self.person = controller(self.host)
        self.database, self.broker = database, broker
        self.file = folder / "configuration" / "smartplug" / "fleet.toml"
        self.file.parent.mkdir(parents=True, exist_ok=True)

    def may(self, **roles):
        self.file.write_text(settings(self.database, self.broker, **roles))

    def asks(self, *words, within=25):
        return self.person.finish("fleet", *words, "--json", within=within)

    def sees(self, *words):
        told = self.asks(*words)
        assert told.status == 0, told
        return told.objects


@pytest.fixture
def owner(lan, controller, cluster, tmp_path):
    database = Postgres(lan.host(), cluster, tmp_path / "postgres")
    broker = Broker(lan.host(), tmp_path / "mosquitto", persistent=True)
    owner = Owner(lan, controller, tmp_path, database, broker)
    owner.may(owner={"plugctl": "*"})
    return owner


@pytest.fixture
def add(lan, plug, controller, tmp_path, owner):
    return lambda name, **how: FleetHouse(
        name, lan, plug, controller, tmp_path / name, owner.broker, owner.database, **how)


def test_houses_are_listed_searched_and_switched(owner, add):
    """Fleet commands list, search and switch plugs of all houses, and respect the roles of fleet.toml."""
    assert "no daemon has sent its history to this database yet" in owner.asks("list").errors
    elm = add("elm-5", plugs=("Lamp", "Heater/+# 💡"), labels={"city": "Köln"})
    oak = add("oak-1", plugs=("Lamp",), labels={"city": "Bonn"})
    for house, count in ((elm, 2), (oak, 1)):
        house.served.follows(count)
    lamp = eventually(
        lambda: len(found := [one for one in owner.sees("list") if one["connected"] and "on" in one]) == 3 and found, 30, "three plugs")
    assert [(one["house"], one["plug"]) for one in lamp] == [("elm-5", "Heater/+# 💡"), ("elm-5", "Lamp"), ("oak-1", "Lamp")]
    assert [one["id"] for one in owner.sees("search", "lAm", "--label", "city=Köln")] == [elm.ids["Lamp"]]
    assert [one["house"] for one in owner.sees("list", "--house", "oak-1")] == ["oak-1"]
    assert owner.asks("search", "nobody", "--house", "oak-1").output == ""
    cut = owner.asks("list", "--limit", "2")
    assert len(cut.objects) == 2 and "the list is cut" in cut.errors
    assert owner.asks("search", "'; DROP TABLE smartplug.houses; --").status == 0
    # plugctl switches plugs through the broker; their own state confirms it.
    refused = owner.asks("on", "Lamp")
    assert refused.status == 1 and "2 plugs are called Lamp" in refused.errors and "--all" in refused.errors
    both = owner.asks("on", "Lamp", "--all")
    assert both.status == 0 and {(one["house"], one["on"]) for one in both.objects} == {("elm-5", True), ("oak-1", True)}
    assert elm.plugs["Lamp"].status()["relay"] == oak.plugs["Lamp"].status()["relay"] == "on"
    off = owner.asks("off", "--house", "elm-5", "--all").objects
    assert {(one["plug"], one["on"]) for one in off} == {("Lamp", False), ("Heater/+# 💡", False)}
    assert oak.plugs["Lamp"].status()["relay"] == "on"
    assert owner.asks("off", "Lamp", "Fan", "--house", "oak-1").status == 2
    for words in (["on"], ["on", "--all"], ["list", "--limit", "0"], ["list", "--label", "x"], ["energy", "--from", "2026-13"]):
        assert owner.asks(*words).status == 64, words
    # A role is valid only in its houses.
    owner.may(user={"plugctl": "oak-*"}, viewer={"plugctl": ["elm-5"]})
    assert {(one["house"], one["role"]) for one in owner.sees("houses")} == {("elm-5", "viewer"), ("oak-1", "user")}
    viewer = owner.asks("on", "Lamp", "--house", "elm-5")
    assert viewer.status == 1 and "only the viewer role in elm-5" in viewer.errors
    assert elm.plugs["Lamp"].status()["relay"] == "off"
    owner.may(user={"plugctl": "oak-1"})
    assert [one["house"] for one in owner.sees("list")] == ["oak-1"]
    assert owner.asks("on", "Lamp", "--house", "elm-5").status == 1
    # Control characters in a name are removed from the table.
    owner.may(owner={"plugctl": "*"})

    def table_with_evil_name():
        owner.database.sql("UPDATE smartplug.plugs SET name = E'Evil\\x1b[2J\\u202e name' WHERE house = (SELECT id FROM smartplug.houses "
                           "WHERE name = 'oak-1')")
        table = owner.person.does("fleet", "list").output
        # The house's daemon may have written the name again.
        return table if "Evil" in table else None

    table = eventually(table_with_evil_name, 20, "the name in the table")
    assert "\x1b" not in table and "\u202e" not in table
    # Energy by month, from the database.
    owner.database.sql(
        "INSERT INTO smartplug.energy SELECT plugs.id, day, 1000, 10, 0 FROM smartplug.plugs, (VALUES ('2026-01-31'::date), ('2026-02-01')) "
        "AS days (day) WHERE plugs.plug IN "f"('{elm.ids['Lamp']}', '{elm.ids['Heater/+# 💡']}')")
    told = owner.sees("energy", "--from", "2026-01", "--to", "2026-02")
    assert [(one["month"], one["house"], one["activeEnergy"]) for one in told] == [("2026-01", "elm-5", 2000), ("2026-02", "elm-5", 2000)]
    told = owner.sees("energy", "Lamp", "--from", "2026-01", "--to", "2026-01")
    assert [(one["plug"], one["activeEnergy"], one["estimated"]) for one in told] == [("Lamp", 1000, 10)]
    # Failures: a plug is away, a daemon does not answer, the broker is unreachable.
    elm.plugs["Lamp"].running.process.kill()
    eventually(lambda: [one["id"] for one in owner.sees("away")] == [elm.ids["Lamp"]], 40, "one plug that is away")
    oak.served.kill()
    began = time.monotonic()
    lost = owner.asks("on", oak.ids["Lamp"], within=40)
    assert lost.status == 1 and "did not answer, so the command has expired" in lost.errors
    assert time.monotonic() - began < 30
    owner.broker.kill()
    lost = owner.asks("on", elm.ids["Heater/+# 💡"], within=40)
    assert lost.status == 1 and "cannot reach the broker" in lost.errors
    owner.database.sql("UPDATE smartplug.states SET tripped = 'overload' WHERE plug = (SELECT id FROM smartplug.plugs WHERE plug = "
                       f"'{oak.ids['Lamp']}')")
    assert [(one["house"], one["tripped"]) for one in owner.sees("tripped")] == [("oak-1", "overload")]


def test_the_dashboard_shows_and_switches_other_houses(owner, add, controller, tmp_path):
    """The dashboard lists the plugs of other houses and switches them."""
    elm = add("elm-5")
    elm.served.follows(1)
    owner.may(owner={"plugctl": "elm-5"})
    served = Served(owner.person, tmp_path / "office", "--listen", f"127.0.0.1:{PORT}")
    eventually(served.answers, 15, lambda: served.running.transcript())
    lamp = eventually(
        lambda: (found := served.get("/api/v1/fleet/plugs")["plugs"]) and found[0]["connected"] and found[0], 30, "the lamp")
    assert served.get("/api/v1/fleet")["houses"][0]["house"] == "elm-5"
    assert served.get("/api/v1/session")["fleet"] is True
    before = elm.plugs["Lamp"].status()["relay"] == "on"
    done = served.ask("POST", f"/api/v1/fleet/houses/elm-5/plugs/{lamp['id']}/relay", {"on": not before})
    assert done.status == 200 and done.json["on"] is not before, done
    assert elm.plugs["Lamp"].status()["relay"] == ("off" if before else "on")
    assert served.ask("POST", f"/api/v1/fleet/houses/oak-1/plugs/{lamp['id']}/relay", {"on": True}).status == 404


def presses(listener, plug):
    return [event["seq"] for event in listener.events(plug) if event["event"] == "button"]


@pytest.mark.time_limit(150)
def test_a_killed_daemon_goes_on_elsewhere_with_its_directories(owner, add, lan, tmp_path):
    """A daemon that starts on another host with a copy of the directories continues the same house without duplicates. If two
    daemons use one house, the conflict is reported."""
    home = add("home")
    home.served.follows(1)
    lamp, plug = home.plugs["Lamp"], home.ids["Lamp"]
    listener = owner.broker.listen("-c", "-i", "listener", "-x", "3600")
    listener.has(f"smartplug/home/{plug}/state", lambda state: state)
    time.sleep(0.6)
    count = 0

    def press():
        nonlocal count
        before = lamp.status()["nextSequence"]
        assert lamp.press().status == 0
        # The relay toggled and the press was reported, so the next press is not part of a double press.
        eventually(lambda: lamp.status()["nextSequence"] == before + 2, 10, "two events of a press")
        count += 1

    press()
    eventually(lambda: len(presses(listener, plug)) == 1, 15, "the first press")
    press()
    home.served.kill()
    press()
    # Starts the daemon on another host, with a copy of the directories.
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(home.folder, elsewhere, symlinks=True, ignore=shutil.ignore_patterns("plug*", "*.socket"))
    shutil.copy2(home.folder / "state" / "smartplug" / "plugs", elsewhere / "state" / "smartplug" / "plugs")
    moved = home.begin(lan.host(), elsewhere)
    moved.follows(1)
    press()
    eventually(lambda: len(set(presses(listener, plug))) == count, 30, lambda: f"{count} presses: {presses(listener, plug)}")
    numbers = sorted(event["seq"] for event in listener.events(plug))
    assert set(numbers) == set(range(min(numbers), max(numbers) + 1)), "an event is missing"
    # The database still has one house. The key of the table of samples excludes duplicates.
    moved.running.seen(lambda line: "has the complete history" in line.text, 30)
    database = owner.database
    assert database.value("SELECT count(*) FROM smartplug.houses") == 1
    assert database.value("SELECT count(*) FROM smartplug.plugs") == 1
    eventually(lambda: owner.sees("list")[0]["connected"], 20, "the lamp from the moved daemon")
    eventually(lambda: database.value("SELECT count(*) FROM smartplug.events WHERE kind = 'button'") == count, 30, f"{count} presses")

    # The previous daemon starts again, so two daemons use the same house. At least one reports the conflict at the broker, and the
    # restarted daemon reports the one at the database.
    again = home.begin(home.host, home.folder)
    again.follows(1)
    # mosquitto 2.0 does not report that another connection took over the session.
    both = (moved.running, again.running)
    eventually(lambda: any("connections to the broker are closed at once" in line.text for one in both for line in list(one.lines)),
               40, "the report of a second daemon at the broker")
    again.running.seen(lambda line: line.error and "another connection uses the house name home" in line.text, 30)
    press()
    eventually(lambda: len(set(presses(listener, plug))) == count, 20, "all presses at the broker")
    # The two daemons take over the session from each other at growing intervals.
    def connections():
        return sum("broker" in line.text and "is connected" in line.text for one in both for line in list(one.lines))

    before = connections()
    time.sleep(6)
    assert connections() - before <= 6, [line.text for one in both for line in one.lines]
    # When the moved daemon stops, the previous daemon exports the house again.
    moved.running.stop()
    again.running.seen(lambda line: "has the complete history" in line.text, 60)
    listener.running.stop()
