"""Tests of rules on the page: a user enables, disables, runs and explains them, and reads their notifications and errors."""

import pytest
from playwright.sync_api import expect

from deadlines import eventually, patient

EVENING = """\
- rule: Hall
  when: { plug: Switch, button: single }
  then:
    - toggle: Television
- rule: Evening
  when: { plug: Switch, button: double }
  if: { plug: Lamp, relay: on }
  then:
    - turn off: Lamp
    - notify: { title: Good night, text: "{plug} was pressed" }
"""
BROKEN = "- rule: Hall\n  when: { plug: Switch, button: thrice }\n"


@pytest.fixture
def evening(house, page):
    """Replaces the rule file of the house, and returns the page, which shows the new rules."""
    house.rules.write_text(EVENING)
    expect(rule(page, "Evening")).to_be_visible(timeout=1000 * patient(10))
    return page


def rule(page, name):
    region = page.page.get_by_role("region", name="Rules")
    heading = page.page.get_by_role("heading", level=3, name=name, exact=True)
    return region.get_by_role("listitem").filter(has=heading)


def switch(page, name):
    return page.page.get_by_role("switch", name=f"Rule {name}", exact=True)


def lamp_is(house, on):
    eventually(lambda: (house.plugs["Lamp"].status()["relay"] == "on") == on, 5, f"a lamp that is {'on' if on else 'off'}")


def turn_lamp_on(house, page):
    if house.plugs["Lamp"].status()["relay"] != "on":
        page.switch("Lamp").click()
    page.shows_relay("Lamp", True)


def test_a_rule_that_is_turned_off_is_held_back(house, page):
    """A rule disabled on the page does not fire, and is still disabled after a restart of the daemon."""
    hall = switch(page, "Hall")
    expect(hall).to_have_attribute("aria-checked", "true")
    before = house.plugs["Television"].status()["relay"]
    # The user disables the rule with the keyboard.
    hall.focus()
    page.page.keyboard.press("Space")
    expect(hall).to_have_attribute("aria-checked", "false")
    expect(hall).not_to_have_attribute("aria-busy", "true")
    house.plugs["Switch"].press()
    expect(rule(page, "Hall")).to_contain_text("the rule is turned off")
    assert house.plugs["Television"].status()["relay"] == before
    # The setting is also shown on a new page, and survives a restart of the daemon.
    house.kill_daemon()
    house.start_daemon()
    page.page.reload()
    expect(hall).to_have_attribute("aria-checked", "false", timeout=1000 * patient(15))
    hall.click()
    expect(hall).to_have_attribute("aria-checked", "true")


def test_a_refusal_puts_the_switch_back(house, page):
    """When disabling a rule is refused, the switch returns and the error is shown."""
    page.page.route("**/enabled", lambda route: route.fulfill(
        status=503, content_type="application/json", body='{"error": "the daemon ends", "hint": "try later"}'))
    switch(page, "Hall").click()
    expect(rule(page, "Hall").get_by_role("alert")).to_contain_text("The daemon ends")
    expect(switch(page, "Hall")).to_have_attribute("aria-checked", "true")


def test_a_rule_is_run_once(house, page):
    turn_lamp_on(house, page)
    rule(page, "Bedtime").get_by_role("button", name="Run Bedtime once").click()
    lamp_is(house, False)
    expect(rule(page, "Bedtime")).to_contain_text("run by hand")


@pytest.mark.time_limit(120)
def test_what_it_did_is_explained(house, evening):
    """The traces of a rule show its firings with conditions and actions."""
    page = evening
    turn_lamp_on(house, page)
    house.plugs["Switch"].press("--double")
    lamp_is(house, False)
    told = rule(page, "Evening")
    expect(told).to_contain_text("Last fired")
    house.plugs["Switch"].press("--double")
    expect(told).to_contain_text("Held back")
    page.page.wait_for_timeout(3000)
    told.get_by_text("Actions and reasons").click()
    traces = told.get_by_role("list", name="Actions of Evening, newest first").locator("> li")
    expect(traces).to_have_count(2, timeout=1000 * patient(10))
    held, fired = traces.nth(0), traces.nth(1)
    expect(held).to_contain_text("Held back")
    expect(held.get_by_role("list", name="Conditions")).to_contain_text("Lamp is on: did not hold")
    expect(fired).to_contain_text("Switch: button pressed (double)")
    expect(fired.get_by_role("list", name="Conditions")).to_contain_text("Lamp is on: held")
    expect(fired.get_by_role("list", name="Actions")).to_contain_text("Lamp")


def test_what_a_rule_tells_stays_until_it_was_seen(house, evening):
    """A notification of a rule stays on the page until it is closed."""
    page = evening
    turn_lamp_on(house, page)
    house.plugs["Switch"].press("--double")
    notices = page.page.get_by_role("log", name="Notifications of rules")
    expect(notices).to_contain_text("Good night")
    expect(notices).to_contain_text("Switch was pressed")
    expect(page.events.get_by_role("listitem").filter(has_text="notifies: Good night").first).to_be_visible()
    notices.get_by_role("button", name="Close: Good night").click()
    expect(notices).to_be_empty()


def test_a_file_that_is_saved_broken_goes_on_as_it_was(house, page):
    """An error in a rule file is shown; its last valid version stays active until the file is corrected."""
    region = page.page.get_by_role("region", name="Rules")
    house.rules.write_text(BROKEN)
    expect(region).to_contain_text("is not valid", timeout=1000 * patient(10))
    expect(region.get_by_role("group", name=f"Errors in {house.rules}")).to_contain_text("thrice")
    before = house.plugs["Television"].status()["relay"]
    house.plugs["Switch"].press()
    eventually(lambda: house.plugs["Television"].status()["relay"] != before, 5, "a rule that still works")
    house.rules.write_text(EVENING)
    expect(region).not_to_contain_text("is not valid", timeout=1000 * patient(10))
    expect(rule(page, "Evening")).to_be_visible()
    # The corrected file has the rules Hall and Evening, and no longer the rule Bedtime.
    expect(rule(page, "Bedtime")).to_be_hidden()
