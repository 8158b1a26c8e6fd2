"""Tests of `plugctl rules backtest`, which runs rules on recorded samples, and of `plugctl rules explain`, which prints
why a rule fired or did not fire."""

import lzma
import os
import pathlib

import pytest

from harness.recorded_days import Past, firings, hours

TRACES = os.environ.get("SMARTPLUG_TRACES")
RULES = """\
- rule: Movie night
  when:
    plug: Television
    active power: { rises above: 40 W, for: 3 s }
  then:
    - turn off: Ceiling Light
    - turn on: Amplifier
- rule: Movie over
  when:
    plug: Television
    active power: { falls below: 20 W, for: 10 s }
  then:
    - turn off: Amplifier
"""
FINISHED = """\
- rule: Done
  when: { plug: Machine, appliance: finished }
  then:
    - notify: "{plug} is done"
"""


@pytest.fixture
def past(programs, tmp_path):
    return Past(programs, tmp_path)


@pytest.fixture
def evening(past):
    """The television runs from 20:15 to 22:15. The amplifier is switched on 42 s after the television, and off 60 s before
    it."""
    on, off = hours(20, 15), hours(22, 15)
    past.holds("Television", [(hours(18), 1), (on, 90), (off, 1), (hours(23), 1)])
    past.holds("Amplifier", [(hours(18), 0), (on + 42, 45), (off - 60, 0), (hours(23), 0)])
    return past


def test_a_firing_stands_beside_what_was_really_switched(evening):
    """Each action of a firing is listed with the time until the recorded switching of its plug, which may be negative."""
    rules = evening.rules(RULES)
    records = evening.backtest(rules)
    [rise] = firings(records, "Movie night")
    assert rise["at"] == "2026-11-20T19:15:03.000Z" and rise["since"] == "2026-11-20T19:15:00.000Z"
    light, amplifier = rise["steps"]
    assert light["what"] == "turn off Ceiling Light" and "recordedAfter" not in light
    assert (amplifier["plug"], amplifier["recordedAfter"], amplifier["recordedBy"]) == ("Amplifier", 39, "power")
    [fall] = firings(records, "Movie over")
    assert fall["steps"][0]["recordedAfter"] == -70
    text = evening.run("rules", "backtest", rules)
    assert "2026-11-20 20:15:03  Movie night: Television rose above 40 W for 3 s (now 90 W)" in text
    assert "turn on Amplifier: it was switched on 39 s later (according to its power)" in text
    assert "Movie night: 1 firing" in text and "Ceiling Light" in text.splitlines()[-2]


def test_the_same_history_gives_the_same_bytes(evening):
    """Repeated backtests print identical output."""
    rules = evening.rules(RULES)
    assert len({evening.run("rules", "backtest", rules, "--verbose") for _ in range(3)}) == 1


def test_two_versions_are_compared(evening):
    """With --against, the firings that only one version has are listed."""
    old = evening.rules(RULES)
    new = evening.rules(RULES.replace("40 W, for: 3 s", "100 W"), "new.yaml")
    records = evening.backtest(new, "--against", old)
    assert [(record["event"], record.get("rule")) for record in records] == [("onlyThere", "Movie night"), ("comparison", None)]
    assert records[-1]["firings"] == 1
    text = evening.run("rules", "backtest", new, "--against", old)
    assert f"only in {old}: 1" in text and "in both: 1" in text


def test_a_condition_holds_back_and_is_told(evening):
    """A firing that a condition prevented is listed with the condition and its reason."""
    rules = evening.rules(RULES.replace("  then:\n    - turn off: Ceiling", '  if:\n    time: { after: "21:00", before: "23:00" }\n  then:\n    - turn off: Ceiling'))
    records = evening.backtest(rules, "--verbose")
    [held] = [record for record in records if record["event"] == "heldBack"]
    assert held["rule"] == "Movie night" and "21:00" in held["why"]
    assert held["conditions"] == [{"condition": "time is from 21:00 to 23:00", "held": False}]
    [summary] = [record for record in records if record["event"] == "summary" and record["rule"] == "Movie night"]
    assert summary["firings"] == 0 and sum(summary["heldBack"].values()) == 1


def test_a_near_miss_is_counted(past):
    """A rise that was shorter than the trigger's time counts as a near miss."""
    past.holds("Television", [(hours(18), 1), (hours(19), 90), (hours(19) + 2, 1), (hours(20), 1)])
    rules = past.rules(RULES)
    [summary] = [record for record in past.backtest(rules) if record.get("rule") == "Movie night"]
    assert summary["firings"] == 0 and summary["nearMisses"] == 1


def test_the_chart_has_the_firings(evening):
    """The text and SVG charts of a backtest name the rules that fired."""
    rules = evening.rules(RULES)
    assert "1 rule Movie night" in evening.run("rules", "backtest", rules, "--chart")
    picture = evening.folder / "chart.svg"
    evening.run("rules", "backtest", rules, "--svg", picture)
    assert "rule Movie over" in picture.read_text()


def test_wrong_names_are_told_with_the_nearest(evening):
    """An unknown plug or rule name is an error with a suggestion."""
    rules = evening.rules(RULES.replace("plug: Television", "plug: Televison"))
    said = evening.run("rules", "backtest", rules, status=1)
    assert 'the history has no samples of "Televison"' in said and 'did you mean "Television"?' in said
    said = evening.run("rules", "backtest", evening.rules(RULES), "--rule", "Movie nigth", status=1)
    assert 'did you mean "Movie night"?' in said


