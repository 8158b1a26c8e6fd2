"""Operates the page as a user does: its elements are found by their roles and accessible names, not by their markup."""

import re

from deadlines import patient
from playwright.sync_api import expect

LIMIT = 1000 * patient(15)  # milliseconds


class Dashboard:
    def __init__(self, context, address, password=None):
        """Opens the page, logs in if there is a password, and records the page's errors."""
        self.page = context.new_page()
        self.faults = []
        self.dialogs = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda told: told.type == "error" and self.faults.append(told.text))
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        self.page.goto(address)
        if password:
            self.page.get_by_label("Password of this dashboard").fill(password)
            self.page.get_by_role("button", name="Log in").click()
        expect(self.status).to_have_text("Live", timeout=LIMIT)

    @property
    def status(self):
        """The page's status of its connection to the daemon."""
        return self.page.locator("header").get_by_role("status")

    def card(self, name):
        return self.page.get_by_role("article", name=name, exact=True)

    def switch(self, name):
        return self.card(name).get_by_role("switch")

    def dimmer(self, name):
        return self.card(name).get_by_role("slider")

    def is_connected(self, name):
        expect(self.switch(name)).to_be_enabled(timeout=LIMIT)

    def shows_relay(self, name, on, within=5):
        """Waits until the switch shows the state, confirmed by the plug."""
        expect(self.switch(name)).to_have_attribute("aria-checked", "true" if on else "false", timeout=1000 * patient(within))
        expect(self.switch(name)).not_to_have_attribute("aria-busy", "true")

    def watts(self, name):
        """The shown active power, or None without a reading."""
        value = self.card(name).locator("data").get_attribute("value")
        return float(value) if value else None

    @property
    def total(self):
        return float(self.page.get_by_role("heading", level=1).locator("data").get_attribute("value") or "nan")

    @property
    def events(self):
        return self.page.get_by_role("list", name="Events, the newest first")

    def events_of(self, name, words):
        return self.events.get_by_role("listitem").filter(has_text=name).filter(has_text=words)

    @property
    def chart(self):
        return Chart(self.page)

    def sections_are_filled(self):
        """Scrolls to each section, because some content is drawn only when it is visible."""
        for name in ("Energy and cost", "Events", "Rules", "Power", "Plugs"):
            self.page.get_by_role("region", name=name).scroll_into_view_if_needed()
            self.page.wait_for_timeout(500)

    def is_sound(self):
        """Expects no errors and no dialogs in the page. An unreachable daemon is not an error of the page, nor of its service worker."""
        unreachable = ("Failed to load resource", "An unknown error occurred when fetching the script")
        assert not [fault for fault in self.faults if not fault.startswith(unreachable)], self.faults
        assert not self.dialogs


class Chart:
    def __init__(self, page):
        self.page = page
        self.frame = page.get_by_role("group", name=re.compile("^Chart of power"))
        self.picture = self.frame.get_by_role("img")

    def shows(self, *names):
        """Selects exactly these plugs."""
        section = self.page.get_by_role("region", name="Power")
        summary = section.get_by_text("Choose plugs")
        if not section.get_by_role("checkbox").first.is_visible():
            summary.click()
        for box in section.get_by_role("checkbox").all():
            box.set_checked(box.get_attribute("value") in names)
        summary.click()
        for name in names:
            expect(self.picture).to_have_attribute("aria-label", re.compile(re.escape(name)))

    @property
    def span(self):
        """The width of the chart in seconds."""
        return (int(self.frame.get_attribute("data-to")) - int(self.frame.get_attribute("data-from"))) / 1000

    @property
    def begin(self):
        """The left edge in milliseconds since 1970."""
        return int(self.frame.get_attribute("data-from"))

    @property
    def follows(self):
        return self.frame.get_attribute("data-follows") == "true"

    def longest(self, name):
        """The longest time in seconds between two shown readings of a plug, or None if no reading is shown."""
        return self._seconds(name, "data-longest")

    def first(self, name):
        """The time of the first shown reading of a plug in seconds since 1970, or None if no reading is shown."""
        return self._seconds(name, "data-first")

    def _seconds(self, name, key):
        line = self.page.get_by_role("region", name="Power").get_by_role("listitem").filter(has_text=name)
        if line.count() == 0:
            return None
        value = line.first.get_attribute(key)
        return None if value is None else int(float(value)) / 1000
