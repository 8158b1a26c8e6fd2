"""Several Matter controllers at one plug, and a plug that restarts."""

import pytest

from deadlines import eventually
from matter_plug import ENERGY, INITIAL_PRESS, LEVEL, ON_OFF, POWER, MatterPlug, parts


@pytest.fixture
def lamp(lan, plug, tmp_path, credentials, controller):
    return MatterPlug(plug, lan.host(), "Lamp", tmp_path, credentials, controller(lan.host()))


def test_a_second_home_joins_and_a_removed_one_is_refused(lamp, home, controller, lan):
    """The first home opens a window for the second. A home that is removed, by itself or by the owner, has no access."""
    first, second = home(), home()
    first.does("commission", code=lamp.code, node=1)
    assert not second.does("discover", short_discriminator=parts(lamp.code)[0], seconds=1)
    opened = first.does("open_window", node=1, seconds=180, discriminator=3000)
    report = lamp.asks()
    assert report["enhanced"] and report["windowSeconds"] <= 180, report
    second.does("commission", code=opened["code"], node=2)
    fabrics = lamp.asks()["fabrics"]
    assert [(one["index"], one["nodeID"]) for one in fabrics] == [(1, f"{1:016X}"), (2, f"{2:016X}")], fabrics
    for somebody, node, command, relay in ((first, 1, "On", "on"), (second, 2, "Off", "off")):
        somebody.does("invoke", node=node, endpoint=1, cluster="OnOff", command=command)
        assert lamp.relay() == relay
    # Both homes dim the plug, read its meter, and receive its presses.
    for somebody, node, level in ((first, 1, 60), (second, 2, 200)):
        somebody.does("subscribe", node=node, paths=[LEVEL], events=["2/59"])
        somebody.does("invoke", node=node, endpoint=1, cluster="LevelControl", command="MoveToLevelWithOnOff",
                      fields={"level": level, "transitionTime": 0, "optionsMask": 0, "optionsOverride": 0})
        somebody.sees(LEVEL, lambda value, level=level: value is not None and abs(value - level) <= 1, 10)
        assert somebody.read(node, POWER) >= 0 and somebody.read(node, ENERGY)["0"] >= 0
    lamp.plug.press()
    for somebody in (first, second):
        somebody.hears(lambda told: told.get("path") == INITIAL_PRESS, 10)
    # Each home sees only its own fabric's entries of a fabric-scoped list, unless it asks for all.
    entries = second.does("read", node=2, paths=["0/62/1"], fabric_filtered=False)["values"]["0/62/1"]
    assert len(entries) == 2 and len(second.read(2, "0/62/1")) == 1
    first.does("remove", node=1)
    eventually(lambda: lamp.status()["fabrics"] == 1, 10, lamp.status)
    assert not first.can("connect", node=1, seconds=5)
    second.does("invoke", node=2, endpoint=1, cluster="OnOff", command="On")
    assert lamp.relay() == "on"
    # The owner removes the second home, and admits the first again.
    assert second.can("connect", node=2, seconds=5)
    assert lamp.asks("--remove", "2")["fabrics"] == []
    assert not second.can("connect", node=2, seconds=5)
    refused = controller(lan.host()).finish("matter", "Lamp", "--remove", "2")
    assert refused.status == 1 and "fabric" in refused.errors, refused
    first.does("commission", code=lamp.open_window(), node=3)
    first.does("invoke", node=3, endpoint=1, cluster="OnOff", command="Off")
    assert lamp.relay() == "off"


def test_a_group_switches_its_members_with_one_message(lamp, home, plug, lan, tmp_path, credentials, controller):
    """A command by multicast switches both members of a group, also after a restart, and no other plug."""
    fan, heater = (MatterPlug(plug, lan.host(), name, tmp_path, credentials, controller(lan.host())) for name in ("Fan", "Heater"))
    somebody = home()
    for node, one in enumerate((lamp, fan, heater), 1):
        somebody.does("commission", code=one.payload, node=node)
    for node in (1, 2):
        assert somebody.does("form_group", node=node, endpoint=1) == [0]
    somebody.does("tell_group", cluster="OnOff", command="On")
    for member in (lamp, fan):
        eventually(lambda member=member: member.relay() == "on", 10, "the group's command")
    fan.kill()
    fan.start_again()

    def is_off():
        # A message that arrives before the plug has joined the multicast group is lost.
        somebody.does("tell_group", cluster="OnOff", command="Off")
        return (lamp.relay(), fan.relay()) == ("off", "off")

    eventually(is_off, 10, "the group's second command")
    assert heater.relay() == "off"


def test_a_restarted_plug_keeps_its_homes(lamp, home):
    """After a kill and a start, the same home has access, its subscription is renewed, and its settings are kept."""
    somebody = home()
    somebody.does("commission", code=lamp.code, node=1)
    assert somebody.does("write", node=1, endpoint=0, cluster="BasicInformation", attribute="NodeLabel", value="Reading lamp") == [0]
    somebody.does("subscribe", node=1, paths=[ON_OFF], maximum=3)
    lamp.kill()
    lamp.start_again()
    somebody.does("forget_sessions", node=1)
    assert somebody.read(1, "0/40/5") == "Reading lamp"
    assert "windowSeconds" not in lamp.asks()
    somebody.hears(lambda told: told.get("subscription") == "renewed", 45)
    somebody.values.clear()
    somebody.does("invoke", node=1, endpoint=1, cluster="OnOff", command="Toggle")
    relay = lamp.relay() == "on"
    somebody.sees(ON_OFF, lambda value: value is relay, 10)
