"""A plug may have any name: it is displayed literally everywhere, and never interpreted as markup."""

import pytest
from deadlines import patient
from playwright.sync_api import expect

from test_measuring import see

SCRIPT = "<script>alert(1)</script>"
EMOJI = "😀🔌💡🏠🌞🎉🚀🐢🍀🌈🦊🎸🍕🐙🌻abc"
NAMES = {"script": SCRIPT, "emoji": EMOJI, "arabic": "مصباح \"غرفة\" & 50 %", "dots": "..", "address": "a/b?c%"}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_a_name_is_shown_as_it_is(empty_house, look, name):
    """A name with markup or special characters is displayed literally in every part of the page."""
    assert len(name.encode()) <= 63
    plug = empty_house.add(name, simulate="lamp")
    empty_house.start_daemon()
    page = look()
    page.is_connected(name)
    expect(page.card(name).get_by_role("heading")).to_have_text(name)
    before = plug.status()["relay"] == "on"
    page.switch(name).click()
    page.shows_relay(name, not before)
    # The name is also shown in the events, in their filter, and in the chart's legend, description and selection.
    expect(page.events.get_by_role("listitem").filter(has_text=name).first).to_be_visible()
    events = page.page.get_by_role("combobox", name="Events of")
    events.select_option(label=name)
    expect(page.events.get_by_role("listitem").filter(has_text=name).first).to_be_visible()
    page.card(name).get_by_role("button", name=f"Chart of {name}").click()
    see(page, lambda: name in (page.chart.picture.get_attribute("aria-label") or ""), 10, "the name in the chart")
    power = page.page.get_by_role("region", name="Power")
    expect(power.get_by_role("listitem").filter(has_text=name)).to_be_visible(timeout=1000 * patient(10))
    power.get_by_text("Choose plugs").click()
    expect(power.get_by_role("checkbox", name=name, exact=True)).to_be_checked()
    page.sections_are_filled()
    assert page.page.locator("body script").count() == 0 and not page.dialogs
