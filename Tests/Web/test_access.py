"""Accessibility of the page with the keyboard, with a screen reader, in the light and dark theme, and on a phone."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from test_measuring import on

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"width": 390, "height": 844, "has_touch": True, "is_mobile": True, "device_scale_factor": 2},
    "wide": {"width": 2560, "height": 1300},
}


def violations(page):
    found = Axe().run(page.page, options={"runOnly": RULES}).response["violations"]
    return [(one["id"], one["help"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found]


@pytest.mark.time_limit(120)
@pytest.mark.parametrize("name", LOOKS)
def test_axe_finds_nothing(house, look, keep_picture, name):
    """axe reports no violation in any of the layouts, and the page does not scroll sideways."""
    page = look(**LOOKS[name])
    for plug in house.plugs:
        page.is_connected(plug)
    house.plugs["Television"].load("86 W")
    on(page, "Television")
    on(page, "Lamp")
    page.page.wait_for_timeout(6000)
    page.sections_are_filled()
    keep_picture(page, name)
    assert not violations(page)
    across = page.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert across[0] <= across[1], "the page is wider than the window"


def test_axe_finds_nothing_in_the_help_either(page):
    """axe reports no violation in the keyboard help."""
    # Waits until the page's script is loaded and handles keys.
    expect(page.page.get_by_role("button", name="Keyboard shortcuts")).to_be_enabled()
    page.page.keyboard.press("?")
    expect(page.page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    assert not violations(page)
    page.page.keyboard.press("Escape")
    expect(page.page.get_by_role("dialog", name="Keyboard")).to_be_hidden()


def test_the_keyboard_alone_is_enough(house, page):
    """The keyboard is sufficient to reach and toggle a switch, and the focus is visible."""
    keyboard = page.page.keyboard
    page.page.locator("body").press("Tab")
    focused = page.page.locator(":focus")
    expect(focused).to_have_text("Skip to the plugs")
    keyboard.press("Enter")
    for _ in range(20):
        keyboard.press("Tab")
        if focused.get_attribute("role") == "switch":
            break
    name = focused.get_attribute("aria-label")
    assert name in house.plugs
    before = focused.get_attribute("aria-checked") == "true"
    keyboard.press("Space")
    page.shows_relay(name, not before)
    outline = focused.evaluate("element => getComputedStyle(element).outlineStyle")
    assert outline != "none", "the focused element has no outline"


def test_the_theme_is_remembered(page):
    """The selected theme is still active after the page was reloaded."""
    button = page.page.get_by_role("button", name="Theme: system")
    button.click()
    page.page.get_by_role("button", name="Theme: light").click()
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.page.evaluate(ground)
    page.page.reload()
    expect(page.page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert page.page.evaluate(ground) == dark


def test_on_a_phone_everything_is_large_enough_for_a_finger(house, look):
    """On a phone, every visible control except the switches is at least 43.5 pixels high."""
    page = look(**LOOKS["phone"])
    page.is_connected("Lamp")
    page.sections_are_filled()
    small = page.page.evaluate("""() => [...document.querySelectorAll("button, select, nav a, input[type=range], summary")]
        .filter((one) => one.checkVisibility() && one.role !== "switch")
        .filter((one) => one.getBoundingClientRect().height < 43.5).map((one) => one.outerHTML.slice(0, 120))""")
    assert not small
