"""Fixtures of every test: a house with its daemon, and a browser that shows its page."""

import os
import pathlib
import subprocess

import pytest
from playwright.sync_api import expect, sync_playwright

from dashboard import Dashboard
from deadlines import patient
from house import ADDRESS, House, launch
from shared_fixtures import controller, lan, own_memory, plug, programs, pytest_runtest_makereport, time_limit  # noqa: F401

expect.set_options(timeout=1000 * patient(5))


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def network():
    """The id of a process whose network lasts for all tests, because the browser stays in it."""
    words = ["unshare", "--net", "sh", "-c", "echo held && exec sleep infinity"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        yield holder.pid
        holder.kill()


@pytest.fixture
def empty_house(lan, plug, controller, tmp_path, network):
    """A house without plugs and without a daemon."""
    return House(lan, plug, controller, tmp_path, network)


@pytest.fixture
def house(empty_house):
    """A lamp with a dimmer, a television, and a switch whose button turns the television on and off."""
    empty_house.add("Lamp", simulate="lamp")
    empty_house.add("Television", simulate="television")
    empty_house.add("Switch", simulate="unplugged")
    empty_house.start_daemon()
    return empty_house


@pytest.fixture(scope="session")
def browser(playwright, network, tmp_path_factory):
    browser = launch(playwright, network, tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def look(browser, empty_house):
    """Returns a function that opens the page: look(width=390, height=844, password=..., ...). Other arguments are options
    of the browser's context."""
    opened = []

    def open_page(width=1280, height=900, password=None, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        opened.append(Dashboard(context, ADDRESS, password))
        return opened[-1]

    yield open_page
    try:
        for dashboard in opened:
            dashboard.is_sound()
    finally:
        for context in browser.contexts:
            context.close()


@pytest.fixture
def page(house, look):
    """The page of the house, with all three plugs connected."""
    dashboard = look()
    for name in house.plugs:
        dashboard.is_connected(name)
    return dashboard


@pytest.fixture
def keep_picture():
    """Returns a function that stores a picture of a page if SMARTPLUG_SCREENSHOTS names a folder."""
    folder = os.environ.get("SMARTPLUG_SCREENSHOTS")

    def keep(dashboard, name):
        if folder:
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            dashboard.page.evaluate("scrollTo(0, 0)")
            dashboard.page.screenshot(path=f"{folder}/{name}.png", full_page=True)

    return keep
