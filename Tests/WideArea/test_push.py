"""Tests of live updates by DNS Push Notifications (RFC 8765), with a scripted server whose records live for an hour."""

import pytest

from bind import TYPE
from deadlines import eventually
from push import ZONE, PushServer


@pytest.fixture
def server(lan, tmp_path):
    return PushServer(lan.host(), tmp_path / "push")


@pytest.fixture
def browse(lan, controller, server):
    """Returns a function that browses the domain on a new host."""
    def start():
        host = lan.host()
        server.serve(host)
        return controller(host).browsing("--domain", ZONE)

    return start


def test_changes_are_shown_at_once(server, browse):
    """New, changed and removed plugs are shown without a question for the list, which an answer permits to keep for an hour."""
    lamp = server.plug("Lamp")
    server.perform(add=lamp)
    browser = browse()
    browser.found("Lamp")
    server.subscribed()
    server.perform(add=server.plug("Fan", 4712, "id=000000000002"))
    browser.found("Fan")
    server.perform(remove=lamp[2:3], add=server.plug("Lamp", txt="id=000000000003")[2:3])
    browser.told_text("Lamp", {"id": "000000000003"}, within=3)
    server.perform(remove=server.plug("Lamp", txt="id=000000000003"))
    browser.shows(["Fan"], within=3)
    assert server.lists == 1 and server.told(connected=True) == 1, server.running.transcript()
    eventually(lambda: server.told(unsubscribe=f"Lamp.{TYPE}.{ZONE}.") == 2, 5, lambda: server.running.transcript())


def test_a_closed_connection_loses_no_plug(server, browse):
    """The known plugs remain, and changes during the interruption are shown by the next session."""
    server.perform(add=server.plug("Lamp"))
    browser = browse()
    browser.found("Lamp")
    server.subscribed()
    server.perform(close=True)
    server.perform(add=server.plug("Fan", 4712))
    browser.found("Fan", within=25)
    server.subscribed(2)
    server.perform(remove=server.plug("Fan", 4712))
    browser.shows(["Lamp"], within=3)
    assert not any(line.json["event"] == "lost" and line.json["name"] == "Lamp" for line in browser.running.lines if line.json)
    assert server.lists == 1


@pytest.mark.parametrize("behaviour", [{"code": 4}, {"code": 11}, {"accepting": False}, {"offered": False}])
def test_without_a_session_the_zone_is_polled(server, browse, behaviour):
    """The server does not implement push, closes each connection, or has no entry in the zone."""
    server.perform(behaviour=behaviour, add=server.plug("Lamp", life=1))
    browser = browse()
    browser.found("Lamp")
    server.perform(add=server.plug("Fan", 4712, life=1))
    browser.found("Fan", within=25)
    server.perform(remove=server.plug("Lamp", life=1))
    browser.shows(["Fan"], within=25)
    assert server.lists > 1
    assert server.told(query=f"_dns-push-tls._tcp.{ZONE}.") <= 2 and server.told(connected=True) <= 3, server.running.transcript()


def test_a_flood_is_limited(server, browse):
    """A list with more records than the limit is polled, and a server that sends without end is left. The plugs remain."""
    server.perform(add=server.plug("Lamp", life=1))
    browser = browse()
    browser.found("Lamp")
    server.subscribed()
    server.perform(flood=3000)
    list_left = {"unsubscribe": f"{TYPE}.{ZONE}.", "type": "PTR"}
    eventually(lambda: server.told(**list_left) == 1, 10, lambda: f"the end of the subscription:\n{server.running.transcript()}")
    for _ in range(20):
        server.perform(flood=20_000)
    eventually(lambda: server.told(connected=False) == 1, 20, lambda: f"the end of the session:\n{server.running.transcript()}")
    server.perform(add=server.plug("Fan", 4712, life=1))
    browser.found("Fan", within=25)
    assert "Lamp" in browser.names()


def test_changes_are_shown_by_long_lived_queries(server, browse):
    """The zone offers only long-lived queries. The client acknowledges events, and renews a query before it expires."""
    server.perform(behaviour={"offered": False, "queries": True, "lease": 120}, add=server.plug("Lamp"))
    browser = browse()
    browser.found("Lamp")
    list_of_plugs = {"name": f"{TYPE}.{ZONE}.", "type": "PTR"}
    eventually(lambda: server.told(operation=1, **list_of_plugs) == 2, 15, lambda: f"a query:\n{server.running.transcript()}")
    server.perform(add=server.plug("Fan", 4712, "id=000000000002"))
    browser.found("Fan")
    server.perform(remove=server.plug("Lamp"))
    browser.shows(["Fan"], within=3)
    # An acknowledgement may follow the line that shows the change.
    eventually(lambda: server.told(operation=3, **list_of_plugs) == 2, 5, lambda: f"two acknowledgements:\n{server.running.transcript()}")
    assert server.lists == 1, server.running.transcript()
