"""`plugctl update` with plugs whose installer is this test: it takes the bundle and writes the state, as the scripts of the image do."""

import sys
import time

import pytest

from deadlines import eventually
from harness.broker import Broker
from harness.installer import BUNDLE, Installer, publish
from harness.served import Served
from test_records import check

@pytest.fixture
def installer(plug, lan, tmp_path):
    return Installer(plug, lan.host(), tmp_path / "lamp")


@pytest.fixture
def bundle(tmp_path):
    bundle = tmp_path / "new.raucb"
    bundle.write_bytes(BUNDLE)
    return bundle


def phases(objects):
    return [line["phase"] for line in objects]


def test_a_plug_restarts_with_the_new_system(lan, controller, installer, bundle):
    """The bundle arrives unchanged. plugctl reconnects after the restart, and ends when the new system has proved itself."""
    person = controller(lan.host())
    sending = person.start("update", "Lamp", bundle, "--json")
    assert installer.install("system=1", "phase=installed", "new=2") == BUNDLE
    installer.restart()
    sending.seen_object(lambda told: told["phase"] == "unknown", 20, "the restarted plug")
    installer.writes("system=2", "phase=trying", "new=2")
    sending.seen_object(lambda told: told["phase"] == "trying", 20, "the new system")
    installer.writes("system=2", "phase=idle")
    assert sending.ended(10) == 0, sending.transcript()
    lines = [line.json for line in sending.lines if line.json]
    check("update", lines)
    assert phases(lines)[0] == "receiving" and phases(lines)[-4:] == ["installed", "unknown", "trying", "idle"]
    assert lines[-1]["system"] == "2"
    assert "a bundle of 512004 bytes" in person.does("audit", "Lamp").output


def test_a_plug_that_is_on_restarts_when_it_is_off(lan, controller, installer, bundle):
    person = controller(lan.host())
    person.does("on", "Lamp")
    sending = person.start("update", "Lamp", bundle)
    installer.install("system=1", "phase=installed", "new=2")
    assert sending.ended(10) == 0 and "starts when the plug is off" in sending.transcript()
    assert not installer.restart_is_wanted
    person.does("off", "Lamp")
    installer.has("run/restart")


def test_a_folder_and_a_server_have_the_newest_system(lan, controller, installer, bundle, tmp_path):
    """The plug's board selects the bundle, and a plug that has its system receives nothing."""
    installer.writes("board=smartplug-amd64", "system=1", "phase=idle")
    images = tmp_path / "images"
    images.mkdir()
    bundle.rename(images / "new.raucb")
    description = images / "smartplug-amd64.json"
    description.write_text('{"board": "smartplug-amd64", "system": "2", "bundle": "new.raucb"}')
    host = lan.host()
    person = controller(host)
    served = host.start(sys.executable, "-u", "-m", "http.server", "8000", "--directory", images)
    served.seen(lambda line: "Serving HTTP" in line.text, 10)
    for source in (images, "http://127.0.0.1:8000"):
        shown = person.does("update", "Lamp", source, "--check", "--json").objects
        check("update", shown)
        assert [(line["system"], line["available"]) for line in shown] == [("1", "2")]
    sending = person.start("update", "Lamp", "http://127.0.0.1:8000/", "--restart", "later")
    assert installer.install("board=smartplug-amd64", "system=2", "phase=installed", "new=2") == BUNDLE
    assert sending.ended(10) == 0, sending.transcript()
    installer.writes("board=smartplug-amd64", "system=2", "phase=idle")
    assert "2, the newest" in person.does("update", "Lamp", images, "--check").output
    for text, reason in (
            ('{"board": "smartplug-amd64", "system": "3", "bundle": "../new.raucb"}', "is not the description"),
            ("{}", "is not the description"), ('{"board": "smartplug-amd64", "system": "3", "bundle": "none"}', "none")):
        description.write_text(text)
        done = person.finish("update", "Lamp", images)
        assert done.status == 1 and reason in done.errors, (text, done)


def test_the_reason_of_a_refusal_is_shown(lan, controller, installer, bundle):
    person = controller(lan.host())
    sending = person.start("update", "Lamp", bundle, "--json")
    installer.install("system=1", "phase=failed", "detail=signature verification failed")
    assert sending.ended(10) == 1, sending.transcript()
    assert [line.json for line in sending.lines if line.json][-1]["reason"] == "signature verification failed"
    installer.writes("system=1", "phase=returned", "new=2", "detail=no controller has connected")
    shown = person.does("update", "Lamp").output
    assert "the new system 2 did not work: no controller has connected; the previous system runs again" in shown
    installer.writes("system=1", "phase=idle")
    refused = person.finish("update", "Lamp", "--restart", "now")
    assert refused.status == 1 and "no new system is installed" in refused.errors, refused


def test_a_wrong_file_and_a_plug_without_the_image_are_named(lan, plug, controller, bundle, tmp_path):
    plug(lan.host(), "Lamp")
    person = controller(lan.host())
    letter = tmp_path / "letter"
    letter.write_text("hello")
    for words, status, reason in (
            (("Lamp", letter), 1, "this is not a bundle for plugs"), (("Lamp", tmp_path / "none"), 1, "none"),
            (("Lamp", bundle), 1, "cannot be updated over the network"), (("Lamp", "--older"), 64, "--older requires a bundle"),
            (("Lamp", bundle, "--cancel"), 64, "--cancel cannot be combined")):
        done = person.finish("update", *words)
        assert done.status == status and reason in done.errors, (words, done)


