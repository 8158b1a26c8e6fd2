"""Dates and times on the page use the daemon's time zone, not the browser's, and the language of the page."""

import json
import os
import pathlib
import subprocess

import pytest
from playwright._impl._driver import compute_driver_executable

PAGE = pathlib.Path(__file__).parents[2] / "Controller/CDashboardPage/page"
NOW = "2026-11-26T12:00:00Z"
PROGRAM = """\
import { dateOf, dayName, energy, firstOfMonth, foreignZone, minuteTime, mondayOf, monthName, money, setZone, span, startOf } from "./format.js";
const [zone, now, month] = [process.argv[2], Date.parse(process.argv[3]), Date.parse(process.argv[4])];
setZone(zone);
const date = dateOf(now);
console.log(JSON.stringify({
  today: new Date(startOf(date)).toISOString(), year: new Date(startOf(firstOfMonth(date, -11))).toISOString(),
  week: new Date(startOf(mondayOf(date))).toISOString(), day: dayName(month), month: monthName(month), minute: minuteTime(month), foreign: foreignZone(now) ?? null,
  texts: [energy(12_500), money(1234.5, "EUR"), span(5_400_000), span(86_400_000), span(600_000)] }));
"""


@pytest.fixture
def calendar(tmp_path):
    (tmp_path / "package.json").write_text('{"type": "module"}')
    for name in ("format.js", "german.js", "language.js", "memory.js"):
        (tmp_path / name).write_bytes((PAGE / name).read_bytes())
    (tmp_path / "program.js").write_text(PROGRAM)
    node = compute_driver_executable()
    node = node[0] if isinstance(node, tuple) else node

    def read(browser, zone, now=NOW, month="2026-11-01T00:00:00Z", language="en_US"):
        done = subprocess.run(
            [node, tmp_path / "program.js", zone, now, month], env={**os.environ, "TZ": browser, "LC_ALL": f"{language}.UTF-8"},
            capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return read


@pytest.mark.parametrize("browser", ["UTC", "Europe/Berlin", "Asia/Tokyo", "America/New_York"])
def test_days_and_months_are_the_daemons(calendar, browser):
    """Dates on the page are in the daemon's time zone, and a foreign zone is named."""
    told = calendar(browser, "UTC")
    assert told["today"] == "2026-11-26T00:00:00.000Z"
    assert told["year"] == "2025-12-01T00:00:00.000Z"
    assert told["week"] == "2026-11-23T00:00:00.000Z"
    assert (told["day"], told["month"], told["minute"]) == ("Sun, Nov 1", "Nov 2026", "00:00")
    assert told["foreign"] == (None if browser == "UTC" else "UTC")


@pytest.mark.parametrize("zone, today, minute", [
    ("Europe/Berlin", "2026-11-25T23:00:00.000Z", "01:00"),
    ("America/New_York", "2026-11-26T05:00:00.000Z", "20:00"),
    ("+01:00", "2026-11-25T23:00:00.000Z", "01:00"),
])
def test_a_day_begins_at_the_daemons_midnight(calendar, zone, today, minute):
    told = calendar("Asia/Tokyo", zone)
    assert (told["today"], told["minute"], told["foreign"]) == (today, minute, zone)


@pytest.mark.parametrize("zone, now, begin", [
    ("Africa/Cairo", "2026-04-24T12:00:00Z", "2026-04-23T22:00:00.000Z"),  # the clock change skips midnight
    ("America/Havana", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00.000Z"),  # midnight occurs twice
])
def test_a_day_whose_midnight_is_skipped_or_comes_twice_begins_with_its_date(calendar, zone, now, begin):
    assert calendar("UTC", zone, now)["today"] == begin


def test_an_unknown_zone_leaves_the_browsers_own(calendar):
    """If the page does not know the daemon's zone, it uses the browser's zone."""
    assert calendar("Asia/Tokyo", "No/Such")["today"] == "2026-11-25T15:00:00.000Z"


def test_zones_whose_clocks_agree_are_not_shown(calendar):
    """A zone with the same clock time as the browser's is not shown."""
    assert calendar("Europe/Paris", "Europe/Berlin")["foreign"] is None


@pytest.mark.parametrize("language, day, month, texts", [
    ("en_US", "Sun, Nov 1", "Nov 2026", ["12.50 kWh", "€1,234.50", "1.5 hours", "1 day", "10 minutes"]),
    ("de_DE", "So., 1. Nov.", "Nov. 2026", ["12,50 kWh", "1.234,50 €", "1,5 Stunden", "1 Tag", "10 Minuten"]),
    ("de_AT", "So., 1. Nov.", "Nov. 2026", ["12,50 kWh", "€ 1.234,50", "1,5 Stunden", "1 Tag", "10 Minuten"]),
    # The page does not have this language.
    ("fr_FR", "Sun, Nov 1", "Nov 2026", ["12.50 kWh", "€1,234.50", "1.5 hours", "1 day", "10 minutes"]),
])
def test_dates_and_numbers_are_those_of_the_language(calendar, language, day, month, texts):
    """Without a stored choice, the browser's language decides, and its region decides the format of numbers."""
    told = calendar("UTC", "UTC", language=language)
    assert (told["day"], told["month"]) == (day, month)
    # Some formats have spaces that do not break.
    assert [" ".join(text.split()) for text in told["texts"]] == texts
