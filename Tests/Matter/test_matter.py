"""A plug as a Matter device, tested with the controller of the Matter SDK: commissioning, reading, switching and reports."""

import pytest

from deadlines import eventually
from home import Refused
from matter_plug import DEVICE_TYPES, ENERGY, LEVEL, ON_OFF, POWER, MatterPlug, parts
from matter_plug import INITIAL_PRESS, LONG_PRESS, LONG_RELEASE, MULTI_PRESS_COMPLETE

ON_OFF_PLUG, DIMMABLE_PLUG, ELECTRICAL_SENSOR = 0x010A, 0x010B, 0x0510
WILDCARD = ["*/*/*"]


@pytest.fixture
def lamp(lan, plug, tmp_path, credentials, controller):
    return MatterPlug(plug, lan.host(), "Lamp", tmp_path, credentials, controller(lan.host()))


def test_it_is_commissioned_read_and_switched(lamp, home, controller, lan):
    """The plug is found by its discriminator, commissioned by its code, read completely and switched. Its event of the relay
    names the fabric and the node of the controller."""
    somebody = home()
    watching = controller(lan.host()).watch("Lamp")
    watching.seen_object(lambda told: told["event"] == "snapshot", 15, "the plug")
    report = lamp.asks()
    assert report["windowSeconds"] > 600 and report["fabrics"] == [], report
    discriminator, _ = parts(report["manualCode"])
    found = somebody.does("discover", short_discriminator=discriminator)
    assert [(one["vendorId"], one["productId"], one["commissioningMode"]) for one in found] == [(0xFFF1, 0x8001, 1)], found
    assert found[0]["longDiscriminator"] >> 8 == discriminator and found[0]["addresses"]
    assert somebody.does("commission", code=report["setupPayload"], node=1) == 1
    report = lamp.asks()
    assert [(one["index"], one["nodeID"], one["vendor"]) for one in report["fabrics"]] == [(1, f"{1:016X}", 0xFFF1)], report
    assert "windowSeconds" not in report
    assert not somebody.does("discover", short_discriminator=discriminator, seconds=1)
    values = somebody.does("read", node=1, paths=WILDCARD)["values"]
    failures = {path: value for path, value in values.items() if isinstance(value, dict) and "failure" in value}
    assert not failures and len(values) > 200, failures
    check_model(values)
    assert somebody.deviations(values) == []
    changed = {path: value + 1 if path == "0/40/65533" else value for path, value in values.items()}
    assert "revision" in somebody.deviations(changed)[0]
    assert values["0/40/1"] and values["0/40/2"] == 0xFFF1 and values["0/40/4"] == 0x8001
    assert {one["0"] for one in values[DEVICE_TYPES]} == {DIMMABLE_PLUG, ELECTRICAL_SENSOR}
    assert (values[ON_OFF], values[ENERGY]["0"] >= 0) == (False, True)
    # Matter switches the plug, and the plug's followers receive the event with its cause.
    somebody.does("invoke", node=1, endpoint=1, cluster="OnOff", command="On")
    switched = watching.seen_object(lambda told: told["event"] == "relay", 5, "the relay")
    cause = (switched.json["on"], switched.json["cause"], switched.json["controller"])
    assert cause == (True, "controller", "Matter 1/000000000001B669")
    assert lamp.relay() == "on" and somebody.read(1, ON_OFF) is True
    somebody.does("invoke", node=1, endpoint=1, cluster="OnOff", command="Toggle")
    assert lamp.relay() == "off"
    somebody.does("invoke", node=1, endpoint=1, cluster="LevelControl", command="MoveToLevelWithOnOff",
                  fields={"level": 127, "transitionTime": 0, "optionsMask": 0, "optionsOverride": 0})
    eventually(lambda: (lamp.relay(), lamp.plug.status().get("level")) == ("on", 50), 10, lambda: lamp.plug.status())
    assert abs(somebody.read(1, LEVEL) - 127) <= 1
    with pytest.raises(Refused) as refused:
        somebody.does("invoke", node=1, endpoint=1, cluster="LevelControl", command="MoveToLevel",
                      fields={"level": 255, "transitionTime": 0, "optionsMask": 0, "optionsOverride": 0})
    assert "0x87" in str(refused.value) or "Constraint" in str(refused.value), refused.value


