"""The daemon's HTTP API has the base load of the house, the price of a kWh and the budget."""

import datetime

import pytest

from deadlines import eventually
from harness.receivers import event_of, Program, settings
from harness.served import Served, Stream

TARIFF = {"currency": "EUR", "price": 0.4, "standingCharge": 0.5, "rates": [{"name": "night", "price": 0.2, "from": "22:00", "to": "06:00"}]}


@pytest.fixture
def bell(tmp_path):
    """A program that gets the notifications."""
    program = Program(tmp_path, "bell")
    settings(tmp_path, f'[bell]\nkind = "command"\ncommand = "{program.path}"\n')
    return program


@pytest.fixture
def served(lan, plug, controller, tmp_path):
    """A daemon whose history has two days of a refrigerator, which draws 40 W, and 100 W in each third hour."""
    plug(lan.host(), "Lamp")
    person = controller(lan.host())
    begin = datetime.datetime.now().replace(second=0, microsecond=0) - datetime.timedelta(days=2)
    times = [begin + datetime.timedelta(seconds=10 * count) for count in range(2 * 8640)]
    recording = tmp_path / "recording.csv"
    recording.write_text("".join(f"{at:%d/%m/%Y %H:%M:%S};{100 if at.hour % 3 == 0 else 40}\n" for at in times))
    folder = tmp_path / "daemon"
    folder.mkdir()
    person.does("history", "import", recording, "--plug", "Refrigerator", "--history", folder / "history")
    return Served(person, folder).follows(1)


def test_the_base_load_costs_what_the_tariff_says(served):
    """The base load is the power that is exceeded in 95 % of the time."""
    load = served.get("/api/v1/energy/base")
    assert load["activePower"] == pytest.approx(40, rel=0.02) and "yearlyCost" not in load, load
    assert load["yearlyEnergy"] == pytest.approx(40 * 8760, rel=0.02)
    assert served.ask("POST", "/api/v1/tariff", TARIFF).status == 200
    load = served.get("/api/v1/energy/base")
    assert load["yearlyCost"] == pytest.approx(0.04 * 8760 * (16 * 0.4 + 8 * 0.2) / 24, rel=0.03) and load["currency"] == "EUR"


def test_a_tariff_is_the_one_of_the_command_line(served):
    """The API and `plugctl tariff` read and write the same file. A wrong tariff changes nothing."""
    assert served.ask("GET", "/api/v1/tariff").status == 204
    assert served.ask("POST", "/api/v1/tariff", TARIFF).json == TARIFF
    assert served.controller.does("tariff", "--json").objects == [TARIFF]
    refused = served.ask("POST", "/api/v1/tariff", {**TARIFF, "rates": [{"name": "night", "price": 0.2, "from": "22:05"}]})
    assert refused.status == 422 and "[night] from" in refused.json["error"] and "quarter of an hour" in refused.json["error"], refused
    for body in ({}, {"price": 1}, {**TARIFF, "tax": 1}, {**TARIFF, "rates": "none"}, {**TARIFF, "rates": [{"name": "night"}]},
                 {**TARIFF, "rates": [{"name": "night", "price": 1, "form": "22:00"}]}):
        assert served.ask("POST", "/api/v1/tariff", body).status == 400, body
    assert served.get("/api/v1/tariff") == TARIFF
    energy = eventually(lambda: served.get("/api/v1/energy", by="day", plug="Refrigerator"), 10, "the energy")
    assert all(record["currency"] == "EUR" and record["cost"] > 0 for record in energy)
    assert served.ask("DELETE", "/api/v1/tariff").status == 204 and served.ask("GET", "/api/v1/tariff").status == 204


def test_a_budget_is_the_one_of_the_command_line(served):
    """The API and `plugctl budget` read and write the same file, and compute the same use."""
    assert served.ask("GET", "/api/v1/budget").status == 204
    refused = served.ask("POST", "/api/v1/budget", {"cost": 60})
    assert refused.status == 409 and "requires a tariff" in refused.json["error"], refused
    told = served.ask("POST", "/api/v1/budget", {"activeEnergy": 150_000}).json
    assert told["activeEnergy"] == 150_000 and "cost" not in told and told["month"]["used"] > 0, told
    assert served.ask("POST", "/api/v1/tariff", TARIFF).status == 200
    told = served.ask("POST", "/api/v1/budget", {"cost": 60}).json
    [same] = served.controller.does("budget", "--json", "--history", served.folder / "history").objects
    assert {**same, "month": None} == {"cost": 60, "currency": "EUR", "month": None} == {**told, "month": None}
    days = (datetime.date.today() - datetime.date.fromisoformat(told["month"]["from"][:10])).days + 1
    energy = [record for record in served.get("/api/v1/energy", by="month") if record["from"] == told["month"]["from"]]
    used = sum(record["cost"] for record in energy) + 0.5 * days
    assert [told["month"]["used"], same["month"]["used"]] == pytest.approx([used, used], abs=0.01)
    assert 0 < told["month"]["covered"] <= told["month"]["elapsed"]
    for body in ({}, {"cost": "60"}, {"cost": 1, "activeEnergy": 1}, {"kWh": 1}):
        assert served.ask("POST", "/api/v1/budget", body).status == 400, body
    assert served.ask("POST", "/api/v1/budget", {"cost": 0}).status == 422
    served.controller.does("budget", "--remove")
    assert served.ask("GET", "/api/v1/budget").status == 204 == served.ask("DELETE", "/api/v1/budget").status


def test_a_used_up_budget_is_notified_once(bell, served):
    """The receivers and the readers of the stream are notified. A restart of the daemon repeats nothing."""
    stream = Stream(served)
    assert served.ask("POST", "/api/v1/budget", {"activeEnergy": 1}).status == 200
    _, _, shown = stream.seen("notification")
    assert shown["title"].startswith("The budget for ") and shown["title"].endswith(" is used up") and shown["rule"] == "plugctl budget"
    stream.close()
    [given] = eventually(lambda: bell.given, 10, "the notification")
    event = event_of(given)
    assert event["title"] == shown["title"] and "of 0.001 kWh used" in event["text"] and event["rule"] == "plugctl budget", event
    served.kill()
    served.start()
    served.follows(1)
    assert served.ask("POST", "/api/v1/budget", {"activeEnergy": 1}).status == 200
    # The checks are in order, so this notification is the first one after the restart.
    assert served.ask("POST", "/api/v1/budget", {"activeEnergy": 2}).status == 200
    texts = eventually(lambda: len(bell.given) > 1 and [event_of(given)["text"] for given in bell.given], 10, "the other budget")
    assert len(texts) == 2 and "of 0.002 kWh used" in texts[1], texts


def test_an_order_is_stored(served):
    """Plugs have the place that an owner gave them, also after a restart."""
    lamp = served.sees("Lamp", "connected")["id"]
    assert served.ask("POST", "/api/v1/order", {"plugs": ["0123456789ab", lamp]}).status == 204
    assert served.plug("Lamp")["place"] == 1
    served.kill()
    served.start()
    served.follows(1)
    assert served.sees("Lamp", "connected")["place"] == 1
    assert served.ask("POST", "/api/v1/order", {"plugs": []}).status == 422
    assert served.ask("DELETE", "/api/v1/order").status == 204 and "place" not in served.plug("Lamp")
