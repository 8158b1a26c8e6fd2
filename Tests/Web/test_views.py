"""A pass through every view: its text, its focus and its targets at four widths, light and dark, and what axe finds. The views with the most
text are also examined in German."""

import json
import pathlib
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from deadlines import patient
from test_access import RULES
from test_machines import configure
from test_measuring import on
from test_settings import opened

WIDTHS = (320, 390, 768, 1280)
SCHEMES = ("light", "dark")
FLAWS = (pathlib.Path(__file__).parent / "flaws.js").read_text()
# A window as high as the page, in which every section is visible and requests its data.
TALL = 4000
PASSWORD = "correct horse battery"
# A name of 63 bytes without a space.
AWAY = "Gefrierschrank-im-Vorratsraum-neben-der-Kellertreppe-von-Nummer"
EVENING = """\
- rule: Evening
  when: { plug: Switch, button: double }
  if: { plug: Lamp, relay: on }
  then:
    - turn off: Lamp
    - notify: { title: Good night, text: "{plug} was pressed" }
"""
# The requests of the sections, without those of the page itself.
SECTIONS = "(?!stream|house|session)"
FAULT = "The history cannot be read. Run `plugctl doctor`"
BROKEN = "- rule: Evening\n  when: { plug: Switch, button: thrice }\n"


class Pass:
    """Examines the views of a page and collects their flaws."""

    def __init__(self, page, keep_picture):
        self.page, self._keep_picture = page.page, lambda name: keep_picture(page, name)
        self._browser = self.page.context.new_cdp_session(self.page)
        self.flaws = []

    def see(self, view, keyboard=False, contrast=True, widths=WIDTHS, schemes=SCHEMES):
        """Examines the current view in each width and colour scheme; `keyboard`: also moves through it with the Tab key. `contrast` is false
        for a view whose values are faint because they are not current."""
        self.page.evaluate(f"() => {{ {FLAWS} }}")
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(Axe().axe_script)
        for scheme in schemes:
            self.page.emulate_media(color_scheme=scheme)
            for width in widths:
                self._resize(width)
                self._keep_picture(f"{view}-{width}-{scheme}")
                self._note(f"{view}, {width} px, {scheme}", self.page.evaluate("flaws.layout()"))
                # A rule of axe depends on the scheme or on the width, not on both.
                if (scheme, width) in (("light", 320), ("dark", 1280)):
                    self._note(f"{view}, {width} px, {scheme}, axe", self._violations(contrast))
                if keyboard and scheme == "light" and width in (320, 1280):
                    self._note(f"{view}, {width} px, keyboard", self._walk())

    def see_german(self, view):
        """Examines the current view in German, whose words are longer. Colours and order do not depend on the language."""
        assert self.page.evaluate("document.documentElement.lang") == "de"
        self.see(f"german-{view}", widths=(320, 768), schemes=("light",))

    def _resize(self, width):
        """A narrow window is that of a phone, whose controls are larger."""
        self.page.set_viewport_size({"width": width, "height": 800})
        self._browser.send("Emulation.setTouchEmulationEnabled", {"enabled": width < 768})
        # The layout is complete when no box has changed for ten frames: the emulation of touch and some drawings follow later.
        self.page.evaluate("""new Promise((done) => {
            scrollTo(0, 0);  // The keyboard pass has scrolled the page.
            const boxes = () => JSON.stringify([...document.querySelectorAll("body *")].map((part) => part.getBoundingClientRect().height));
            let [last, same] = ["", 0];
            const look = () => {
                const now = boxes();
                [last, same] = [now, now === last ? same + 1 : 0];
                if (same === 10) done(); else requestAnimationFrame(look);
            };
            look();
        })""")

    def _violations(self, contrast):
        options = json.dumps({"runOnly": RULES, "resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": contrast}}})
        return self.page.evaluate(
            f"axe.run(document.querySelector('dialog[open]') ?? document, {options})"
            ".then(({ violations }) => violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0].html.slice(0, 200)}`))")

    def _walk(self):
        for _ in range(self.page.evaluate("flaws.begin()")):
            self.page.keyboard.press("Tab")
        # Fields with several parts have further stops.
        for _ in range(30):
            found = self.page.evaluate("flaws.end(false)")
            if found is not None:
                return found
            self.page.keyboard.press("Tab")
        return self.page.evaluate("flaws.end(true)")

    def _note(self, where, flaws):
        self.flaws += [f"{where}: {flaw}" for flaw in flaws]

    def is_clean(self):
        assert not self.flaws, "\n" + "\n".join(self.flaws)


