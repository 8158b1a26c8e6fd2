"""The page recovers by itself when the daemon is killed or the page was suspended, and shows everything that happened
meanwhile."""

import time

import pytest
from deadlines import patient
from playwright.sync_api import expect

from test_measuring import on, see

PRESSED = "(button)"


def watch_chart(page):
    """Shows the television in the chart, live, in enough detail to detect a gap."""
    on(page, "Television")
    page.card("Television").get_by_role("button", name="Chart of Television").click()
    for _ in range(2):
        page.page.keyboard.press("+")
    see(page, lambda: page.chart.longest("Television") is not None, 15, "a reading in the chart")
    # Waits for samples before the gap.
    page.page.wait_for_timeout(8000)


def is_whole(page, since, within):
    """Expects less than 4 s between two readings in the chart. `since` is the start of the outage, which the chart must still contain."""
    see(page, lambda: (page.chart.longest("Television") or 99) < 4, within,
        lambda: f"a chart without a gap: {page.chart.longest('Television')} s without a reading")
    assert page.chart.first("Television") < since, "the gap is outside of the chart"


def presses(page, name="Lamp"):
    return page.events_of(name, PRESSED).count()


@pytest.mark.time_limit(180)
def test_the_daemon_is_killed_and_nothing_is_missing(house, page):
    """After a kill of the daemon the page shows the missed press and a chart without a gap."""
    watch_chart(page)
    page.page.evaluate("window.opened = 'once'")
    known = presses(page)
    since = time.time()
    house.kill_daemon()
    expect(page.status).to_contain_text("cannot be reached")
    house.plugs["Lamp"].press()
    page.page.wait_for_timeout(9000)
    house.start_daemon()
    expect(page.status).to_have_text("Live", timeout=1000 * patient(10))
    page.is_connected("Lamp")
    see(page, lambda: presses(page) == known + 1, 20, lambda: f"the press while no daemon ran: {presses(page)} of {known + 1}")
    is_whole(page, since, within=40)
    # New events are shown once.
    house.plugs["Lamp"].press()
    see(page, lambda: presses(page) == known + 2, 10, "the new press")
    page.page.wait_for_timeout(1000)
    assert presses(page) == known + 2
    assert page.page.evaluate("window.opened") == "once", "the page was reloaded"


@pytest.mark.time_limit(120)
def test_a_page_that_slept_goes_on_without_a_hole(house, page):
    """A frozen page shows, after it resumes, the missed press and a chart without a gap."""
    watch_chart(page)
    known = presses(page)
    since = time.time()
    debugger = page.page.context.new_cdp_session(page.page)
    debugger.send("Page.setWebLifecycleState", {"state": "frozen"})
    house.plugs["Lamp"].press()
    time.sleep(12)  # Waiting inside the page would resume it.
    debugger.send("Page.setWebLifecycleState", {"state": "active"})
    see(page, lambda: presses(page) == known + 1, 10, "the press while the page was frozen")
    is_whole(page, since, within=20)
    expect(page.status).to_have_text("Live")


@pytest.mark.time_limit(120)
def test_a_page_without_a_network_goes_on_without_a_hole(house, page):
    """A page without a network shows, after it reconnects, the missed press and a chart without a gap."""
    watch_chart(page)
    known = presses(page)
    since = time.time()
    # The browser's offline mode keeps existing connections, so the host's loopback interface is also disabled.
    page.page.context.set_offline(True)
    house.host.run("ip", "link", "set", "lo", "down")
    house.plugs["Lamp"].press()
    page.page.wait_for_timeout(25_000)
    expect(page.status).to_contain_text("cannot be reached")
    house.host.run("ip", "link", "set", "lo", "up")
    page.page.context.set_offline(False)
    expect(page.status).to_have_text("Live", timeout=1000 * patient(10))
    see(page, lambda: presses(page) == known + 1, 10, "the press meanwhile")
    is_whole(page, since, within=30)


@pytest.mark.time_limit(120)
def test_packets_that_vanish_are_noticed(house, page):
    """Dropped packets do not close the connection; the page detects the missing messages."""
    watch_chart(page)
    known = presses(page)
    since = time.time()
    house.cut_page_off()
    house.plugs["Lamp"].press()
    expect(page.status).to_contain_text("cannot be reached", timeout=1000 * patient(30))
    house.join_page()
    expect(page.status).to_have_text("Live", timeout=1000 * patient(30))
    see(page, lambda: presses(page) == known + 1, 10, "the press meanwhile")
    is_whole(page, since, within=30)


@pytest.mark.time_limit(120)
def test_the_page_opens_without_the_daemon(house, page):
    """The browser has stored the page's files, so an installed page opens and connects when the daemon runs again."""
    stored = "(await navigator.serviceWorker.getRegistration())?.active?.state === 'activated' && (await (await caches.open('page')).keys()).length > 30"
    see(page, lambda: page.page.evaluate(f"async () => {stored}"), 20, "that the files are stored")
    house.kill_daemon()
    page.page.reload()
    expect(page.status).to_contain_text("cannot be reached", timeout=1000 * patient(10))
    expect(page.page.get_by_role("heading", name="Plugs", exact=True)).to_be_visible()
    house.start_daemon()
    page.is_connected("Lamp")
    page.sections_are_filled()
