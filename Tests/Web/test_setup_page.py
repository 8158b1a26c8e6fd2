"""The setup page of a plug's own Wi-Fi network, in browsers of phones with and without JavaScript, and in a text browser."""

import pytest
from playwright.sync_api import expect

from deadlines import patient
from harness.setup_network import ADDRESS, Setup
from house import launch
from test_access import LOOKS, violations

PASSWORD = "correct horse"
LONG = "A name of a network, 32 byte <b>"


class Page:
    """The page in a browser, as `violations` and `keep_picture` need it."""

    def __init__(self, browser, look, **options):
        size = {"viewport": {"width": look.pop("width", 1280), "height": look.pop("height", 900)}}
        self.page = browser.new_context(**size, **look, **options).new_page()
        self.page.goto(f"http://{ADDRESS}/")


@pytest.fixture
def house(lan, plug, tmp_path):
    house = Setup(lan, plug, tmp_path, {"home": PASSWORD, LONG: "", "Café": PASSWORD})
    house.opens()
    yield house
    house.supplicant.close()


@pytest.fixture
def browser(playwright, house, tmp_path):
    browser = launch(playwright, house.phone.process_id, tmp_path)
    yield browser
    browser.close()


def test_a_phone_without_scripts_sets_up_a_plug(house, browser, keep_picture):
    """axe reports no violation in any of the layouts, and the page does not scroll sideways. The form works without JavaScript."""
    for name in ("light", "dark", "phone"):
        page = Page(browser, dict(LOOKS[name]))
        expect(page.page.get_by_role("radio", name=LONG)).to_be_visible()
        assert not violations(page)
        across = page.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert across[0] <= across[1], "the page is wider than the window"
        keep_picture(page, f"setup-{name}")
    page = Page(browser, dict(LOOKS["phone"]), java_script_enabled=False).page
    page.get_by_role("radio", name="home").check()
    page.get_by_label("Password of the network").fill("short")
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("alert")).to_contain_text("8 to 63 letters")
    page.get_by_role("radio", name="home").check()
    page.get_by_label("Password of the network").fill(PASSWORD)
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_role("status")).to_contain_text("The plug now connects to home.", timeout=1000 * patient(10))
    house.joins("home")


def test_a_text_browser_shows_the_page(house):
    """w3m lists the networks and the fields of the form."""
    shown = house.phone.finish("w3m", "-dump", "-cols", "80", f"http://{ADDRESS}/").output
    for text in ("home", LONG, "Café", "without a password", "Password of the network", "Connect"):
        assert text in shown, shown