def test_explain_tells_why_nothing_happened(evening):
    """`plugctl rules explain` names the reason why a rule did not fire."""
    rules = evening.rules(RULES.replace("rises above: 40 W", "rises above: 100 W"))
    said = evening.run("rules", "explain", "Movie night", "--rules", rules, "--at", "2026-11-20T20:15")
    assert "no recorded trigger" in said
    assert "armed since 2026-11-20 18:00:00: the power was at or below 95 W" in said
    assert "at most 90 W at 20:15:00; it fires at more than 100 W for 3 s" in said
    # After a firing, the trigger is armed again only when the power is at or below 38 W.
    said = evening.run("rules", "explain", "Movie night", "--rules", evening.rules(RULES), "--at", "2026-11-20T21:30")
    assert "not armed: the power had not been at or below 38 W since 2026-11-20 20:14:59" in said
    assert "it was last met at 2026-11-20 20:15:03" in said
    said = evening.run("rules", "explain", "Movie nigth", "--rules", rules, "--at", "2026-11-20T20:15", status=1)
    assert 'did you mean "Movie night"?' in said


def test_explain_tells_how_conditions_stood(evening):
    """`plugctl rules explain` lists each condition with its result."""
    rules = evening.rules(RULES.replace(
        "  then:\n    - turn off: Ceiling",
        '  if:\n    - time: { after: "21:00", before: "23:00" }\n    - { plug: Television, active power: { below: 100 W } }\n  then:\n    - turn off: Ceiling'))
    said = evening.run("rules", "explain", "Movie night", "--rules", rules, "--at", "2026-11-20T20:15")
    assert "time is from 21:00 to 23:00: did not hold" in said
    assert "Television draws less than 100 W: held" in said


# MARK: A simulated wash, and recorded appliances


def wash(begin):
    """Returns the power of a wash as pairs (second of the day, watts): 19 minutes of heating, then 30 minutes of tumbling
    with pauses at 3 W, and a spin of 4 minutes."""
    points = [(begin, 80), (begin + 60, 2000), (begin + 1200, 60)]
    for turn in range(60):
        points += [(begin + 1260 + 30 * turn, 200), (begin + 1280 + 30 * turn, 3)]
    return points + [(begin + 3060, 400), (begin + 3300, 1)]


def test_finished_fires_once_a_made_up_wash_and_not_before_its_end(past):
    """The trigger "finished" fires once per simulated wash, within half an hour after its end."""
    first, second = hours(9), hours(15)
    past.holds("Machine", [(hours(6), 1), *wash(first), *wash(second), (hours(22), 1)])
    done = firings(past.backtest(past.rules(FINISHED)), "Done")
    assert len(done) == 2
    for firing, begin in zip(done, [first, second]):
        clock = firing["at"][11:19].split(":")
        # `at` is in UTC, one hour behind the local time of Berlin.
        second_of_day = (int(clock[0]) + 1) * 3600 + int(clock[1]) * 60 + int(clock[2])
        assert begin + 3300 <= second_of_day <= begin + 3300 + 1800
        assert firing["steps"][0]["what"].endswith("Machine is done")


def recorded(name):
    """Returns the path of the recording of that name, and its points: seconds of the day and watts."""
    [path] = pathlib.Path(TRACES).glob(f"{name}*.csv.xz")
    points = []
    for line in lzma.open(path, "rt"):
        stamp, watts, _ = line.split(";")
        hour, minute, second = stamp[-8:].split(":")
        points.append((int(hour) * 3600 + int(minute) * 60 + int(second), float(watts)))
    return path, points


@pytest.mark.skipif(not TRACES, reason="the recordings are not available")
def test_every_rise_of_the_recorded_television_is_listed(past):
    """Each rise above 40 W in the recording of the television is a firing."""
    for name, plug in [("TV-LCD", "Television"), ("Amplifier", "Amplifier"), ("Playstation3", "Playstation")]:
        past.run("history", "import", recorded(name)[0], "--plug", plug)
    _, points = recorded("TV-LCD")
    rises = [now[0] for before, now in zip(points, points[1:]) if before[1] <= 40 < now[1]]
    told = firings(past.backtest(past.rules(RULES)), "Movie night")
    # `since` is in UTC, one hour behind the local time of Berlin.
    at = [int(f["since"][11:13]) * 3600 + 3600 + int(f["since"][14:16]) * 60 + int(f["since"][17:19]) for f in told]
    assert at == rises and len(rises) == 2
    for firing in told:
        amplifier = firing["steps"][1]
        # In the recordings, the amplifier is switched on within a minute of the television.
        assert amplifier["recordedBy"] == "power" and abs(amplifier["recordedAfter"]) < 60


@pytest.mark.skipif(not TRACES, reason="the recordings are not available")
@pytest.mark.parametrize("name", ["Washingmachine", "LaundryDryer"])
def test_finished_fires_once_a_recorded_cycle_and_not_before_its_end(past, name):
    """The trigger "finished" fires once per recorded cycle, at the earliest one minute before the cycle's last activity."""
    path, points = recorded(name)
    past.run("history", "import", path, "--plug", "Machine")
    done = firings(past.backtest(past.rules(FINISHED)), "Done")
    busy = [second for second, watts in points if watts >= 10]
    # A cycle is activity (10 W or more) of at least twenty minutes with gaps of at most twenty minutes and a peak of at least 300 W.
    cycles, begin = [], busy[0]
    for before, now in zip(busy, [*busy[1:], busy[-1] + 86_400]):
        if now - before > 1200:
            if before - begin >= 1200 and any(w >= 300 for s, w in points if begin <= s <= before):
                cycles.append((begin, before))
            begin = now
    assert len(done) == len(cycles) > 0
    for firing, (begin, end) in zip(done, cycles):
        at = (int(firing["at"][11:13]) + 1) * 3600 + int(firing["at"][14:16]) * 60 + int(firing["at"][17:19])
        assert end <= at + 60 and begin < at
