"""`plugctl history` as a person and a script use it: recordings come in, energy and cost come out."""

import csv
import os
import pathlib
import sqlite3

import pytest

from harness.recorded_days import History, steady

TARIFF = """
[tariff]
currency = "EUR"
price = 0.40
[night]
from = "22:00"
to = "06:00"
price = 0.20
"""
TRACES = os.environ.get("SMARTPLUG_TRACES")


@pytest.fixture
def history(programs, tmp_path):
    return History(programs, tmp_path)


def test_energy_is_counted_by_local_days(history):
    history.holds("Heater", steady("28/03/2026", 1000) + steady("29/03/2026", 1000, [0, 1, *range(3, 24)]))
    days = history.records("Heater", "--from", "2026-03-28", "--to", "2026-03-30", "--by", "day")
    assert [day["from"] for day in days] == ["2026-03-28T00:00:00.000+01:00", "2026-03-29T00:00:00.000+01:00"]
    # The clock is set forward: the second day has 23 hours, which the recording shows as 02:59:50 being followed by nothing.
    assert [round(day["activeEnergy"] / 1000, 1) for day in days] == [24.0, 23.0]


def test_what_is_not_known_is_no_zero(history):
    history.holds("Lamp", steady("20/11/2026", 60, [8, 11]))
    hours = history.records("Lamp", "--from", "2026-11-20", "--to", "2026-11-21", "--by", "hour")
    assert [hour["from"][11:13] for hour in hours] == ["08", "11"]
    assert all(hour["meanActivePower"] == 60 and hour["activeEnergy"] == pytest.approx(60, abs=0.2) for hour in hours)


def test_a_tariff_makes_it_cost(history):
    (history.folder / "configuration" / "smartplug").mkdir(parents=True)
    (history.folder / "configuration" / "smartplug" / "tariff.toml").write_text(TARIFF)
    history.holds("Heater", steady("20/11/2026", 1000))
    [day] = history.records("Heater", "--from", "2026-11-20", "--to", "2026-11-21", "--by", "day")
    assert day["cost"] == pytest.approx(16 * 0.40 + 8 * 0.20, abs=0.01) and day["currency"] == "EUR"
    table = history.run("history", "Heater", "--from", "2026-11-20", "--to", "2026-11-21", "--by", "day")
    assert "8.00 EUR" in table and "20 Nov 2026" in table and "█" in table


def test_a_wrong_tariff_is_told_with_its_line(history):
    history.holds("Heater", steady("20/11/2026", 1000, [1]))
    file = history.folder / "wrong.toml"
    file.write_text(TARIFF + 'form = "1"\n')
    said = history.run("history", "--tariff", file, status=1)
    assert f"{file}:9: [night] form: there is no such key; is from meant?" in said


def test_scripts_get_csv_and_sqlite(history):
    history.holds("Heater", steady("20/11/2026", 1000, [1, 2]))
    window = ["--from", "2026-11-20", "--to", "2026-11-21", "--by", "hour"]
    rows = list(csv.DictReader(history.run("history", "Heater", *window, "--csv").splitlines()))
    assert [row["maxActivePower"] for row in rows] == ["1000.0", "1000.0"]
    file = history.folder / "out.sqlite"
    history.run("history", "Heater", *window, "--sqlite", file)
    with sqlite3.connect(file) as database:
        assert database.execute("SELECT count(*), min(activePower), max(activePower) FROM sample").fetchone() == (720, 1000, 1000)
        assert database.execute("SELECT count(*) FROM energy").fetchone() == (2,)
    assert "there already" in history.run("history", "Heater", *window, "--sqlite", file, status=1)


def test_a_recording_is_imported_once_however_often(history):
    lines = steady("20/11/2026", 1000, [1])
    assert "360 samples of Heater" in history.holds("Heater", lines)
    history.holds("Heater", lines)
    [hour] = history.records("Heater", "--from", "2026-11-20", "--to", "2026-11-21", "--by", "hour")
    assert hour["activeEnergy"] == pytest.approx(1000 * 3590 / 3600, abs=1) and hour["covered"] == 3590


def test_what_cannot_be_imported_is_told(history):
    file = history.folder / "kettle.csv"
    file.write_text("0,0\n10,2000\n20,2000\n")
    assert "--start 2026-11-20T07:30" in history.run("history", "import", file, "--plug", "Kettle", status=1)
    history.run("history", "import", file, "--plug", "Kettle", "--start", "2026-11-20T07:30")
    file.write_text("0,0\nten,2000\n")
    assert f"{file}: line 2: found" in history.run("history", "import", file, "--plug", "Kettle", status=1)
    assert "hint: did you mean \"Kettle\"?" in history.run("history", "Ketle", status=1)


def test_without_a_history_it_says_how_to_get_one(history):
    said = history.run("history", status=1)
    assert "there is no history in" in said and "hint: plugctl daemon" in said


@pytest.mark.skipif(not TRACES, reason="the recordings are not part of the project: --traces names their folder")
def test_the_energy_of_the_recordings_is_that_of_their_points(history):
    """Against a sum over the lines themselves, steps of up to 30 s joined."""
    import lzma
    from datetime import datetime, timezone

    for path in sorted(pathlib.Path(TRACES).glob("*.csv.xz")):
        name = path.name.split("_")[0]
        history.run("history", "import", path, "--plug", name, zone="UTC")
        energy, before = 0.0, None
        for line in lzma.open(path, "rt"):
            stamp, watts, _ = line.split(";")
            moment = datetime.strptime(stamp, "%d/%m/%Y %H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
            if before and 0 < moment - before[0] <= 30:
                energy += (moment - before[0]) * (float(watts) + before[1]) / 2
            before = (moment, float(watts))
        told = history.records(name, "--from", "2011-01-01", "--to", "2013-01-01", "--by", "month", zone="UTC")
        assert sum(month["activeEnergy"] for month in told) == pytest.approx(energy / 3600, rel=0.002), name