def check_model(values):
    """The lists of each cluster name exactly the attributes that a wildcard read returns, and each endpoint lists its clusters."""
    clusters = {tuple(path.split("/")[:2]) for path in values}
    for endpoint, cluster in clusters:
        listed = values[f"{endpoint}/{cluster}/65531"]
        read = [int(path.split("/")[2]) for path in values if path.startswith(f"{endpoint}/{cluster}/")]
        assert sorted(listed) == sorted(read), (endpoint, cluster)
    for endpoint in {endpoint for endpoint, _ in clusters}:
        assert sorted(values[f"{endpoint}/29/1"]) == sorted(int(cluster) for of, cluster in clusters if of == endpoint)
    assert sorted(values["0/29/3"]) == sorted({int(endpoint) for endpoint, _ in clusters} - {0})


def test_a_subscription_receives_power_and_presses(lamp, home, controller, lan):
    """A subscriber receives changes of the relay and of the power, and presses of the button as events of the switch."""
    somebody = home()
    somebody.does("commission", code=lamp.code, node=1)
    first = somebody.does("subscribe", node=1, paths=[ON_OFF, POWER], events=["2/59"])
    assert first["values"][ON_OFF] is False and POWER in first["values"], first
    controller(lan.host()).does("on", "Lamp")
    somebody.sees(ON_OFF, lambda value: value is True, 5)
    assert somebody.sees(POWER, lambda value: value and value > 1000) < 2_000_000
    lamp.plug.press()
    pressed = somebody.hears(lambda told: told.get("path") == INITIAL_PRESS, 5)
    assert pressed["data"] == {"newPosition": 1}
    complete = somebody.hears(lambda told: told.get("path") == MULTI_PRESS_COMPLETE, 5)
    assert complete["data"]["totalNumberOfPressesCounted"] == 1 and complete["number"] > pressed["number"]
    lamp.plug.press("--double")
    somebody.hears(lambda told: told.get("path") == MULTI_PRESS_COMPLETE and told["data"]["totalNumberOfPressesCounted"] == 2, 5)
    lamp.plug.press("--long")
    somebody.hears(lambda told: told.get("path") == LONG_PRESS, 5)
    somebody.hears(lambda told: told.get("path") == LONG_RELEASE, 5)
    # Each event arrives once, and in order.
    numbers = [told["number"] for told in somebody.events if "number" in told]
    assert numbers == sorted(set(numbers)), numbers


def test_it_is_commissioned_without_ipv4(lan, plug, tmp_path, credentials, controller, home):
    """In a network without IPv4 and without a router, link-local addresses are enough."""
    lamp = MatterPlug(plug, lan.host(ipv4=False), "Lamp", tmp_path, credentials, controller(lan.host(ipv4=False)))
    somebody = home(lan.host(ipv4=False))
    somebody.does("commission", code=lamp.code, node=1)
    somebody.does("invoke", node=1, endpoint=1, cluster="OnOff", command="On")
    assert lamp.relay() == "on"


def test_a_wrong_code_does_not_commission(lamp, home, controller, lan):
    """A wrong passcode is refused, is listed in the audit log, and does not prevent the correct one."""
    somebody = home()
    discriminator, passcode = parts(lamp.code)
    wrong = somebody.does("manual_code", discriminator=discriminator << 8, passcode=passcode % 99_999_998 + 1)
    assert parts(wrong) == (discriminator, passcode % 99_999_998 + 1)
    with pytest.raises(Refused):
        somebody.does("commission", code=wrong, node=1)
    assert lamp.asks()["fabrics"] == []
    somebody.does("commission", code=lamp.code, node=1)
    assert len(lamp.asks()["fabrics"]) == 1
    audit = controller(lan.host()).does("audit", "Lamp", "--json").objects
    assert {"pairingFailed", "paired"} <= {line["kind"] for line in audit if line["by"] == "matter"}, audit
