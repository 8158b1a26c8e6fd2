"""The Python client, written from Protocol.md and smartplug.proto only, has all functions of a controller."""

import pathlib

import pytest

from harness.client import Client
from deadlines import eventually

PORT = 4711


@pytest.fixture
def lamp(lan, plug):
    return plug(lan.host(), "Lamp", port=PORT, paired=False)


@pytest.fixture
def client(lan, lamp, tmp_path):
    client = Client(lan.host(), lamp.host.ipv4, PORT, tmp_path / "client")
    code = lamp.setup_code()
    eventually(lambda: client.finish("pair", "--code-file", code).status == 0, 10, lambda: "the pairing")
    return client


def test_it_switches_and_an_answer_is_the_same_when_asked_twice(lamp, client):
    """A repeated command with the same request id is executed once and gets the same answer."""
    request = "00112233445566778899aabbccddeeff"
    first = client.does("relay", "on", "--request", request)
    assert lamp.status()["relay"] == "on"
    lamp.press()
    eventually(lambda: lamp.status()["relay"] == "off", 5, lambda: "the relay off")
    assert client.does("relay", "on", "--request", request) == first, "the repeated command got a different answer"
    assert lamp.status()["relay"] == "off"


def test_it_follows_and_resumes_after_the_last_event(lamp, client):
    """The client resumes after the last event without gaps or duplicates."""
    client.does("relay", "on")
    client.does("relay", "off")
    seen = [told["sequence"] for told in client.does("follow", "--after", "0", "--count", "4") if told.get("kind") == "event"]
    assert [int(number) for number in seen] == [1, 2, 3, 4], "not the numbers of the events restarted, paired, on, off"
    for _ in range(2):
        client.does("relay", "on")
        client.does("relay", "off")
    resumed = client.does("follow", "--after", "4", "--count", "2")
    assert [int(told["sequence"]) for told in resumed if told.get("kind") == "event"] == [5, 6]
    assert not any(told.get("event") == "gap" for told in resumed)


def test_it_comes_back_wherever_the_plug_is_announced_and_has_each_event_once(lamp, client, plug):
    """The client reconnects to a restarted plug at its new port, and gets each event once."""
    plug_id = (lamp.state / "id").read_text().split()[0]
    watching = client.start("watch", plug_id, "--after", "0")
    watching.seen_object(lambda told: told["told"] == "State", 20, "a state")

    def press():
        before = lamp.status()["relay"]
        assert lamp.press().status == 0
        eventually(lambda: lamp.status()["relay"] != before, 10, lambda: "the toggled relay")

    for _ in range(3):
        press()
        lamp.running.process.kill()
        lamp.running.ended(within=5)
        lamp = plug(lamp.host, "Lamp", state=lamp.state)  # on any port
        eventually(lamp.answers, 10, lambda: "the restarted plug")
    press()
    last = lamp.status()["nextSequence"] - 1
    watching.seen_object(lambda told: told.get("sequence") == last, 40, f"event {last}")
    told = [line.json for line in watching.lines if line.json]
    numbers = [one["sequence"] for one in told if one["told"] == "Event"]
    # The button event of the last press may have followed after `last` was read, which is one more event.
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= last, numbers
    assert not any(one["told"] == "Gap" for one in told)
    turned = [one for one in told if one.get("what") == "RelayChanged"]
    assert len(turned) == 4 and all(one["age"] is not None for one in turned), turned


def test_it_reads_what_tripped_and_resets_it(lamp, client):
    """A load of 4000 W trips the protection after five seconds. The relay can be switched on again only after a reset."""
    lamp.load("4000 W")
    client.does("relay", "on")

    def state():
        # Without `--count` the follower would wait for further messages.
        return client.does("follow", "--after", "0", "--count", "1")[0]

    tripped = eventually(lambda: state() if "tripped" in state() else None, 15, lambda: f"the tripped protection: {state()}")
    assert tripped["tripped"] == "PROTECTION_OVER_POWER" and not tripped.get("relayOn"), tripped
    reading = tripped["reading"]
    assert reading["frequencyMillihertz"] == 50_000 and reading["powerFactorPermille"] == 1000, reading
    assert "apparentPowerDva" in reading and "reactivePowerDvar" in reading, reading
    lamp.load("40 W")
    client.does("relay", "off")
    refused = client.does("relay", "on")[0]
    assert refused["refused"]["code"] == "REFUSAL_CODE_PROTECTION_TRIPPED", refused
    done = client.does("reset-protection")[0]["done"]
    assert "sequence" in done and "tripped" not in done["state"] and not done["state"].get("relay_on"), done
    assert "sequence" not in client.does("reset-protection")[0]["done"], "the second reset caused an event"
    assert client.does("relay", "on")[0]["done"]["state"]["relay_on"] is True
    kinds = [told for told in client.does("follow", "--after", "0", "--count", "7") if told.get("kind") == "event"]
    assert "protection_tripped" in kinds[3] or "protection_tripped" in kinds[4], kinds
    reset = next(told["protection_reset"] for told in kinds if "protection_reset" in told)
    assert (reset["protection"], reset["cause"]) == ("PROTECTION_OVER_POWER", "CAUSE_CONTROLLER"), reset


