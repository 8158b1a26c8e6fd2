"""`plugctl chart`: from the history, from a plug, and from both; as text, pictures and JSON lines."""

import datetime
import json
import re
import sqlite3
import time

import pytest
from deadlines import eventually
from harness.recorded_days import History, steady

DAY = ["--from", "2011-12-01", "--to", "2011-12-02"]


@pytest.fixture
def history(programs, tmp_path):
    return History(programs, tmp_path)


def cycles(day):
    """Returns the lines of a recording of a compressor that runs for twenty minutes of each hour, with a gap from 10:00 to 12:00."""
    return [
        f"{day} {hour:02}:{second // 60:02}:{second % 60:02};{90 if second < 1200 else 1}"
        for hour in range(24) if hour not in (10, 11) for second in range(0, 3600, 10)
    ]


def test_a_day_is_drawn_from_the_history_at_once(history):
    """A complete day of history is drawn without a search for the plug."""
    history.holds("Refrigerator", cycles("01/12/2011"))
    begun = time.monotonic()
    lines = history.run("chart", "refrigerator", *DAY).splitlines()
    assert time.monotonic() - begun < 2.5, "the plug was searched, although the history is complete"
    assert "Refrigerator, active power" in lines[0] and "1 Dec 2011 00:00 to" in lines[0]
    assert re.search(r"Refrigerator +last 1 W +min 1 W +max 90 W +mean 30\.\d W +1 gap", lines[-1]), lines[-1]
    # A terminal gets braille characters; a pipe gets ASCII. The two hours of the gap are empty, including the zero
    # line.
    plot = [line.split("|" if "|" in line else "+", 1)[1] for line in lines if re.match(r"^ *\d* [|+]", line)]
    assert all(line.isascii() for line in plot)
    width = max(map(len, plot))
    hole = [line.ljust(width)[width * 10 // 24 + 1 : width * 12 // 24 - 1] for line in plot]
    assert not "".join(hole[:-1]).strip() and "*" in "".join(plot)


def test_a_long_time_is_summed_up_without_losing_its_spike(history):
    """Two months are reduced to fewer than 10,000 points that still contain the maximum of a short spike."""
    first = datetime.date(2011, 10, 1)
    days = [(first + datetime.timedelta(day)).strftime("%d/%m/%Y") for day in range(62)]
    lines = [line for day in days for line in steady(day, 50, step=30)]
    lines[len(lines) // 3] = lines[len(lines) // 3].replace(";50", ";2000")
    history.holds("Heater", lines)
    window = ["--from", "2011-10-01", "--to", "2011-12-02"]
    records = [json.loads(line) for line in history.run("chart", "Heater", *window, "--json").splitlines()]
    assert len(records) < 10_000 and {record["plug"] for record in records} == {"Heater"}
    spikes = [record for record in records if record.get("maxActivePower", record["activePower"]) == 2000]
    assert len(spikes) == 1 and spikes[0]["minActivePower"] == 50 and spikes[0]["activePower"] < 200
    text = history.run("chart", "Heater", *window)
    assert "max 2000 W" in text and "2000 +" in text and text.splitlines()[1].count(":") == 1


def test_pictures_are_files(history):
    """SVG and PNG charts are written to files; an unwritable path is an error with a hint."""
    history.holds("Refrigerator", cycles("01/12/2011"))
    history.holds("Television", steady("01/12/2011", 118, range(19, 23)))
    svg, png = history.folder / "chart.svg", history.folder / "chart.png"
    for style in ([], ["--stacked"]):
        history.run("chart", "Refrigerator", "Television", *DAY, *style, "--svg", svg, "--theme", "dark")
        picture = svg.read_text()
        assert picture.startswith("<svg xmlns") and "A Refrigerator" in picture and "B Television" in picture
        assert (' class="area' in picture) == bool(style)
    done = history.run("chart", "Refrigerator", *DAY, "--png", png)
    assert done == "" and png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert "hint: check the spelling of the path" in history.run("chart", "Refrigerator", *DAY, "--svg", "/nowhere/x.svg", status=1)


def test_bars_of_energy_are_those_of_the_table(history):
    """The energy chart has the values of `plugctl history`."""
    history.holds("Heater", steady("01/12/2011", 1000) + steady("02/12/2011", 500))
    window = ["--from", "2011-12-01", "--to", "2011-12-03", "--by", "day", "--json"]
    bars = history.run("chart", "Heater", "--energy", *window)
    assert bars == history.run("history", "Heater", *window) and bars.count("\n") == 2
    text = history.run("chart", "Heater", "--energy", *window[:-1])
    assert "Heater, energy by day" in text and "total 36" in text and "max 24" in text


def test_who_is_not_there_is_drawn_from_what_is_known(history):
    """A plug that does not answer is drawn from the history, with a message. A plug that exists only in imported recordings is not
    searched for in the network."""
    now = datetime.datetime.now(datetime.timezone.utc)
    times = [now - datetime.timedelta(seconds=10 * step) for step in range(360, 30, -1)]
    history.holds("Lamp", [moment.strftime("%d/%m/%Y %H:%M:%S;40") for moment in times], zone="UTC")
    words = ["chart", "Lamp", "--last", "2h", "--json", "--wait", "200ms"]
    assert history.run(*words, zone="UTC").count('"activePower":40') == 330
    assert history.said == ""
    with sqlite3.connect(history.folder / "history" / "history.sqlite") as database:
        database.execute("UPDATE plug SET plug = '0123456789ab'")
    database.close()
    assert history.run(*words, zone="UTC").count('"activePower":40') == 330
    assert "the plug did not answer" in history.said


def test_what_is_meant_wrongly_is_told(history):
    """A misspelled name gets a suggestion. With contradictory options, plugctl exits with status 64."""
    history.holds("Refrigerator", cycles("01/12/2011"))
    said = history.run("chart", "Refrigeratr", *DAY, "--wait", "100ms", status=1)
    assert 'hint: did you mean "Refrigerator"?' in said
    for words in (["--by", "day"], ["--live", "--json"], ["--energy", "--stacked"], ["--json", "--svg", "x"]):
        history.run("chart", "Refrigerator", *words, status=64)


def test_a_plug_alone_is_enough(lan, plug, controller):
    """Without a daemon and a history, the chart is drawn from the plug's samples."""
    plug(lan.host(), "Lamp")
    person = controller(lan.host())
    person.does("on", "Lamp")

    def drawn():
        samples = person.does("chart", "Lamp", "--last", "1m", "--json").objects
        return samples if sum(sample["activePower"] > 30 for sample in samples) >= 2 else None

    samples = eventually(drawn, 10, "two samples of a lamp that is on")
    assert all(sample["plug"] == "Lamp" for sample in samples), samples
    assert samples[-1]["activePower"] == pytest.approx(60, rel=0.05), samples
    assert [sample["at"] for sample in samples] == sorted(sample["at"] for sample in samples)
    assert "Lamp, active power" in person.does("chart", "Lamp").output
