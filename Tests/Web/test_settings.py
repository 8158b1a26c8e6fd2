"""The dialog with a plug's name, settings, invitations and pairing."""

import re

import pytest
from playwright.sync_api import expect

from deadlines import patient
from harness.installer import BUNDLE, Installer, publish
from test_access import LOOKS, violations
from test_measuring import on, see

CODE = re.compile("^[A-Z2-7]{4}(-[A-Z2-7]{4}){3}$")


def opened(page, name):
    page.card(name).get_by_role("button", name=f"Settings of {name}").click()
    return page.page.get_by_role("dialog", name=f"Settings of {name}")


def test_settings_are_changed_and_restored(house, page):
    """Only changed settings are sent. The dialog shows the plug's own values when it is opened again."""
    dialog = opened(page, "Lamp")
    form = dialog.get_by_role("form", name="Settings")
    form.get_by_label("Child lock").check()
    form.get_by_label("Turn off after minutes").fill("90")
    form.get_by_label("Keep the plug's light dark").check()
    form.get_by_label("until").fill("06:30")
    with page.page.expect_request("**/settings") as request:
        form.get_by_role("button", name="Save").click()
    assert request.value.post_data_json == {"autoOff": 5400, "childLock": True, "lightOff": "22:00-06:30"}
    expect(dialog.get_by_role("status").filter(has_text="Saved.")).to_have_count(1)
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    form = opened(page, "Lamp").get_by_role("form", name="Settings")
    expect(form.get_by_label("Child lock")).to_be_checked()
    expect(form.get_by_label("Turn off after minutes")).to_have_value("90")
    expect(form.get_by_label("until")).to_have_value("06:30")
    form.get_by_role("button", name="As configured").click()
    expect(form.get_by_label("Child lock")).not_to_be_checked()
    expect(form.get_by_label("Turn off after minutes")).to_have_value("0")


def test_an_owner_renames_a_plug(house, page):
    """The plug is announced under its new name, and has a new card. Escape closes the dialog without a change."""
    dialog = opened(page, "Lamp")
    expect(dialog.get_by_role("textbox", name="Name")).to_have_value("Lamp")
    page.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    field = opened(page, "Lamp").get_by_role("textbox", name="Name")
    field.fill("é" * 32)
    field.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("1 to 63 bytes")
    field.fill("Hall <1>")
    field.press("Enter")
    expect(dialog).to_have_count(0)
    page.is_connected("Hall <1>")
    expect(page.card("Lamp")).to_have_count(0, timeout=1000 * patient(15))
    page.switch("Hall <1>").click()
    expect(page.events_of("Hall <1>", "(by ").first).to_be_visible()


