"""`plugctl history` with text and JSON output: imported recordings, energy and cost."""

import csv
import datetime
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import unicodedata
import zoneinfo

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
    # On the second day, which has 23 hours, the clock is set forward, so the recording has no samples from 01:59:50 to 03:00:00.
    assert [round(day["activeEnergy"] / 1000, 1) for day in days] == [24.0, 23.0]


def test_what_is_not_known_is_no_zero(history):
    """Hours without samples are omitted, not listed with zero energy."""
    history.holds("Lamp", steady("20/11/2026", 60, [8, 11]))
    hours = history.records("Lamp", "--from", "2026-11-20", "--to", "2026-11-21", "--by", "hour")
    assert [hour["from"][11:13] for hour in hours] == ["08", "11"]
    assert all(hour["meanActivePower"] == 60 and hour["activeEnergy"] == pytest.approx(60, abs=0.2) for hour in hours)


def test_a_tariff_makes_it_cost(history):
    """With a tariff the cost is computed by time of day."""
    (history.folder / "configuration" / "smartplug").mkdir(parents=True)
    (history.folder / "configuration" / "smartplug" / "tariff.toml").write_text(TARIFF)
    history.holds("Heater", steady("20/11/2026", 1000))
    [day] = history.records("Heater", "--from", "2026-11-20", "--to", "2026-11-21", "--by", "day")
    assert day["cost"] == pytest.approx(16 * 0.40 + 8 * 0.20, abs=0.01) and day["currency"] == "EUR"
    table = history.run("history", "Heater", "--from", "2026-11-20", "--to", "2026-11-21", "--by", "day")
    assert "8.00 EUR" in table and "20 Nov 2026" in table and "█" in table