def test_it_fetches_the_samples_that_plugctl_shows(lamp, client):
    """The client fetches the plug's samples in the order of time, with the power of the load."""
    lamp.load("40 W")
    client.does("relay", "on")
    samples = eventually(
        lambda: [sample for sample in client.does("samples") if sample["activePower"] > 30], 10, lambda: "samples of 40 W")
    times = [sample["milliseconds"] for sample in client.does("samples")]
    assert times == sorted(set(times)) and abs(samples[-1]["activePower"] - 40) < 8


def test_it_follows_the_log_and_sees_a_press(lamp, client):
    """The client follows the plug's log at level debug for the 4 s that it requested."""
    following = client.start("log", "--level", "debug", "--seconds", "4")
    granted = following.seen_object(lambda told: told["kind"] == "followed", 10, "the start of the log").json
    assert (granted["level"], granted["seconds"]) == ("LOG_LEVEL_DEBUG", 4), granted
    lamp.press()
    line = following.seen_object(lambda told: told.get("message") == "the button is down", 4, "the press").json
    assert line["part"] == "PlugService" and int(line["plug_time"]) > 0, line
    following.seen_object(lambda told: told["kind"] == "ended", 6, "the end of the log")
    assert following.ended(within=2) == 0
    numbers = [int(line.json["number"]) for line in following.lines if line.json and line.json["kind"] == "line"]
    assert numbers == sorted(set(numbers)), numbers


def test_it_lists_and_removes_controllers(lan, lamp, client, tmp_path):
    """The client lists two controllers and removes the other one, whose next command is refused."""
    other = Client(lan.host(), lamp.host.ipv4, PORT, tmp_path / "other")
    other.does("pair", "--code-file", lamp.setup_code())
    listed = client.does("controllers")
    assert len(listed) == 2
    mark = next(entry["fingerprint"] for entry in listed if not entry.get("asker"))
    assert len(client.does("remove", mark)) == 1
    other.is_refused("not_paired", "relay", "on")


def test_wireshark_reads_a_trace_with_its_keys(lan, plug, controller, tmp_path):
    """tshark decodes the frames with the dissector in Documentation and the keys that plugctl wrote."""
    host = lan.host()
    lamp = plug(host, "Lamp", port=PORT)
    person = controller(host)
    person.browse().found("Lamp")
    trace, keys = tmp_path / "lamp.pcapng", tmp_path / "keys.log"
    capture = host.start("tshark", "-q", "-i", "any", "-f", f"tcp port {PORT}", "-w", trace)
    capture.seen(lambda line: "Capturing" in line.text, 10, "that it captures")
    done = host.finish("env", f"SSLKEYLOGFILE={keys}", person.program, "on", "Lamp")
    assert done.status == 0 and "warning: the TLS keys of this program's connections are written to" in done.errors, done
    assert keys.stat().st_mode & 0o077 == 0
    # No secrets are written to a file that other users may read.
    exposed = tmp_path / "exposed.log"
    exposed.touch(mode=0o644)
    done = host.finish("env", f"SSLKEYLOGFILE={exposed}", person.program, "off", "Lamp")
    assert done.status == 1 and "refusing to open the secret" in done.errors and "hint:" in done.errors, done
    assert not exposed.read_bytes()
    project = pathlib.Path(__file__).parents[2]
    script = project / "Documentation" / "wireshark" / "smartplug.lua"
    proto = project / "Sources" / "PlugProtocol" / "Specification"

    def read():
        return host.finish(
            "tshark", "-r", trace, "-o", f"tls.keylog_file:{keys}", "-X", f"lua_script:{script}",
            "-o", f'uat:protobuf_search_paths:"{proto}","TRUE"', "-O", "smartplug,protobuf", within=30).output

    eventually(lambda: "smartplug.v1.PlugMessage" in read(), 30, lambda: f"the messages:\n{read()}")
    text = read()
    for words in ("smartplug.v1.ControllerMessage", "hello", "welcome", "set_relay", "result"):
        assert words in text, f"{words} is missing in:\n{text[:4000]}"
    assert lamp.status()["relay"] == "on"
