"""The daemon's HTTP API changes settings of a plug, invites controllers, and ends pairings."""

import pytest

from deadlines import eventually
from harness.plugs import Controller
from harness.served import Served

PLUG = "/api/v1/plugs/Lamp"


@pytest.fixture
def served(lan, plug, controller, tmp_path):
    plug(lan.host(), "Lamp", simulate="lamp")
    return Served(controller(lan.host()), tmp_path / "daemon").follows(1)


@pytest.fixture
def tablet(programs, lan, tmp_path):
    """A controller that is not paired."""
    return Controller(programs, lan.host(), tmp_path / "tablet")


def listed(served):
    return {entry["name"] for entry in served.controller.does("controllers", "Lamp", "--json").objects}


def test_settings_are_those_of_the_command_line(served):
    """The API returns what `plugctl set --json` prints. Invalid values change nothing."""
    def shown():
        return served.controller.does("set", "Lamp", "--json").objects[0]

    before = served.get(f"{PLUG}/settings")
    assert before == shown() and before["childLock"] is False
    wanted = {"powerOn": "last", "autoOff": 90.5, "powerLimit": 1500, "childLock": True, "lightOff": "22:00-07:00"}
    changed = served.ask("POST", f"{PLUG}/settings", wanted)
    assert changed.status == 200 and changed.json == shown() == {"plug": "Lamp", **wanted}, changed
    for body in ({"powerOn": "locked-on"}, {"autoOff": 0.5}, {"powerLimit": 0}, {"lightOff": "22:00-22:00"}):
        assert served.ask("POST", f"{PLUG}/settings", body).status == 422, body
    for body in ({}, {"childLock": 1}, {"autoOff": None}, {"volume": 3}):
        assert served.ask("POST", f"{PLUG}/settings", body).status == 400, body
    assert served.get(f"{PLUG}/settings") == changed.json
    restored = served.ask("DELETE", f"{PLUG}/settings")
    assert restored.status == 200 and restored.json == before == shown(), restored


def test_an_invited_owner_lets_the_daemon_go(served, tablet, tmp_path):
    """A code of the API pairs another controller once. With another owner, the daemon can end its own pairing."""
    refused = served.ask("POST", f"{PLUG}/unpair", {})
    assert refused.status == 409 and "last owner" in refused.json["error"], refused
    refused = served.ask("POST", f"{PLUG}/unpair", {"hereOnly": True})
    assert refused.status == 409 and "Lamp is not away" in refused.json["error"], refused
    assert served.ask("POST", f"{PLUG}/invitations", {"role": "guest"}).status == 422
    assert served.ask("POST", f"{PLUG}/invitations", {"role": "owner", "seconds": 3600}).status == 422
    invited = served.ask("POST", f"{PLUG}/invitations", {"role": "owner"})
    assert invited.status == 201 and invited.json["id"] == served.plug("Lamp")["id"], invited
    code = tmp_path / "code"
    code.write_text(invited.json["code"] + "\n")
    assert tablet.finish("pair", "Lamp", "--code-file", code, "--controller", "Tablet").status == 0
    assert listed(served) == {"tests", "Tablet"}
    assert served.ask("POST", f"{PLUG}/unpair", {}).status == 204
    served.sees("Lamp", "stranger")
    assert [entry["name"] for entry in tablet.does("controllers", "Lamp", "--json").objects] == ["Tablet"]
    assert served.ask("POST", f"{PLUG}/relay", {"on": True}).status == 409


def test_a_plug_that_no_longer_exists_is_forgotten(served, lan, plug):
    """A plug that is away cannot be asked, but the daemon can forget it. While its announcement is cached, it counts as a stranger."""
    attic = plug(lan.host(), "Attic")
    served.sees("Attic", "connected")
    attic.running.process.kill()
    served.sees("Attic", "away", 60)
    for path in ("settings", "invitations", "unpair"):
        body = {"role": "user"} if path == "invitations" else {}
        answer = served.ask("GET" if path == "settings" else "POST", f"/api/v1/plugs/Attic/{path}", None if path == "settings" else body)
        assert answer.status == 503 and "Attic is away" in answer.json["error"], answer
    assert served.ask("POST", "/api/v1/plugs/Attic/unpair", {"hereOnly": True}).status == 204
    eventually(lambda: (served.plug("Attic") or {}).get("state") != "away", 30, lambda: f"that it is forgotten: {served.plug('Attic')}")
    assert served.controller.finish("unpair", "Attic", "--here-only").status == 1
    assert served.plug("Lamp")["state"] == "connected"
