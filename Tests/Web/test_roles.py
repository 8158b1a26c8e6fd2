"""The permissions of each role on the page, and the list of sessions."""

import re

import pytest
from deadlines import patient
from playwright.sync_api import expect

from house import ADDRESS
from test_access import LOOKS, violations

OWNERS, VIEWERS, USERS = "correct horse battery", "just looking thanks", "may switch the lamp"


@pytest.fixture
def guarded(empty_house):
    """A lamp, and a daemon with three passwords."""
    empty_house.add("Lamp", simulate="lamp")
    empty_house.password(OWNERS)
    empty_house.password(VIEWERS, "Hallway", "--as", "viewer")
    empty_house.password(USERS, "Anna", "--as", "user")
    empty_house.start_daemon()
    return empty_house


def part(page, name):
    return page.page.get_by_role("region", name=name)


def test_a_viewer_sees_and_changes_nothing(guarded, look):
    """A viewer sees the plugs, but every control is disabled or hidden, and the API refuses commands."""
    page = look(password=VIEWERS)
    expect(part(page, "Plugs").get_by_role("status").first).to_contain_text("You are logged in as Hallway, a viewer")
    expect(page.switch("Lamp")).to_be_disabled()
    expect(page.dimmer("Lamp")).to_be_disabled()
    expect(page.card("Lamp").get_by_role("button", name="Identify Lamp")).to_be_hidden()
    expect(page.page.get_by_role("switch", name="Rule Hall")).to_be_disabled()
    expect(page.page.get_by_role("button", name="Run Hall once")).to_be_hidden()
    expect(part(page, "Sessions")).to_be_hidden()
    before = guarded.plugs["Lamp"].status()["relay"]
    told = page.page.evaluate("""async () => {
        const answer = await fetch("/api/v1/plugs/Lamp/relay", {
            method: "POST", headers: { "Content-Type": "application/json" }, body: '{"on":true}' });
        return [answer.status, (await answer.json()).error];
    }""")
    assert told == [403, "a viewer may not turn plugs on or off; an owner of the dashboard may allow it"]
    assert guarded.plugs["Lamp"].status()["relay"] == before
    assert not violations(page)


def test_a_user_switches_and_leaves_the_rules_alone(guarded, look):
    """A user may switch plugs, but not change rules or see sessions."""
    page = look(password=USERS)
    expect(part(page, "Plugs").get_by_role("status").first).to_contain_text("You are logged in as Anna, a user")
    before = guarded.plugs["Lamp"].status()["relay"] == "on"
    page.is_connected("Lamp")
    page.switch("Lamp").click()
    page.shows_relay("Lamp", not before)
    expect(page.page.get_by_role("switch", name="Rule Hall")).to_be_disabled()
    expect(part(page, "Sessions")).to_be_hidden()


@pytest.mark.parametrize("name", ["light", "dark", "phone"])
def test_an_owner_ends_a_session_by_keyboard(guarded, look, keep_picture, name):
    viewer = look(password=VIEWERS)
    owner = look(password=OWNERS, **LOOKS[name])
    section = part(owner, "Sessions")
    section.scroll_into_view_if_needed()
    sessions = section.get_by_role("list", name="Sessions").get_by_role("listitem")
    expect(sessions).to_have_count(2)
    expect(sessions.filter(has_text="Hallway (viewer)")).to_have_count(1)
    expect(sessions.filter(has_text="This one.")).to_contain_text("owner")
    expect(sessions.first).to_contain_text("127.0.0.1")
    assert not violations(owner)
    keep_picture(owner, f"sessions-{name}")
    section.get_by_role("button", name=re.compile("^End the session of Hallway")).focus()
    owner.page.keyboard.press("Enter")
    expect(sessions).to_have_count(1)
    # The page of the ended session is notified at once.
    expect(viewer.status).to_have_text("Log in to see the house", timeout=1000 * patient(10))
    expect(owner.status).to_have_text("Live")


def test_logging_out_ends_a_copied_cookie_too(guarded, look):
    """After logging out, a copied cookie is invalid, too."""
    page = look(password=OWNERS)
    copied = page.page.context.cookies()
    expect(page.page.get_by_role("button", name="Log out")).to_be_visible()
    thief = page.page.context.browser.new_context()
    thief.add_cookies(copied)
    other = thief.new_page()
    assert other.goto(f"{ADDRESS}/api/v1/house").status == 200
    page.page.get_by_role("button", name="Log out").click()
    expect(page.status).to_have_text("Log in to see the house")
    assert other.goto(f"{ADDRESS}/api/v1/house").status == 401
    thief.close()
