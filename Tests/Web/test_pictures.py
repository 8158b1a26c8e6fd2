"""Makes the pictures of the documentation: a house after some minutes, in both themes and at four widths."""

import os
import pathlib

import pytest
from deadlines import patient
from playwright.sync_api import expect

from test_measuring import on

FOLDER = os.environ.get("SMARTPLUG_SCREENSHOTS")
# For stored pictures, the chart needs some minutes of samples.
LIVED_IN = 150 if FOLDER else 5  # seconds
LOOKS = {
    "dashboard-light": {"height": 1270, "color_scheme": "light"},
    "dashboard-dark": {"height": 1270, "color_scheme": "dark"},
    "dashboard-tablet": {"width": 768, "height": 1024, "has_touch": True},
    "dashboard-small": {"width": 320, "height": 640, "has_touch": True, "is_mobile": True, "device_scale_factor": 2},
    "dashboard-phone": {"width": 390, "height": 844, "has_touch": True, "is_mobile": True, "device_scale_factor": 2},
}
TARIFF = '[tariff]\ncurrency = "EUR"\nprice = 0.34\n'


@pytest.mark.time_limit(300)
def test_a_house_as_it_is_lived_in(empty_house, look, tmp_path):
    """A house with six appliances and a rule is shown in each of LOOKS. The pictures are stored if SMARTPLUG_SCREENSHOTS names a folder."""
    tariff = pathlib.Path(os.environ["XDG_CONFIG_HOME"], "smartplug", "tariff.toml")
    tariff.parent.mkdir(parents=True)
    tariff.write_text(TARIFF)
    house = empty_house
    # Two simulated appliances run faster, so that a cycle is visible.
    for name, load, more in (
            ("Television", "television", {}), ("Amplifier", "amplifier", {}), ("Ceiling Light", "lamp", {}),
            ("Refrigerator", "refrigerator", {"speed": 60}), ("Washing Machine", "washing-machine", {"speed": 120}),
            ("Kettle", "kettle", {})):
        house.add(name, simulate=load, **{"power-on": "on"}, **more)
    house.rules.write_text(
        "- rule: Movie night\n  when:\n    plug: Television\n    active power: { rises above: 40 W, for: 3 s }\n"
        "  then:\n    - turn off: Ceiling Light\n    - turn on: Amplifier\n")
    house.start_daemon()
    first = look()
    for name in house.plugs:
        first.is_connected(name)
    on(first, "Ceiling Light")
    house.plugs["Television"].load("on")
    expect(first.events_of("Movie night", "fire").first).to_be_visible(timeout=1000 * patient(20))
    first.page.wait_for_timeout(LIVED_IN * 1000)
    for name, options in LOOKS.items():
        page = look(**options)
        for plug in house.plugs:
            page.is_connected(plug)
        page.sections_are_filled()
        for _ in range(2):
            page.page.get_by_role("button", name="Zoom in").click()
        page.page.evaluate("scrollTo(0, 0)")
        page.page.wait_for_timeout(2500)
        picture = page.page.screenshot()
        assert len(picture) > 20_000, f"{len(picture)} bytes are too few for a picture of the page"
        if FOLDER:
            pathlib.Path(FOLDER).mkdir(parents=True, exist_ok=True)
            pathlib.Path(FOLDER, f"{name}.png").write_bytes(picture)