def test_the_last_owner_may_not_leave_but_forget(house, page):
    """The plug refuses to lose its last owner, and the dialog shows the reason. A plug that is away is forgotten."""
    dialog = opened(page, "Switch")
    dialog.get_by_role("button", name="Unpair …").click()
    dialog.get_by_role("button", name="Unpair", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("last owner")
    page.page.keyboard.press("Escape")
    house.plugs["Switch"].running.process.kill()
    expect(page.card("Switch")).to_have_attribute("data-state", "away", timeout=1000 * patient(60))
    opened(page, "Switch").get_by_role("button", name="Unpair …").click()
    expect(dialog).to_contain_text("This house forgets it")
    dialog.get_by_role("button", name="Unpair", exact=True).click()
    expect(dialog).to_have_count(0)
    # The plug's announcement may still be cached. The plug then counts as one that can be paired.
    see(page, lambda: page.card("Switch").count() == 0 or page.card("Switch").get_attribute("data-state") == "stranger", 30, "that it is forgotten")


def test_an_invitation_shows_its_code(house, page):
    form = opened(page, "Lamp").get_by_role("form", name="Invitation")
    form.get_by_label("Role").select_option("guest")
    expect(form.get_by_label("Duration")).to_have_value("86400")
    form.get_by_role("button", name="Create code").click()
    expect(form.get_by_role("status")).to_have_text(CODE)
    expect(form).to_contain_text("within 1 day. It is valid once.")


def test_plugs_are_shown_by_room(house, page, look):
    """Cards are grouped by room, for every reader and after a restart of the daemon. Without rooms the page has no headings of rooms."""
    def order():
        return page.page.locator("#cards > *:visible").evaluate_all("all => all.map(one => one.querySelector('h3')?.textContent ?? one.textContent)")

    assert order() == ["Lamp", "Switch", "Television"]
    for name, room in (("Television", "Living room"), ("Switch", "Hall"), ("Lamp", "Living room")):
        dialog = opened(page, name)
        dialog.get_by_role("combobox", name="Room").fill(room)
        dialog.get_by_role("button", name="Move", exact=True).click()
        expect(dialog.get_by_role("status").filter(has_text=f"In {room}.")).to_have_count(1)
        dialog.get_by_role("button", name="Close").click()
    rooms = ["Hall", "Switch", "Living room", "Lamp", "Television"]
    see(page, lambda: order() == rooms, 5, lambda: f"the rooms: {order()}")
    house.kill_daemon()
    house.start_daemon()
    page = look()
    see(page, lambda: order() == rooms, 10, lambda: f"the rooms after a restart: {order()}")
    dialog = opened(page, "Switch")
    dialog.get_by_role("combobox", name="Room").fill("")
    dialog.get_by_role("button", name="Move", exact=True).click()
    page.page.keyboard.press("Escape")
    see(page, lambda: order() == ["Living room", "Lamp", "Television", "Other plugs", "Switch"], 5, lambda: f"the other plugs: {order()}")


def test_an_owner_arranges_the_cards(house, page, look):
    """Cards move among those of their room, by pointer and by keyboard, for every reader and after a restart of the daemon."""
    def order(page):
        return page.page.locator("#cards article:visible h3").all_text_contents()

    other = look()
    assert order(page) == ["Lamp", "Switch", "Television"]
    dialog = opened(page, "Television")
    earlier = dialog.get_by_role("button", name="Move earlier")
    earlier.click()
    expect(dialog.get_by_role("status").filter(has_text="Before Switch.")).to_have_count(1)
    earlier.focus()
    page.page.keyboard.press("Enter")
    expect(dialog.get_by_role("status").filter(has_text="Before Lamp.")).to_have_count(1)
    page.page.keyboard.press("Enter")
    expect(dialog.get_by_role("status").filter(has_text="It is the first one")).to_have_count(1)
    for one in (page, other):
        see(one, lambda: order(one) == ["Television", "Lamp", "Switch"], 5, lambda: f"the order: {order(one)}")
    page.page.keyboard.press("Escape")
    for name in ("Television", "Switch"):
        dialog = opened(page, name)
        dialog.get_by_role("combobox", name="Room").fill("Hall")
        dialog.get_by_role("button", name="Move", exact=True).click()
        expect(dialog.get_by_role("status").filter(has_text="In Hall.")).to_have_count(1)
        page.page.keyboard.press("Escape")
    opened(page, "Switch").get_by_role("button", name="Move earlier").click()
    page.page.keyboard.press("Escape")
    see(other, lambda: order(other) == ["Switch", "Television", "Lamp"], 5, lambda: f"the order of the room: {order(other)}")
    house.kill_daemon()
    house.start_daemon()
    page = look()
    see(page, lambda: order(page) == ["Switch", "Television", "Lamp"], 10, lambda: f"the order after a restart: {order(page)}")
    dialog = opened(page, "Lamp")
    dialog.get_by_role("button", name="All by name").click()
    expect(dialog.get_by_role("status").filter(has_text="in the order of their names")).to_have_count(1)
    see(page, lambda: page.page.evaluate("async () => (await (await fetch('/api/v1/plugs')).json()).every(one => one.place === undefined)"), 5, "plugs without places")


def test_the_dialog_identifies_the_plug(house, page):
    """The id, the host name, the firmware and the capabilities are shown."""
    record = page.page.evaluate("async () => (await (await fetch('/api/v1/plugs/Lamp')).json())")
    shown = opened(page, "Lamp").locator(".facts")
    for text in (record["id"], f"plug-{record['id'][-6:]}.local", record["firmware"], ", ".join(record["capabilities"])):
        expect(shown).to_contain_text(text)


def test_an_owner_sets_a_budget(house, page, keep_picture):
    """The page shows the used part in words and as a bar. A used up budget is notified."""
    on(page, "Television")
    house.plugs["Television"].load("2000 W")
    energy = page.page.get_by_role("region", name="Energy and cost")
    energy.scroll_into_view_if_needed()
    expect(energy).to_contain_text("Wh in total", timeout=1000 * patient(20))
    see(page, lambda: page.page.evaluate("async () => (await (await fetch('/api/v1/energy')).json()).some(one => one.activeEnergy > 2)"), 20, "2 Wh")
    budget = energy.get_by_role("button", name="Budget")
    budget.click()
    dialog = page.page.get_by_role("dialog", name="Budget per month")
    expect(dialog.get_by_label("Unit")).to_have_value("activeEnergy")
    dialog.get_by_label("Per month").fill("100")
    assert not violations(page)
    with page.page.expect_request(lambda request: request.method == "POST" and request.url.endswith("/budget")) as request:
        dialog.get_by_role("button", name="Save").click()
    assert request.value.post_data_json == {"activeEnergy": 100_000}
    expect(dialog).to_have_count(0)
    expect(energy).to_contain_text(re.compile(r"Budget for \w+ \d+: .* of 100(\.0)? kWh used \(0 %\)"))
    expect(energy.get_by_role("img", name=re.compile("^Budget for "))).to_be_visible()
    assert not violations(page)
    keep_picture(page, "budget")
    budget.click()
    dialog.get_by_label("Per month").fill("0.001")
    dialog.get_by_role("button", name="Save").click()
    expect(energy).to_contain_text("The budget is used up.")
    notice = page.page.get_by_role("log", name="Notifications")
    expect(notice).to_contain_text("is used up", timeout=1000 * patient(10))
    expect(notice).to_contain_text("from plugctl budget")
    budget.click()
    expect(dialog.get_by_label("Per month")).to_have_value("0.001")
    dialog.get_by_role("button", name="Remove").click()
    expect(energy).not_to_contain_text("Budget for")


@pytest.mark.parametrize("name", ["dark", "phone"])
def test_axe_finds_nothing_in_the_dialog(house, look, keep_picture, name):
    page = look(**LOOKS[name])
    page.is_connected("Lamp")
    dialog = opened(page, "Lamp")
    expect(dialog.get_by_label("Child lock")).to_be_visible()
    dialog.get_by_role("button", name="Unpair …").click()
    keep_picture(page, f"settings-{name}")
    assert not violations(page)
    across = dialog.evaluate("element => [element.scrollWidth, element.clientWidth]")
    assert across[0] <= across[1], "the dialog scrolls sideways"


def test_an_owner_sets_the_price(house, page):
    """With a price the page shows costs. A wrong rate is not stored, and the dialog shows the reason."""
    on(page, "Television")
    energy = page.page.get_by_role("region", name="Energy and cost")
    energy.scroll_into_view_if_needed()
    energy.get_by_role("button", name="Price of a kWh").click()
    dialog = page.page.get_by_role("dialog", name="Price of a kWh")
    dialog.get_by_label("Price of a kWh").fill("0.34")
    dialog.get_by_role("button", name="Add a rate").click()
    rate = dialog.get_by_role("group", name="Rate")
    rate.get_by_label("Name").fill("tariff")
    rate.get_by_label("Price").fill("0.24")
    rate.get_by_label("sun").uncheck()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("cannot be the name of a rate")
    rate.get_by_label("Name").fill("night")
    assert not violations(page)
    with page.page.expect_request("**/tariff") as request:
        dialog.get_by_role("button", name="Save").click()
    assert request.value.post_data_json == {
        "currency": "EUR", "price": 0.34, "rates": [{"name": "night", "price": 0.24, "from": "22:00", "to": "06:00", "days": "mon tue wed thu fri sat"}]}
    expect(dialog).to_have_count(0)
    expect(energy).to_contain_text("€", timeout=1000 * patient(20))
    energy.get_by_role("button", name="Price of a kWh").click()
    expect(rate.get_by_label("Name")).to_have_value("night")
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(energy).to_contain_text("set the price of a kWh", timeout=1000 * patient(10))


def test_an_owner_updates_a_plug(empty_house, look, lan, plug, tmp_path):
    """The settings of a plug show its system. The owner begins the update, sees each step, and restarts the plug."""
    installer = Installer(plug, lan.host(), tmp_path / "lamp")
    installer.writes("board=board", "system=1", "phase=idle")
    configuration = tmp_path / "configuration" / "smartplug"
    configuration.mkdir(parents=True)
    (configuration / "updates.toml").write_text(f'[updates]\nsource = "{publish(tmp_path / "source", "2")}"\nrestart = "later"\n')
    empty_house.start_daemon()
    page = look()
    page.is_connected("Lamp")
    system = opened(page, "Lamp").get_by_role("region", name="System")
    expect(system).to_contain_text("The plug runs 1.")
    system.get_by_role("button", name="Update to 2").click()
    assert installer.install("board=board", "system=1", "phase=installed", "new=2") == BUNDLE
    expect(system).to_contain_text("2 is installed, and starts with the next restart.", timeout=1000 * patient(10))
    assert not violations(page)
    system.get_by_role("button", name="Restart now").click()
    installer.restart("board=board", "system=2", "phase=trying", "new=2")
    expect(system).to_contain_text("2 runs, and is being checked.", timeout=1000 * patient(30))
    installer.writes("board=board", "system=2", "phase=idle")
    expect(system).to_contain_text("The plug runs 2. This is the newest system.", timeout=1000 * patient(10))
    expect(system.get_by_role("button")).to_have_count(0)