def test_the_command_line_sets_a_tariff(history):
    """`plugctl tariff` writes the tariff, changes and removes its rates, and changes nothing after a mistake."""
    def tariff(*words, status=0):
        done = subprocess.run([history.programs / "plugctl", "tariff", *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == status, done
        return done.stderr if status else done.stdout

    assert "no tariff is set" in tariff(status=1)
    assert "requires --currency and --price" in tariff("--price", "0.40", status=1)
    assert "a rate requires a tariff" in tariff("night", "--price", "0.20", status=1)
    assert tariff("--price", "0.40", "--currency", "EUR") == "EUR 0.4 per kWh\n"
    tariff("night", "--price", "0.30", "--from", "22:00", "--to", "06:00")
    shown = tariff("night", "--price", "0.20")
    assert shown == "EUR 0.4 per kWh\n  night: EUR 0.2, 22:00 to 06:00\n" == tariff()
    assert "on the quarter of an hour" in tariff("night", "--to", "06:05", status=1)
    assert "no rate \"nights\"" in tariff("nights", "--remove", status=1)
    history.holds("Heater", steady("20/11/2026", 1000))
    [day] = history.records("Heater", "--from", "2026-11-20", "--to", "2026-11-21", "--by", "day")
    assert day["cost"] == pytest.approx(16 * 0.40 + 8 * 0.20, abs=0.01) and day["currency"] == "EUR"
    assert tariff("night", "--remove") == "EUR 0.4 per kWh\n"
    tariff("--remove")
    tariff(status=1)


def test_a_tariff_file_may_have_a_relative_path(history):
    """`--tariff` takes the name of a file in the working directory; a file that cannot be written is reported with a hint."""
    def tariff(file, *words):
        return subprocess.run(
            [history.programs / "plugctl", "tariff", "--tariff", file, *words], capture_output=True, text=True, timeout=60, cwd=history.folder)

    done = tariff("mine.toml", "--price", "0.40", "--currency", "EUR")
    assert done.stdout == "EUR 0.4 per kWh\n" and done.returncode == 0, done
    assert (history.folder / "mine.toml").exists()
    (history.folder / "file").write_text("")
    failed = tariff("file/mine.toml", "--price", "0.40", "--currency", "EUR")
    assert failed.returncode == 1 and "file/mine.toml" in failed.stderr, failed


def test_the_command_line_sets_a_budget(history):
    """`plugctl budget` writes the budget, and a mistake changes nothing. The use of the month is shown with the budget."""
    now = datetime.datetime.now(zoneinfo.ZoneInfo("Europe/Berlin"))
    day = now.date() - datetime.timedelta(days=1 if now.hour == 0 else 0)
    if day.month != now.month:
        pytest.skip("no hour of this month is over")

    def budget(*words, **options):
        return history.run("budget", *words, **options)

    assert "no budget is set" in budget(status=1)
    assert "--cost requires a tariff" in budget("--cost", "60", status=1)
    assert "cannot be combined" in budget("--cost", "60", "--energy", "150", status=64)
    assert "must be 0.001 to 1000000 kWh" in budget("--energy", "0", status=64)
    history.holds("Lamp", steady("20/11/2020", 60, [0]))
    assert budget("--energy", "150") == "150.0 kWh per month\nthe history has no data of this month\n" == budget()
    assert json.loads(budget("--json")) == {"activeEnergy": 150_000}
    history.holds("Heater", steady(f"{day:%d/%m/%Y}", 1000, [0]))
    shown = budget()
    assert shown.startswith("150.0 kWh per month\n") and " of 150.0 kWh used (1 %), day " in shown, shown
    assert "no projection, because less than a day has data" in shown
    month = json.loads(budget("--json"))["month"]
    assert month["used"] == pytest.approx(1000, abs=5) and month["covered"] == 3600 and "projected" not in month
    tariff = history.folder / "configuration" / "smartplug" / "tariff.toml"
    tariff.write_text(TARIFF)
    assert budget("--cost", "60").startswith("60.00 EUR per month\n") and "0.20 of 60.00 EUR used (0 %)" in budget()
    table = history.run("history")
    assert "budget for " in table and "0.20 of 60.00 EUR used" in table
    tariff.write_text(TARIFF.replace("EUR", "CHF"))
    assert budget() == "60.00 EUR per month\n" and "the tariff is not in EUR" in history.said
    budget("--remove")
    budget("--remove")
    budget(status=1)


def test_a_wrong_tariff_is_told_with_its_line(history):
    """An unknown key in a tariff file is reported with its line and a suggestion."""
    history.holds("Heater", steady("20/11/2026", 1000, [1]))
    file = history.folder / "wrong.toml"
    file.write_text(TARIFF + 'form = "1"\n')
    said = history.run("history", "--tariff", file, status=1)
    assert f"{file}:9: [night] form: unknown key; did you mean from?" in said


def test_scripts_get_csv_and_sqlite(history):
    """Energy is exported as CSV and to a new SQLite file; an existing file is not overwritten."""
    history.holds("Heater", steady("20/11/2026", 1000, [1, 2]))
    window = ["--from", "2026-11-20", "--to", "2026-11-21", "--by", "hour"]
    rows = list(csv.DictReader(history.run("history", "Heater", *window, "--csv").splitlines()))
    assert [row["maxActivePower"] for row in rows] == ["1000.0", "1000.0"]
    file = history.folder / "out.sqlite"
    history.run("history", "Heater", *window, "--sqlite", file)
    with sqlite3.connect(file) as database:
        assert database.execute("SELECT count(*), min(activePower), max(activePower) FROM sample").fetchone() == (720, 1000, 1000)
        assert database.execute("SELECT count(*) FROM energy").fetchone() == (2,)
    assert "already exists" in history.run("history", "Heater", *window, "--sqlite", file, status=1)


def test_a_page_reports_a_month(history):
    """The page has the energy of each day and appliance, the base load, and the preceding month."""
    history.holds("Heater", steady("20/11/2026", 1000) + steady("21/11/2026", 500))
    history.holds("Lamp <1>", steady("20/10/2026", 60))
    history.holds("Lamp <1>", steady("20/11/2026", 60) + steady("21/11/2026", 60))
    tariff = history.folder / "tariff.toml"
    tariff.write_text(TARIFF)
    page = history.folder / "november.html"
    assert history.run("report", "--month", "2026-11", "--tariff", tariff, "--html", page) == f"wrote {page}\n"
    text = page.read_text()
    assert "<title>Energy in Nov 2026</title>" in text and "<strong>38.88 kWh</strong>, 12.96 EUR." in text
    assert "The preceding month had 1.44 kWh (+2600 %)." in text
    assert "Least energy: 13.44 kWh on 21 Nov 2026. Most energy: 25.44 kWh on 20 Nov 2026." in text
    assert "Budget" not in text
    (history.folder / "configuration" / "smartplug").mkdir(parents=True, exist_ok=True)
    (history.folder / "configuration" / "smartplug" / "budget.toml").write_text('[budget]\ncost = 20\ncurrency = "EUR"\n')
    history.run("report", "--month", "2026-11", "--tariff", tariff, "--html", page)
    assert "<p>Budget: 12.96 of 20.00 EUR used (65 %), day " in page.read_text()
    assert "Lamp &lt;1&gt;" in text and "drew more than 560.0 W" in text
    assert "no samples in 2026-09" in history.run("report", "--month", "2026-09", status=1)
    assert "is in the future" in history.run("report", "--month", "2199-01", status=1)


def test_a_report_is_printed(history):
    history.holds("Heater", steady("20/11/2026", 1000))
    file = history.folder / "november.pdf"
    assert history.run("report", "--month", "2026-11", "--pdf", file) == f"wrote {file}\n"
    printed = file.read_bytes()
    assert printed.startswith(b"%PDF-") and printed.rstrip().endswith(b"%%EOF")
    assert b"/Title (Energy in Nov 2026)" in printed


def test_a_recording_is_imported_once_however_often(history):
    """A repeated import adds nothing and reports the lines as known."""
    lines = steady("20/11/2026", 1000, [1])
    assert "360 samples of Heater" in history.holds("Heater", lines)
    assert "0 samples imported, 360 lines left out: 360 with a time that is already in the history" in history.holds("Heater", lines)
    [hour] = history.records("Heater", "--from", "2026-11-20", "--to", "2026-11-21", "--by", "hour")
    assert hour["activeEnergy"] == pytest.approx(1000 * 3590 / 3600, abs=1) and hour["covered"] == 3590


def imported(history, lines, *words, **options):
    """Imports these lines; returns the steps back in time and the summary from `--json`, whose counts must add up."""
    file = history.folder / "recording.csv"
    file.write_text("\n".join(lines) + "\n")
    told = history.run("history", "import", file, "--plug", "Heater", "--json", *words, **options)
    *steps, done = map(json.loads, told.splitlines())
    assert done["event"] == "imported" and done["lines"] == len(lines) and done["stepsBack"] == len(steps)
    assert done["lines"] == done["samples"] + sum(left["lines"] for left in done["leftOut"]), done
    return steps, done


def test_the_hour_that_comes_twice_is_two_hours(history):
    """When the clock is set back, the repeated hour counts as two hours."""
    lines = steady("25/10/2026", 1000, [0, 1, 2, 2, *range(3, 24)])
    steps, done = imported(history, lines, "--zone", "Europe/Berlin", zone="UTC")
    assert steps == [] and done["samples"] == 25 * 360 and done["leftOut"] == []
    assert (done["from"], done["to"]) == ("2026-10-25T00:00:00.000+02:00", "2026-10-25T23:59:50.000+01:00")
    [day] = history.records("Heater", "--from", "2026-10-25", "--to", "2026-10-26", "--by", "day")
    assert day["activeEnergy"] == pytest.approx(25_000, abs=5) and day["covered"] == 25 * 3600 - 10


def test_the_hour_that_does_not_exist_is_counted(history):
    """Lines with a local time that does not exist are left out, with a hint; with a fixed offset they are imported."""
    lines = steady("29/03/2026", 1000, [1, 2])
    steps, done = imported(history, lines)
    assert steps == [] and done["samples"] == 360
    assert done["leftOut"] == [{"reason": "noSuchTime", "lines": 360, "first": 361}]
    assert "360 lines of" in history.said and "hint:" in history.said and "--zone +01:00" in history.said
    _, done = imported(history, lines, "--zone", "+01:00")
    assert done["samples"] == 360 and done["leftOut"] == [{"reason": "known", "lines": 360, "first": 1}]
    assert done["to"] == "2026-03-29T02:59:50.000+01:00"


def test_a_step_back_in_time_begins_a_segment(history):
    """A step back in time starts a new segment; overlapping lines of the later segment are left out."""
    lines = steady("20/11/2026", 1000, [8])
    lines += steady("20/11/2026", 500, [7]) + ["20/11/2026 07:59:50;400", "", "20/11/2026 08:59:55;300"]
    file = history.folder / "two.csv"
    file.write_text("\n".join(lines) + "\n")
    said = history.run("history", "import", file, "--plug", "Heater").splitlines()
    assert said == [
        f"{file}: line 361: time steps back from 2026-11-20T08:59:50.000+01:00 to 2026-11-20T07:00:00.000+01:00; "
        "a new segment begins",
        f"{file}: 721 samples of Heater, 2026-11-20T07:00:00.000+01:00 to 2026-11-20T08:59:55.000+01:00",
        f"{file}: 723 lines read, 721 samples imported, 2 lines left out: 1 empty (first: line 722), "
        "1 with the same time as the next line (first: line 720)"]
    back, forth = lines[:100], lines[50:200]
    [step], done = imported(history, back + forth, "--plug", "Other")
    assert (step["event"], step["line"]) == ("stepBack", 101) and step["from"] > step["to"]
    assert done["samples"] == 200 and done["leftOut"] == [{"reason": "earlierSegment", "lines": 50, "first": 101}]


def test_a_shaking_clock_is_told_in_short_and_in_full(history):
    """The text output lists the first 20 steps back in time and the number of the others; JSON lists all."""
    lines = [f"20/11/2026 08:{minute:02}:{second:02};5" for minute in range(30) for second in (30, 20)]
    file = history.folder / "shaking.csv"
    file.write_text("\n".join(lines) + "\n")
    said = history.run("history", "import", file, "--plug", "Heater").splitlines()
    assert len(said) == 23 and said[20] == f"{file}: 10 more steps back in time; --json lists all"
    steps, done = imported(history, lines, "--plug", "Other")
    assert len(steps) == 30 and done["samples"] == 45


def test_quoted_fields_are_read(history):
    lines = [f'"{line.replace(";", chr(34) + "," + chr(34))}"' for line in steady("20/11/2026", 1000, [1])]
    assert lines[0] == '"20/11/2026 01:00:00","1000"'
    assert imported(history, lines)[1]["samples"] == 360


def test_an_unknown_zone_is_told(history):
    file = history.folder / "heater.csv"
    file.write_text("0,1\n")
    for zone in ("Europe/Nowhere", "../../etc/passwd", "+25:00"):
        said = history.run("history", "import", file, "--plug", "Heater", "--zone", zone, "--start", "2026-01-01", status=1)
        assert f"unknown time zone {zone}\nhint:" in said
    done = history.run("history", "import", file, "--plug", "Heater", "--zone", "-03:30", "--start", "2026-01-01T12:00")
    assert "2026-01-01T12:00:00.000-03:30 to" in done


def test_what_cannot_be_imported_is_told(history):
    """A recording without a start time or with an unreadable line is reported."""
    file = history.folder / "kettle.csv"
    file.write_text("0,0\n10,2000\n20,2000\n")
    assert "--start 2026-11-20T07:30" in history.run("history", "import", file, "--plug", "Kettle", status=1)
    history.run("history", "import", file, "--plug", "Kettle", "--start", "2026-11-20T07:30")
    file.write_text("0,0\nten,2000\n")
    said = history.run("history", "import", file, "--plug", "Kettle", "--start", "2026-11-21T07:30")
    assert "1 that cannot be read (first: line 2)" in said
    assert "hint: did you mean \"Kettle\"?" in history.run("history", "Ketle", status=1)


def test_without_a_history_it_says_how_to_get_one(history):
    """Without a history the error has a hint."""
    said = history.run("history", status=1)
    assert "no history was found in" in said and "hint: plugctl daemon" in said


@pytest.mark.skipif(not TRACES, reason="the recordings are not part of the project; --traces sets their folder")
def test_the_energy_of_the_recordings_is_that_of_their_points(history):
    """The energy of each recording equals the sum of the energies between consecutive lines that are at most 30 s apart."""
    import lzma
    from datetime import datetime, timezone

    for path in sorted(pathlib.Path(TRACES).glob("*.csv.xz")):
        name = path.name.split("_")[0]
        told = json.loads(history.run("history", "import", path, "--plug", name, "--json", zone="UTC").splitlines()[-1])
        assert told["lines"] == told["samples"] + sum(left["lines"] for left in told["leftOut"]) == len(lzma.open(path).readlines())
        energy, before = 0.0, None
        for line in lzma.open(path, "rt"):
            stamp, watts, _ = line.split(";")
            moment = datetime.strptime(stamp, "%d/%m/%Y %H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
            if before and 0 < moment - before[0] <= 30:
                energy += (moment - before[0]) * (float(watts) + before[1]) / 2
            before = (moment, float(watts))
        told = history.records(name, "--from", "2011-01-01", "--to", "2013-01-01", "--by", "month", zone="UTC")
        assert sum(month["activeEnergy"] for month in told) == pytest.approx(energy / 3600, rel=0.002), name


def test_bad_lines_are_reported_and_the_rest_is_imported(history):
    lines = ["Time;Power", *steady("2026-11-20", "1000,5", [7]), "2026-11-20 08:00:00;NaN"]
    _, done = imported(history, lines)
    assert done["samples"] == 360
    assert done["leftOut"] == [
        {"reason": "header", "lines": 1, "first": 1}, {"reason": "unreadable", "lines": 1, "first": 362}]
    assert 'line 362: found "NaN", expected watts as a number' in history.said and "hint:" in history.said
    [hour] = history.records("Heater", "--from", "2026-11-20", "--to", "2026-11-21", "--by", "hour")
    assert hour["meanActivePower"] == 1000.5


def test_a_year_that_no_clock_shows_is_refused(history):
    """A year outside 1970 to 2200 is refused."""
    file = history.folder / "future.csv"
    file.write_text("20/11/9999 07:00:00;12\n")
    said = history.run("history", "import", file, "--plug", "Heater", status=1)
    assert "line 1:" in said and "expected a year from 1970 to 2200" in said


def test_a_line_per_minute_has_its_energy(history):
    """A recording with one line per minute has the correct energy."""
    history.holds("Heater", steady("20/11/2026", 1000, [7, 8], step=60))
    assert "60 s apart" in history.said
    [hour, _] = history.records("Heater", "--from", "2026-11-20", "--to", "2026-11-21", "--by", "hour")
    assert hour["activeEnergy"] == pytest.approx(1000, abs=1) and hour["covered"] == 3600


def test_a_day_with_a_line_per_minute_has_no_gaps_and_keeps_its_lines(history):
    """A recording with one line per minute is drawn without gaps, and each line is stored with its own value."""
    watts = {minute: minute * 7919 % 2003 for minute in range(1440)}
    history.holds("Heater", [f"20/11/2026 {minute // 60:02}:{minute % 60:02}:00;{watts[minute]}" for minute in watts])
    window = ["--from", "2026-11-20", "--to", "2026-11-21"]
    chart = history.run("chart", "Heater", *window)
    assert "gap" not in chart + history.said and "Heater" in chart, chart
    assert history.said == "", history.said
    [day] = history.records("Heater", *window, "--by", "day")
    line = sum((watts[minute] + watts[minute + 1]) / 120 for minute in range(1439))
    assert day["activeEnergy"] == pytest.approx(line, rel=1e-3) and day["covered"] == 1439 * 60
    # Every line is a sample with its own value, and one interpolated sample is between each two consecutive ones.
    file = history.folder / "out.sqlite"
    history.run("history", "Heater", *window, "--sqlite", file)
    with sqlite3.connect(file) as database:
        samples = [value for value, in database.execute("SELECT activePower FROM sample ORDER BY at")]
    assert samples[::2] == [watts[minute] for minute in watts] and len(samples) == 2 * 1440 - 1


def test_an_hour_that_comes_twice_begins_with_summer_time(history):
    """A start time in the hour that occurs twice is interpreted as summer time."""
    file = history.folder / "plain.csv"
    file.write_text("0,1\n1,1\n")
    done = json.loads(history.run("history", "import", file, "--plug", "Heater", "--start", "2026-10-25T02:30", "--json"))
    assert done["from"] == "2026-10-25T02:30:00.000+02:00"


def test_energy_that_is_fed_in_is_not_counted_and_said(history):
    """Negative power is not counted as energy, and a warning is printed."""
    history.holds("Roof", steady("20/11/2026", -300, [12]))
    said = "Roof: active power was below 0 W at times; energy fed into the grid is not counted"
    window = ["--from", "2026-11-20", "--to", "2026-11-21"]
    [hour] = history.records("Roof", *window, "--by", "hour")
    assert hour["activeEnergy"] == 0 and hour["meanActivePower"] == hour["minActivePower"] == -300 and said in history.said
    for words in (["history", "Roof"], ["history", "Roof", "--csv"], ["chart", "Roof", "--energy"]):
        history.run(*words, *window)
        assert said in history.said, words
    history.holds("Lamp", steady("20/11/2026", 300, [12]))
    history.run("history", "Lamp", *window)
    assert history.said == ""


def test_a_plug_that_only_recordings_know_is_drawn_without_a_search(history):
    """`plugctl chart` does not search the network for a plug that has only imported recordings."""
    history.holds("Heater", steady("20/11/2026", 1000, [12]))
    history.run("chart", "Heater", "--from", "2026-11-20", "--to", "2199-01-01")
    assert "did not answer" not in history.said, history.said


def test_a_chart_of_many_plugs_has_its_title_its_date_and_its_colours(history):
    """A chart of 26 plugs with wide characters has a title, a date, different colours, and rows for the plot."""
    names = [f"Plug {number} of the house with \u96fb\u6c17\u30b9\u30c8\u30fc\u30d6 \U0001f525" for number in range(26)]
    for number, name in enumerate(names):
        history.holds(name, steady("20/11/2026", 10 * number - 50, [12], step=30))
    window = ["--from", "2026-11-20T12:00", "--to", "2026-11-20T13:00"]
    picture = history.folder / "chart.svg"
    history.run("chart", *names, *window, "--svg", picture, "--stacked")
    drawn = picture.read_text()
    fills = re.findall(r"\.s\d+\{fill:(#[0-9a-f]{6})", drawn)[:26]
    assert len(set(fills)) == 26 and "20 Nov 2026" in drawn and "\u2026</text>" in drawn
    lines = history.run("chart", *names, *window).splitlines()
    wide = [sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line) for line in lines]
    # The value axis has a tick or a line in each row of the plot.
    plot = [line for line in lines if re.match("[ 0-9-]{5}[\u2502\u2524|+][^-]", line)]
    assert len(plot) >= 9 and max(wide) <= 100, (wide, "\n".join(lines))
    assert "20 Nov 2026" in lines[0]


def test_a_changed_end_of_a_chunk_is_shown(history):
    """A corrupted end time of a chunk does not stop the commands."""
    history.holds("Heater", steady("20/11/2026", 1000, [7]))
    with sqlite3.connect(history.folder / "history" / "history.sqlite") as database:
        database.execute("UPDATE chunk SET until = until + (1 << 60)")
    history.run("history", "Heater")
    history.run("history", "Heater", "--from", "2026-11-20", "--to", "2026-11-21")
    history.run("chart", "Heater", "--from", "2026-11-19", "--to", "2026-11-20")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting the directory read-only needs root")
def test_a_directory_that_cannot_be_written_is_read(history):
    """A history in a read-only directory can be read."""
    history.holds("Heater", steady("20/11/2026", 1000, [7]))
    directory = history.folder / "history"
    with sqlite3.connect(directory / "history.sqlite") as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    assert not (directory / "history.sqlite-wal").exists()
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", 'mount --bind -o ro "$0" "$0" && exec "$@"', directory, history.programs / "plugctl",
         "history", "Heater", "--from", "2026-11-20", "--to", "2026-11-21", "--json", "--history", directory],
        capture_output=True, text=True, timeout=60, env={**os.environ, "TZ": "Europe/Berlin", "LANG": "C.UTF-8"})
    assert done.returncode == 0, done
    assert json.loads(done.stdout.splitlines()[0])["meanActivePower"] == 1000
