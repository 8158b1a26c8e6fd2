"""The daemon's HTTP API has the base load of the house and the price of a kWh."""

import datetime

import pytest

from deadlines import eventually
from harness.served import Served

TARIFF = {"currency": "EUR", "price": 0.4, "standingCharge": 0.5, "rates": [{"name": "night", "price": 0.2, "from": "22:00", "to": "06:00"}]}


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
