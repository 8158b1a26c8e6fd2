"""Switching, dimming and pairing: the page shows only the state that the plug confirmed."""

import json

import pytest
from playwright.sync_api import expect

from deadlines import eventually, patient


def test_a_click_switches_and_the_plugs_own_event_confirms_it(house, page):
    lamp = house.plugs["Lamp"]
    before = lamp.status()["relay"] == "on"
    page.shows_relay("Lamp", before)
    for on in (not before, before):
        page.switch("Lamp").click()
        page.shows_relay("Lamp", on)
        assert lamp.status()["relay"] == ("on" if on else "off")
        expect(page.events_of("Lamp", f"{'on' if on else 'off'} (by ").first).to_be_visible()


def test_until_the_plug_confirms_it_the_switch_waits(house, page):
    """While the plug has not confirmed a command, the switch is busy and shows the previous state."""
    before = house.plugs["Lamp"].status()["relay"] == "on"
    held = []
    page.page.route("**/relay", lambda route: held.append(route))
    page.switch("Lamp").click()
    expect(page.switch("Lamp")).to_have_attribute("aria-busy", "true")
    expect(page.switch("Lamp")).to_have_attribute("aria-checked", "true" if before else "false")
    eventually(lambda: page.page.wait_for_timeout(20) or held, 5, "the command")
    held[0].continue_()
    page.shows_relay("Lamp", not before)


def test_quick_clicks_are_sent_one_after_the_other(house, page):
    """The command of a second click is sent after the first command was confirmed."""
    before = house.plugs["Lamp"].status()["relay"] == "on"
    sent = []
    page.page.route("**/relay", lambda route: sent.append(route))
    page.switch("Lamp").click()
    page.switch("Lamp").click()
    for on in (not before, before):
        eventually(lambda: page.page.wait_for_timeout(20) or sent, 5, "the next command")
        page.page.wait_for_timeout(300)
        [command] = sent
        assert command.request.post_data_json == {"on": on}
        sent.clear()
        command.continue_()
    page.shows_relay("Lamp", before)
    eventually(lambda: (house.plugs["Lamp"].status()["relay"] == "on") == before, 5, "the previous relay state")


def test_a_press_of_the_plugs_button_moves_the_switch(house, page):
    before = house.plugs["Lamp"].status()["relay"] == "on"
    page.shows_relay("Lamp", before)
    house.plugs["Lamp"].press()
    page.shows_relay("Lamp", not before)
    expect(page.events_of("Lamp", "(button)").first).to_be_visible()


def test_a_refusal_is_said_in_the_card_and_the_switch_goes_back(house, page):
    """A refusal is shown in the plug's card, and the switch returns to its previous state."""
    before = house.plugs["Lamp"].status()["relay"] == "on"
    refusal = {"error": "it must rest for 12 s", "hint": "try again later"}
    page.page.route("**/relay", lambda route: route.fulfill(status=409, content_type="application/json", body=json.dumps(refusal)))
    page.switch("Lamp").click()
    alert = page.card("Lamp").get_by_role("alert")
    expect(alert).to_contain_text("It must rest for 12 s")
    expect(alert).to_contain_text("Try again later")
    page.shows_relay("Lamp", before)


def test_the_keyboard_dims(house, page):
    """The dimmer is operated with the keyboard, and the last value reaches the plug."""
    lamp = house.plugs["Lamp"]
    if lamp.status()["relay"] != "on":
        page.switch("Lamp").click()
    page.shows_relay("Lamp", True)
    dimmer = page.dimmer("Lamp")
    expect(dimmer).to_have_value(str(round(lamp.status()["level"])))
    dimmer.focus()
    page.page.keyboard.press("Home")
    for _ in range(30):
        page.page.keyboard.press("ArrowRight")
    expect(dimmer).to_have_value("30")
    # The last value is always sent, however fast the keys are pressed.
    eventually(lambda: round(lamp.status()["level"]) == 30, 5, lambda: f"30 %: {lamp.status()}")
    expect(page.card("Lamp")).to_contain_text("On at 30 %")


def test_a_timer_turns_a_plug_on_for_a_time(house, page):
    card = page.card("Television")
    with page.page.expect_request("**/relay") as request:
        card.get_by_role("combobox", name="Turn Television on for a time").select_option("30 minutes")
    assert request.value.post_data_json == {"on": True, "autoOff": 1800}
    page.shows_relay("Television", True)
    expect(card.get_by_role("status").filter(has_text="Off in 30 minutes")).to_have_count(1)
    assert house.plugs["Television"].status()["relay"] == "on"


def test_an_empty_house_shows_the_first_steps(empty_house, look):
    empty_house.start_daemon()
    page = look()
    expect(page.page.get_by_role("heading", name="First steps")).to_be_visible()
    empty_house.add("Fresh", paired=False)
    expect(page.card("Fresh")).to_be_visible(timeout=1000 * patient(15))
    expect(page.page.get_by_role("heading", name="First steps")).to_be_hidden()


def test_a_rule_that_fires_is_seen_at_once(house, page):
    """A press of the button of the plug "Switch" toggles the television, and the page shows the rule as the cause."""
    rule = page.page.get_by_role("region", name="Rules")
    expect(rule).to_contain_text("Hall")
    expect(rule).to_contain_text("It has not fired yet.")
    before = page.switch("Television").get_attribute("aria-checked") == "true"
    house.plugs["Switch"].press()
    page.shows_relay("Television", not before)
    expect(page.events.get_by_role("listitem").filter(has_text="Rule Hall")).to_be_visible()
    expect(rule).to_contain_text("Last fired")
    # The other rule, which did not fire, is still listed.
    expect(rule.get_by_role("heading", level=3)).to_have_text(["Hall", "Bedtime"])
    expect(rule).to_contain_text("It has not fired yet.")


@pytest.mark.time_limit(120)
def test_a_new_plug_is_paired_with_its_code(empty_house, look):
    """A malformed and a wrong setup code are refused, and the right one pairs the plug."""
    fresh = empty_house.add("Fresh", paired=False)
    code = fresh.setup_code().read_text().split()[0]
    empty_house.start_daemon()
    page = look()
    card = page.card("Fresh")
    field = card.get_by_role("textbox")
    expect(field).to_be_visible(timeout=1000 * patient(15))
    alert = card.get_by_role("alert")
    field.fill("too short")
    card.get_by_role("button", name="Pair").click()
    expect(alert).to_contain_text("16 letters and digits")
    field.fill("ABCD-EFGH-IJKL-MNOP")
    card.get_by_role("button", name="Pair").click()
    expect(alert).not_to_be_empty(timeout=1000 * patient(20))
    field.fill("")
    # Lower case letters without dashes are accepted, and the dashes are inserted.
    field.press_sequentially(code.replace("-", "").lower())
    expect(field).to_have_value(code)
    field.press("Enter")
    page.is_connected("Fresh")
    expect(field).to_be_hidden()
    page.switch("Fresh").click()
    expect(page.events_of("Fresh", "(by ").first).to_be_visible()
