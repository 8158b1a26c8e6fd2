"""Roles at a plug: an owner invites others, and each may use what its role permits."""

import pytest

from deadlines import eventually
from harness.plugs import Controller


@pytest.fixture
def house(lan, plug, controller, programs, tmp_path):
    """Returns a plug, its owner, and an unpaired tablet."""
    lamp = plug(lan.host(), "Lamp")
    owner = controller(lan.host())
    owner.browse().found("Lamp")
    return lamp, owner, Controller(programs, lan.host(), tmp_path / "tablet")


def invite(owner, tablet, tmp_path, *words):
    code = tmp_path / "invitation"
    code.write_text(owner.does("invite", "Lamp", *words, "--plain").output + "\n")
    return tablet.finish("pair", "Lamp", "--code-file", code, "--controller", "Tablet")


def listed(owner):
    return {entry["name"]: entry for entry in owner.does("controllers", "Lamp", "--json").objects}


def test_a_viewer_sees_and_does_not_switch(house, tmp_path):
    """A viewer reads but is refused every change, until an owner changes the viewer's role."""
    lamp, owner, tablet = house
    assert invite(owner, tablet, tmp_path, "--as", "viewer", "--for", "2d").status == 0
    assert tablet.does("info", "Lamp", "--json").objects[0]["plug"] == "Lamp"
    done = tablet.finish("on", "Lamp")
    assert done.status == 1 and lamp.status()["relay"] == "off", done
    assert "This controller is a viewer here and may not switch the plug. An owner can change this: tests." in done.errors, done
    for words in (["controllers", "Lamp"], ["invite", "Lamp"], ["reset", "Lamp", "--yes"], ["logs", "Lamp"], ["rename", "Lamp", "Mine"]):
        done = tablet.finish(*words)
        assert done.status == 1 and "may not" in done.errors and "An owner can" in done.errors, (words, done)
    shown = owner.does("controllers", "Lamp").output
    assert "owner   tests" in shown and "viewer  Tablet" in shown and "for 47 h more" in shown, shown
    # The owner changes the role of the paired tablet.
    owner.does("controllers", "Lamp", "--change", "Tablet", "--as", "user")
    tablet.does("on", "Lamp")
    assert lamp.status()["relay"] == "on"
    assert listed(owner)["Tablet"]["role"] == "user" and "secondsLeft" not in listed(owner)["Tablet"]
    # The tablet may remove itself. The last owner may not.
    tablet.does("unpair", "Lamp")
    assert list(listed(owner)) == ["tests"]
    done = owner.finish("unpair", "Lamp")
    assert done.status == 1 and "last owner" in done.errors and "plugctl reset" in done.errors, done


def test_an_invitation_is_for_one(house, lan, programs, tmp_path):
    """An invitation pairs only one controller. With an invalid combination of role and time, plugctl exits with status 64."""
    lamp, owner, tablet = house
    assert invite(owner, tablet, tmp_path).status == 0
    another = Controller(programs, lan.host(), tmp_path / "another")
    done = another.finish("pair", "Lamp", "--code-file", tmp_path / "invitation")
    assert done.status == 1 and "pairing window is closed" in done.errors, done
    shown = owner.does("invite", "Lamp", "--as", "guest", "--for", "8h").output
    assert "█" in shown and "becomes a guest of the plug for 8 h" in shown, shown
    for words in (["--as", "guest"], ["--as", "owner", "--for", "2d"], ["--for", "5s"]):
        assert owner.finish("invite", "Lamp", *words).status == 64


def test_roles_outlive_the_process(house, tmp_path, lan, plug):
    """Roles and their end survive a kill of the plug."""
    lamp, owner, tablet = house
    assert invite(owner, tablet, tmp_path, "--as", "viewer", "--for", "2d").status == 0
    lamp.running.process.kill()
    lamp.running.process.wait()
    plug(lamp.host, "Lamp", state=lamp.state)
    eventually(lambda: owner.finish("off", "Lamp").status == 0, 20, lambda: "the restarted plug")
    told = listed(owner)["Tablet"]
    assert told["role"] == "viewer" and 160_000 < told["secondsLeft"] <= 172_800, told
    assert tablet.finish("on", "Lamp").status == 1


def test_the_panel_removes_a_controller(house, programs, tmp_path):
    """`plugd controllers --remove` removes a controller, but not the last owner."""
    lamp, owner, tablet = house
    assert invite(owner, tablet, tmp_path).status == 0
    place = ["--state", lamp.state]
    shown = lamp.host.finish(programs / "plugd", "controllers", *place).output
    mark = next(line.split()[0] for line in shown.splitlines() if line.endswith("user  Tablet"))
    done = lamp.host.finish(programs / "plugd", "controllers", *place, "--remove", mark)
    assert done.status == 0 and "removed" in done.output, done
    assert tablet.finish("on", "Lamp", within=30).status == 1
    own = next(line.split()[0] for line in shown.splitlines() if line.endswith("owner  tests"))
    done = lamp.host.finish(programs / "plugd", "controllers", *place, "--remove", own)
    assert done.status == 1 and "last owner" in done.errors, done