def region(page, name):
    return page.page.get_by_role("region", name=name)


def announced(part, words):
    """Expects words in a part of the page whose changes a screen reader reads out."""
    live = part.get_by_role("status").or_(part.get_by_role("alert")).filter(has_text=words)
    expect(live.first).to_be_visible(timeout=1000 * patient(10))


@pytest.mark.time_limit(120)
def test_the_views_of_an_empty_house(empty_house, look, keep_picture):
    """The login, a wrong password, and a house without plugs, rules and energy, but with machines and sessions."""
    configure('["Media Server"]\nmac = "02:00:00:00:99:98"\n[Printer]\nmac = "02:00:00:00:99:99"\n')
    empty_house.rules.write_text("# No rules.\n")
    empty_house.password(PASSWORD)
    empty_house.start_daemon()
    page = look(height=TALL, password=PASSWORD, service_workers="block")
    views = Pass(page, keep_picture)
    expect(page.page.get_by_role("heading", name="First steps")).to_be_visible()
    announced(region(page, "Power"), "Choose a plug")
    announced(region(page, "Energy and cost"), "no energy for this time yet")
    announced(region(page, "Events"), "Nothing has happened yet")
    expect(region(page, "Rules")).to_contain_text("No rules run")
    expect(region(page, "Machines").get_by_role("listitem")).to_have_count(2)
    expect(region(page, "Sessions").get_by_role("listitem")).to_have_count(1)
    views.see("empty", keyboard=True)
    page.page.get_by_role("button", name="Log out").click()
    field = page.page.get_by_label("Password of this dashboard")
    expect(field).to_be_focused(timeout=1000 * patient(10))
    views.see("login", keyboard=True)
    field.fill("wrong")
    page.page.get_by_role("button", name="Log in").click()
    announced(region(page, "Log in"), "password")
    expect(field).to_be_focused()
    views.see("login-refused")
    page.page.get_by_role("button", name="Deutsch").click()
    field = page.page.get_by_label("Passwort dieses Dashboards")
    expect(field).to_be_focused(timeout=1000 * patient(10))
    views.see_german("login")
    page.page.set_viewport_size({"width": 1280, "height": TALL})
    field.fill(PASSWORD)
    page.page.get_by_role("button", name="Anmelden").click()
    announced(region(page, "Energie und Kosten"), "noch keine Energie")
    expect(region(page, "Sitzungen").get_by_role("listitem")).to_have_count(1)
    views.see_german("empty")
    views.is_clean()


@pytest.fixture
def lived_in(empty_house):
    """A lamp, a television, a switch with a rule, a refrigerator and a new plug."""
    house = empty_house
    for name, load in (("Lamp", "lamp"), ("Television", "television"), ("Switch", "unplugged"), (AWAY, "refrigerator")):
        house.add(name, simulate=load, **{"power-on": "on"})
    house.add("Fresh", paired=False)
    house.rules.write_text(EVENING)
    house.start_daemon()
    return house


