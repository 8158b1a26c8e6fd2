"""The language of the page: German or English, by the browser's languages or by the choice of the user."""

import csv
import re

from playwright.sync_api import expect

from deadlines import patient
from test_measuring import on


def is_in(page, language):
    expect(page.page.locator("html")).to_have_attribute("lang", language, timeout=1000 * patient(10))
    expect(page.status).to_have_text("Live", timeout=1000 * patient(15))


def test_a_german_browser_shows_german(house, look):
    """Texts of the document and of the scripts are German at the first load, and numbers have a decimal comma."""
    page = look(locale="de-DE")
    is_in(page, "de")
    page.is_connected("Television")
    before = page.switch("Television").get_attribute("aria-checked") == "true"
    page.switch("Television").click()
    page.shows_relay("Television", not before)
    expect(page.page.get_by_role("list", name="Ereignisse, neueste zuerst")).to_contain_text("aus (von " if before else "an (von ")
    on(page, "Television")
    house.plugs["Television"].load("86.5 W")
    expect(page.page.get_by_role("link", name="Zu den Steckdosen springen")).to_have_count(1)
    expect(page.page.get_by_role("banner")).to_contain_text("3 Steckdosen verbunden")
    expect(page.card("Television")).to_contain_text(re.compile(r"\d,\d+ ?W"))
    assert page.page.get_by_role("button", name="English").get_attribute("lang") == "en"


def test_german_numbers_do_not_reach_the_daemon_or_a_file(house, look):
    """A price is sent, and readings are saved, with a decimal point."""
    page = look(locale="de-DE")
    page.is_connected("Television")
    on(page, "Television")
    page.page.get_by_role("button", name="Preis pro kWh").click()
    dialog = page.page.get_by_role("dialog", name="Preis pro kWh")
    dialog.get_by_role("spinbutton", name="Preis pro kWh").fill("0.34")
    dialog.get_by_role("button", name="Preis für bestimmte Zeiten hinzufügen").click()
    rate = dialog.get_by_role("group", name="Zeittarif")
    rate.get_by_role("spinbutton", name="Preis").fill("0.24")
    rate.get_by_label("So").uncheck()
    with page.page.expect_request("**/tariff") as request:
        dialog.get_by_role("button", name="Speichern").click()
    assert request.value.post_data_json == {
        "currency": "EUR", "price": 0.34,
        "rates": [{"name": "Zeittarif 1", "price": 0.24, "from": "22:00", "to": "06:00", "days": "mon tue wed thu fri sat"}]}
    expect(dialog).to_have_count(0)
    power = page.page.get_by_role("region", name="Leistung")
    power.scroll_into_view_if_needed()
    expect(power.get_by_role("listitem").filter(has_text="Television")).to_contain_text("Mittel", timeout=1000 * patient(10))
    with page.page.expect_download() as download:
        power.get_by_role("button", name="Als CSV speichern").click()
    with open(download.value.path(), newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows and all(float(row["activePower"]) >= 0 for row in rows)


def test_the_choice_of_the_language_is_kept(house, look):
    """The choice applies to each later page of this browser, until the user makes the other choice."""
    page = look()
    is_in(page, "en")
    page.page.get_by_role("button", name="Deutsch").click()
    is_in(page, "de")
    page.page.reload()
    is_in(page, "de")
    expect(page.page.get_by_role("heading", name="Energie und Kosten")).to_be_visible()
    page.page.get_by_role("button", name="English").click()
    is_in(page, "en")
    assert page.page.evaluate("localStorage.getItem('language')") is None
    page.page.reload()
    is_in(page, "en")


def test_the_page_is_english_if_the_catalogue_cannot_be_loaded(house, look):
    page = look(service_workers="block")
    page.page.route("**/german.js", lambda route: route.abort())
    with page.page.expect_event("requestfailed", lambda request: request.url.endswith("/german.js")):
        page.page.get_by_role("button", name="Deutsch").click()
    is_in(page, "en")
    page.page.unroute_all(behavior="ignoreErrors")
    page.page.get_by_role("button", name="Deutsch").click()
    is_in(page, "de")


def test_messages_of_the_daemon_are_german(empty_house, look):
    empty_house.add("Fresh", paired=False)
    empty_house.start_daemon()
    page = look(locale="de-DE")
    card = page.card("Fresh")
    expect(card.get_by_role("textbox")).to_be_visible(timeout=1000 * patient(15))
    card.get_by_role("textbox").fill("ABCD-EFGH-IJKL-MNOP")
    card.get_by_role("button", name="Koppeln").click()
    expect(card.get_by_role("alert")).to_contain_text("Das ist nicht der Einrichtungscode der Steckdose.", timeout=1000 * patient(20))


def test_limited_rights_are_explained_in_german(empty_house, look):
    empty_house.password("correct horse battery")
    empty_house.password("just looking thanks", "Anna", "--as", "viewer")
    empty_house.start_daemon()
    page = look(password="just looking thanks")
    page.page.get_by_role("button", name="Deutsch").click()
    is_in(page, "de")
    expect(page.page.get_by_text("Sie sind angemeldet als Anna (Betrachter).")).to_be_visible()
