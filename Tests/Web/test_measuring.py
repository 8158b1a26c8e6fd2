"""Live power values, and the large chart."""

import csv
import datetime
import re
import time

import pytest
from playwright.sync_api import expect

from deadlines import eventually, patient


def see(page, check, within, what):
    """Like `eventually`, while the browser continues to run."""
    return eventually(lambda: page.page.wait_for_timeout(20) or check(), within, what)


def on(page, name):
    if page.switch(name).get_attribute("aria-checked") != "true":
        page.switch(name).click()
    page.shows_relay(name, True)


@pytest.mark.parametrize("watts", [60, 230])
def test_watts_change_live(house, page, watts):
    """The power of the plug and of the house follow a changed load."""
    on(page, "Television")
    assert house.plugs["Television"].load(f"{watts} W").status == 0
    see(page, lambda: abs((page.watts("Television") or 0) - watts) < watts * 0.1, 8, lambda: f"{watts} W: {page.watts('Television')} W")
    see(page, lambda: page.total > watts * 0.9, 3, lambda: f"the house's total: {page.total} W")
    house.plugs["Television"].load("unplugged")
    see(page, lambda: (page.watts("Television") or 0) < 1, 8, lambda: f"0 W: {page.watts('Television')} W")


@pytest.mark.time_limit(120)
def test_the_chart_zooms_and_pans(house, page):
    chart, keyboard = page.chart, page.page.keyboard
    chart.frame.scroll_into_view_if_needed()
    chart.shows("Television")
    see(page, lambda: chart.follows and abs(chart.span - 600) < 1, 5, "the last ten minutes, live")
    chart.frame.focus()
    for _ in range(3):
        keyboard.press("+")
    see(page, lambda: abs(chart.span - 75) < 1, 3, lambda: f"75 s: {chart.span} s")
    keyboard.press("-")
    see(page, lambda: abs(chart.span - 150) < 1, 3, lambda: f"150 s: {chart.span} s")
    begin = chart.begin
    keyboard.press("ArrowLeft")
    see(page, lambda: not chart.follows and chart.begin < begin - 5000, 3, "an earlier time")
    stays = chart.begin
    page.page.wait_for_timeout(1500)
    assert chart.begin == stays, "the chart moved after panning"
    keyboard.press("End")
    see(page, lambda: chart.follows, 3, "a live chart")
    # The chart has the focus, so the wheel zooms it, and dragging pans it.
    box = chart.picture.bounding_box()
    page.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.page.mouse.wheel(0, 240)
    see(page, lambda: chart.span > 160, 3, lambda: f"more than 160 s: {chart.span} s")
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2, steps=6)
    page.page.mouse.up()
    see(page, lambda: not chart.follows, 3, "a chart that is not live")
    page.page.get_by_role("button", name="Follow now").click()
    see(page, lambda: chart.follows, 3, "a live chart")
    for name, seconds in (("Last 1 hour", 3600), ("Last 1 week", 604_800), ("Last 1 year", 31_536_000)):
        page.page.get_by_role("button", name=name, exact=True).click()
        see(page, lambda: abs(chart.span - seconds) < 1, 3, lambda: f"{name}: {chart.span} s")


def test_a_plug_that_connects_after_the_page_is_in_the_chart(empty_house, look):
    """The plugs of the chart do not depend on which plugs had connected when the page was loaded."""
    empty_house.add("Lamp", simulate="lamp", **{"power-on": "on"})
    empty_house.start_daemon()
    page = look()
    page.chart.frame.scroll_into_view_if_needed()
    expect(page.chart.picture).to_have_attribute("aria-label", re.compile("Lamp"), timeout=1000 * patient(15))
    empty_house.add("Switch", simulate="unplugged")
    expect(page.chart.picture).to_have_attribute("aria-label", re.compile("Switch"), timeout=1000 * patient(15))