@pytest.fixture
def page(lived_in, look):
    """The page of this house: a rule has fired and was held back, its file is not valid, a plug tripped, and one is away."""
    house, page = lived_in, look(height=TALL, service_workers="block")
    for name in ("Lamp", "Television", "Switch", AWAY):
        page.is_connected(name)
    house.plugs["Television"].load("86 W")
    on(page, "Lamp")
    house.plugs["Switch"].press("--double")
    rule = region(page, "Rules").get_by_role("listitem").filter(has_text="Evening").first
    expect(rule).to_contain_text("Last fired")
    page.shows_relay("Lamp", False)
    house.plugs["Switch"].press("--double")
    expect(rule).to_contain_text("Held back")
    on(page, "Lamp")
    expect(page.card("Fresh").get_by_role("textbox")).to_be_visible(timeout=1000 * patient(20))
    page.chart.shows("Lamp", "Television", AWAY)
    expect(region(page, "Energy and cost").get_by_role("row", name="All").first).to_be_visible(timeout=1000 * patient(20))
    house.plugs[AWAY].running.process.kill()
    house.plugs["Television"].load("4000 W")
    house.rules.write_text(BROKEN)
    expect(page.card("Television")).to_contain_text("Protection tripped", timeout=1000 * patient(20))
    expect(region(page, "Rules")).to_contain_text("is not valid", timeout=1000 * patient(10))
    expect(page.card(AWAY)).to_have_attribute("data-state", "away", timeout=1000 * patient(60))
    return page


@pytest.mark.time_limit(240)
def test_the_views_of_a_house(lived_in, page, keep_picture):
    """The sections with data, the dialogs, and the page while the daemon does not answer, answers errors, and does not run."""
    views = Pass(page, keep_picture)
    sections(views, page)
    dialogs(views, page)
    german(views, page)
    loading(views, page)
    errors(views, page)
    lived_in.kill_daemon()
    expect(page.status).to_contain_text("cannot be reached")
    views.see("offline", contrast=False)
    views.is_clean()


def sections(views, page):
    views.see("house", keyboard=True)
    for words in ("Choose plugs", "Choose time", "Actions and reasons"):
        page.page.get_by_text(words).click()
    traces = page.page.get_by_role("list", name="Actions of Evening, newest first")
    expect(traces.get_by_role("listitem").first).to_be_visible(timeout=1000 * patient(10))
    for words in ("Compare", "Stack"):
        page.page.get_by_role("button", name=words).click()
    page.chart.frame.focus()
    page.page.keyboard.press("Shift+ArrowLeft")
    views.see("details", keyboard=True)
    for _ in range(3):
        page.page.get_by_role("button", name="Previous period").click()
    expect(region(page, "Power")).to_contain_text("no data for this time")
    views.see("chart-without-data")


def dialogs(views, page):
    dialog = opened(page, "Lamp")
    expect(dialog.get_by_label("Child lock")).to_be_visible()
    views.see("settings", keyboard=True)
    invitation = dialog.get_by_role("form", name="Invitation")
    invitation.get_by_role("button", name="Create code").click()
    expect(invitation.get_by_role("status")).not_to_be_empty()
    dialog.get_by_role("button", name="Unpair …").click()
    dialog.get_by_label("Keep the plug's light dark").check()
    views.see("sharing", keyboard=True)
    page.page.keyboard.press("Escape")
    dialog = opened(page, AWAY)
    dialog.get_by_role("button", name="Unpair …").click()
    views.see("settings-away")
    page.page.keyboard.press("Escape")

    region(page, "Energy and cost").get_by_role("button", name="Price of a kWh").click()
    dialog = page.page.get_by_role("dialog", name="Price of a kWh")
    dialog.get_by_role("spinbutton", name="Price of a kWh").fill("0.34")
    for index in range(2):
        dialog.get_by_role("button", name="Add a rate").click()
        dialog.get_by_role("group", name="Rate").nth(index).get_by_label("Price").fill("0.24")
    # This name is reserved.
    dialog.get_by_label("Name").first.fill("tariff")
    dialog.get_by_role("button", name="Save").click()
    announced(dialog, "cannot be the name of a rate")
    views.see("tariff", keyboard=True)
    page.page.keyboard.press("Escape")
    page.page.set_viewport_size({"width": 1280, "height": TALL})
    page.page.get_by_role("button", name="Keyboard shortcuts").click()
    views.see("help", keyboard=True)
    page.page.keyboard.press("Escape")