def test_the_daemon_updates_plugs_on_request(lan, controller, installer, tmp_path):
    """By the API and by the broker. Clients of the broker may do so only if updates.toml allows it."""
    installer.writes("board=board", "system=1", "phase=idle")
    source, configuration = tmp_path / "source", tmp_path / "configuration" / "smartplug"
    configuration.mkdir(parents=True)
    publish(source, "2")
    person = controller(lan.host())
    broker = Broker(person.host, tmp_path / "mosquitto")
    (configuration / "broker.toml").write_text(broker.settings())
    (configuration / "updates.toml").write_text(f'[updates]\nsource = "{source}"\nrestart = "now"\n')
    served = Served(person, tmp_path / "daemon").follows(1)
    path = "/api/v1/plugs/Lamp/update"
    known = served.get(path)
    check("update", [known])
    assert (known["system"], known["available"], known["phase"], known["updating"]) == ("1", "2", "idle", False)
    plug = known["id"]
    listener = broker.listen()
    listener.has(f"smartplug/home/{plug}/system", lambda told: told.get("available") == "2")
    config = listener.has(f"homeassistant/device/smartplug_{plug}/config", lambda config: "update" in config["cmps"])
    assert "cmd_t" not in config["cmps"]["update"]
    refused = broker.ask(f"smartplug/home/{plug}/set", '{"update":true}')
    assert (refused["done"], refused["reason"]) == (False, "unsupported"), refused

    begun = served.ask("POST", path, {})
    assert begun.status == 202 and begun.json["updating"], begun
    assert served.ask("POST", path, {}).status == 409
    assert served.ask("POST", path, {"restart": "soon"}).status == 422
    assert installer.install("board=board", "system=1", "phase=installed", "new=2") == BUNDLE
    installer.restart("board=board", "system=2", "phase=trying", "new=2")
    listener.has(f"smartplug/home/{plug}/system", lambda told: told["phase"] == "trying", within=30)
    installer.writes("board=board", "system=2", "phase=idle")
    eventually(lambda: not (last := served.get(path))["updating"] and last["system"] == last["available"] == "2", 20, lambda: served.get(path))
    listener.has(f"smartplug/home/{plug}/system", lambda told: told["system"] == "2" and told["phase"] == "idle")

    # An update that fails at the source, and one that fails at the plug.
    publish(source, "3")
    (source / "3.raucb").write_text("hello")
    with open(configuration / "updates.toml", "a") as file:
        file.write("broker = true\n")
    served.running.stop()
    served.start()
    served.follows(1)
    listener.has(f"homeassistant/device/smartplug_{plug}/config", lambda config: "cmd_t" in config["cmps"].get("update", {}))
    begun = broker.ask(f"smartplug/home/{plug}/set", '{"update":true}', "2")
    assert begun["done"], begun
    failed = eventually(lambda: (last := served.get(path)).get("fault") and last, 20, lambda: served.get(path))
    assert "this is not a bundle" in failed["fault"] and not failed["updating"], failed
    publish(source, "3")
    assert served.ask("POST", path, {}).status == 202
    assert installer.install("board=board", "system=2", "phase=failed", "detail=no space") == BUNDLE
    ended = eventually(lambda: not (last := served.get(path))["updating"] and last, 20, lambda: served.get(path))
    assert (ended["phase"], ended["reason"]) == ("failed", "no space") and "fault" not in ended, ended
    assert served.ask("DELETE", path).status == 200


def test_a_plug_that_is_on_restarts_in_the_quiet_time(lan, controller, installer, tmp_path):
    installer.writes("board=board", "system=1", "phase=installed", "new=2")
    configuration = tmp_path / "configuration" / "smartplug"
    configuration.mkdir(parents=True)
    source = publish(tmp_path / "source", "2")
    person = controller(lan.host())
    person.does("on", "Lamp")
    settings = configuration / "updates.toml"
    settings.write_text(f'[updates]\nsource = "{source}"\n')
    served = Served(person, tmp_path / "daemon").follows(1)
    assert served.get("/api/v1/plugs/Lamp/update")["phase"] == "installed"
    now = time.localtime()
    ends = [f"{hour % 24:02}:{now.tm_min:02}" for hour in (now.tm_hour - 1, now.tm_hour + 1)]
    settings.write_text(f'[updates]\nsource = "{source}"\nquiet_time = "{ends[0]}-{ends[1]}"\n')
    served.running.stop()
    assert not installer.restart_is_wanted
    served.start()
    installer.restart("board=board", "system=2", "phase=idle")
    served.follows(1)
    # During the restart the answer is an error.
    eventually(lambda: served.ask("GET", "/api/v1/plugs/Lamp/update").json.get("system") == "2", 30, "the new system")


def test_a_daemon_without_a_source_shows_the_systems(lan, plug, controller, installer, tmp_path):
    installer.writes("board=board", "system=1", "phase=idle")
    plug(lan.host(), "Fan")
    served = Served(controller(lan.host()), tmp_path / "daemon").follows(2)
    assert served.get("/api/v1/plugs/Lamp/update")["system"] == "1"
    refused = served.ask("POST", "/api/v1/plugs/Lamp/update", {})
    assert refused.status == 409 and "knows no new systems" in refused.json["error"], refused
    refused = served.ask("GET", "/api/v1/plugs/Fan/update")
    assert refused.status == 409 and "cannot be updated" in refused.json["error"], refused