def test_the_chart_tells_its_values(house, page):
    """Screen readers can read the value at the chart's cursor, and a table with 12 rows of the chart's values."""
    on(page, "Television")
    house.plugs["Television"].load("60 W")
    page.card("Television").get_by_role("button", name="Chart of Television").click()
    page.page.keyboard.press("+")
    page.page.keyboard.press("+")
    see(page, lambda: "highest 6" in (page.chart.picture.get_attribute("aria-label") or ""), 20,
        lambda: f"60 W: {page.chart.picture.get_attribute('aria-label')}")
    # The key moves the reading cursor a few seconds into the past. The wait ensures that 60 W was measured at that time.
    page.page.wait_for_timeout(5000)
    page.page.keyboard.press("Shift+ArrowLeft")
    power = page.page.get_by_role("region", name="Power")
    expect(power.get_by_role("status").filter(has_text="Television: 6")).to_be_visible()
    # The table for screen readers has the same values.
    expect(power.get_by_role("table", name="Power, W").get_by_role("row")).to_have_count(13)


def test_energy_is_told_by_day_and_by_appliance(house, page):
    """The energy section asks for the price, which is missing, and can be switched to hours and weeks."""
    energy = page.page.get_by_role("region", name="Energy and cost")
    energy.scroll_into_view_if_needed()
    expect(energy).to_contain_text("set the price of a kWh", timeout=1000 * patient(10))
    for choice in ("By the hour", "By the week"):
        energy.get_by_role("button", name=choice).click()
        expect(energy.get_by_role("button", name=choice)).to_have_attribute("aria-pressed", "true")
    # The house began today, so it has one week.
    expect(energy.get_by_role("table").nth(1).get_by_role("row")).to_have_count(3, timeout=1000 * patient(10))
    expect(energy).to_contain_text("from ")


@pytest.mark.time_limit(120)
def test_a_chosen_time_stays_in_the_address(house, page):
    """The chart shows a chosen time range, stacked and compared, and shows it again after the page was loaded again."""
    on(page, "Television")
    chart, power = page.chart, page.page.get_by_role("region", name="Power")
    chart.frame.scroll_into_view_if_needed()
    chart.shows("Lamp", "Television")
    power.get_by_text("Choose time").click()
    first, last = power.get_by_label("From", exact=True), power.get_by_label("To", exact=True)
    expect(first).not_to_have_value("")
    # A time whose seconds are 0 has two forms.
    begin = datetime.datetime.fromisoformat(first.input_value()).replace(second=30) - datetime.timedelta(minutes=1)
    first.fill(begin.isoformat())
    last.fill(begin.isoformat())
    power.get_by_role("button", name="Show", exact=True).click()
    expect(power.get_by_role("alert")).to_contain_text("must be before")
    last.fill((begin + datetime.timedelta(seconds=85)).isoformat())
    power.get_by_role("button", name="Show", exact=True).click()
    see(page, lambda: chart.span == 85 and not chart.follows, 5, lambda: f"85 s: {chart.span} s")
    start = chart.begin
    for button in ("Stack", "Compare"):
        power.get_by_role("button", name=button).click()
    expect(power).to_contain_text("Total")
    see(page, lambda: "stacks=" in page.page.url and "compares=" in page.page.url, 5, lambda: page.page.url)
    page.page.reload()
    expect(page.status).to_have_text("Live", timeout=1000 * patient(15))
    chart.frame.scroll_into_view_if_needed()
    for button in ("Stack", "Compare"):
        expect(power.get_by_role("button", name=button)).to_have_attribute("aria-pressed", "true", timeout=1000 * patient(10))
    assert (chart.begin, chart.span) == (start, 85)
    for name in ("Lamp", "Television"):
        expect(chart.picture).to_have_attribute("aria-label", re.compile(name))
    power.get_by_role("button", name="Previous period").click()
    see(page, lambda: chart.begin == start - 85_000, 5, "the preceding 85 s")


@pytest.mark.time_limit(120)
def test_the_shown_readings_are_saved_as_csv(house, page):
    on(page, "Television")
    house.plugs["Television"].load("60 W")
    page.chart.frame.scroll_into_view_if_needed()
    page.chart.shows("Television")
    power = page.page.get_by_role("region", name="Power")
    expect(power.get_by_role("listitem").first).to_contain_text("highest", timeout=1000 * patient(15))
    with page.page.expect_download() as download:
        power.get_by_role("button", name="Save as CSV").click()
    with open(download.value.path(), newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["plug"] for row in rows} == {"Television"}
    for row in rows:
        at = datetime.datetime.fromisoformat(row["at"]).timestamp()
        assert page.chart.begin / 1000 - 5 <= at <= time.time() + 1
        assert 0 <= float(row["minActivePower"]) <= float(row["activePower"]) <= float(row["maxActivePower"]) < 500