def german(views, page):
    """The sections with data and the dialogs. The choice of the language is made on the page, and reloads it."""
    page.page.set_viewport_size({"width": 1280, "height": TALL})
    page.page.get_by_role("button", name="Deutsch").click()
    energy = region(page, "Energie und Kosten")
    expect(energy.get_by_role("row", name="Gesamt").first).to_be_visible(timeout=1000 * patient(20))
    for words in ("Steckdosen wählen", "Zeitraum wählen", "Aktionen und Gründe"):
        page.page.get_by_text(words, exact=True).click()
    traces = page.page.get_by_role("list", name="Aktionen von Evening, neueste zuerst")
    expect(traces.get_by_role("listitem").first).to_be_visible(timeout=1000 * patient(10))
    views.see_german("house")

    page.card("Lamp").get_by_role("button", name="Einstellungen von Lamp").click()
    dialog = page.page.get_by_role("dialog", name="Einstellungen von Lamp")
    expect(dialog.get_by_label("Kindersicherung")).to_be_visible()
    dialog.get_by_role("button", name="Code erzeugen").click()
    expect(dialog.get_by_role("form", name="Einladung").get_by_role("status")).not_to_be_empty()
    dialog.get_by_role("button", name="Kopplung aufheben …").click()
    dialog.get_by_label("Licht der Steckdose").check()
    views.see_german("settings")
    page.page.keyboard.press("Escape")

    energy.get_by_role("button", name="Preis pro kWh").click()
    page.page.get_by_role("dialog", name="Preis pro kWh").get_by_role("button", name="Preis für bestimmte Zeiten").click()
    views.see_german("tariff")
    page.page.keyboard.press("Escape")
    energy.get_by_role("button", name="Budget").click()
    expect(page.page.get_by_role("dialog", name="Budget pro Monat").get_by_role("combobox", name="Einheit")).to_be_visible()
    views.see_german("budget")
    page.page.keyboard.press("Escape")
    page.page.set_viewport_size({"width": 1280, "height": TALL})
    page.page.get_by_role("button", name="Tastenkürzel").click()
    views.see_german("help")
    page.page.keyboard.press("Escape")
    page.page.set_viewport_size({"width": 1280, "height": TALL})
    page.page.get_by_role("button", name="English").click()
    expect(page.page.locator("html")).to_have_attribute("lang", "en")


def reload(page, path, handle):
    """Reloads the page, and handles the requests whose paths match in this way."""
    page.page.unroute_all(behavior="ignoreErrors")
    page.page.route(re.compile(f"/api/v1/{path}"), handle)
    page.page.set_viewport_size({"width": 1280, "height": TALL})
    page.page.reload(wait_until="domcontentloaded")


def loading(views, page):
    """The page before the first answer, and before the answers of its sections."""
    reload(page, "", lambda route: None)
    expect(page.status).to_contain_text("Connecting")
    views.see("loading")
    reload(page, SECTIONS, lambda route: None)
    for name in ("Power", "Energy and cost", "Events"):
        announced(region(page, name), "Loading")
    views.see("sections-loading")
    announced(opened(page, "Lamp"), "Waiting for the plug")
    views.see("settings-loading")


def errors(views, page):
    body = json.dumps({"error": "the history cannot be read", "hint": "run `plugctl doctor`"})
    reload(page, SECTIONS, lambda route: route.fulfill(status=500, content_type="application/json", body=body))
    for name in ("Power", "Energy and cost", "Events"):
        announced(region(page, name), FAULT)
    page.page.get_by_text("Actions and reasons").click()
    announced(region(page, "Rules"), FAULT)
    page.switch("Lamp").click()
    announced(page.card("Lamp"), FAULT)
    views.see("errors", keyboard=True)
    announced(opened(page, "Lamp"), FAULT)
    views.see("settings-error")
    page.page.keyboard.press("Escape")
    page.page.unroute_all(behavior="ignoreErrors")
