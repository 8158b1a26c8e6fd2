"""The machines of machines.toml on the page: a user wakes them and reads the result."""

import json
import os
import pathlib
import re

import pytest
from playwright.sync_api import expect

from deadlines import patient
from test_access import LOOKS, violations

OWNERS, VIEWERS = "correct horse battery", "just looking thanks"
ABSENT = "02:00:00:00:99:99"


def configure(text):
    folder = pathlib.Path(os.environ["XDG_CONFIG_HOME"], "smartplug")
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath("machines.toml").write_text(text)


@pytest.fixture
def study(lan, empty_house):
    """A machine that answers, a machine that does not exist, and a daemon that knows both."""
    machine = lan.host()
    [link] = json.loads(machine.run("ip", "-json", "link", "show", "eth0"))
    configure(
        f'["Media Server"]\nmac = "{link["address"]}"\naddress = "{machine.ipv4}"\npassword = "01:02:03:04"\n'
        f'[Printer]\nmac = "{ABSENT}"\n')
    empty_house.password(OWNERS)
    empty_house.password(VIEWERS, "Hallway", "--as", "viewer")
    empty_house.start_daemon()
    return empty_house


def machines(page):
    return page.page.get_by_role("region", name="Machines")


def machine(page, name):
    return machines(page).get_by_role("listitem").filter(has_text=name)


def test_a_machine_that_answers_is_awake(study, look):
    """The button wakes a machine, and keeps the focus; the result is announced."""
    page = look(password=OWNERS)
    button = machine(page, "Media Server").get_by_role("button", name="Wake Media Server")
    button.focus()
    page.page.keyboard.press("Enter")
    expect(machine(page, "Media Server").get_by_role("status")).to_have_text(
        re.compile(r"^awake after \d+ s$"), timeout=1000 * patient(20))
    expect(button).to_be_focused()
    expect(machine(page, "Media Server").get_by_role("alert")).to_be_empty()


def test_other_results_are_told(study, look):
    """A machine that does not answer, and a refused request, are shown at their machine."""
    page = look(password=OWNERS)
    printer = machine(page, "Printer")
    answers = [
        (200, {"machine": "Printer", "outcome": "asleep"}),
        (409, {"error": "Printer is already being woken", "hint": "try again in a minute"})]
    page.page.route("**/machines/Printer/wake", lambda route: route.fulfill(
        status=answers[0][0], content_type="application/json", body=json.dumps(answers.pop(0)[1])))
    printer.get_by_role("button", name="Wake Printer").click()
    expect(printer.get_by_role("status")).to_have_text("did not wake")
    printer.get_by_role("button", name="Wake Printer").click()
    expect(printer.get_by_role("alert")).to_have_text("Printer is already being woken. Try again in a minute.")
    expect(printer.get_by_role("status")).to_be_empty()


@pytest.mark.parametrize("name", ["light", "dark", "phone"])
def test_a_viewer_has_no_buttons_and_axe_finds_nothing(study, look, keep_picture, name):
    """A viewer sees the machines without buttons; axe reports no violation for an owner, and the page does not scroll sideways."""
    viewer = look(password=VIEWERS)
    expect(machine(viewer, "Printer")).to_be_visible()
    expect(machines(viewer).get_by_role("button")).to_have_count(0)
    owner = look(password=OWNERS, **LOOKS[name])
    expect(machines(owner).get_by_role("button")).to_have_count(2)
    keep_picture(owner, f"machines-{name}")
    assert not violations(owner)
    across = owner.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert across[0] <= across[1], "the page is wider than the window"


def test_without_machines_there_is_no_section(page):
    """Without machines.toml, the section stays hidden after the daemon's answer."""
    with page.page.expect_response("**/api/v1/machines") as answer:
        page.page.reload()
    answer.value.finished()
    page.page.evaluate("new Promise(requestAnimationFrame)")
    section = page.page.locator("#machines")
    expect(section).to_have_count(1)
    expect(section).to_be_hidden()
