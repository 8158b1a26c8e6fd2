"""`plugctl update` with plugs whose installer is this test: it takes the bundle and writes the state, as the scripts of the image do."""

import os
import sys

import pytest

from deadlines import eventually
from test_records import check

BUNDLE = b"hsqs" + bytes(range(256)) * 2000


class Installer:
    """A plug with the folder of the image, and the part of the image that installs bundles."""

    def __init__(self, plug, lan, state):
        (state / "update").mkdir(parents=True)
        self._state, self._start = state, lambda: plug(lan.host(), "Lamp", state=state)
        self.plug = self._start()

    def has(self, file, within=10):
        path = self._state / file
        eventually(path.exists, within, lambda: f"{file}:\n{self.plug.running.transcript()}")
        return path

    def writes(self, *lines):
        """Writes the state of the update."""
        (self._state / "run").mkdir(exist_ok=True)
        new = self._state / "run" / "new-state"
        new.write_text("\n".join(lines) + "\n")
        new.rename(self._state / "run" / "update")

    def install(self, *lines):
        """Takes the bundle, and writes a state after it."""
        bundle = self.has("update/bundle.raucb")
        content = bundle.read_bytes()
        self.writes(*lines)
        bundle.unlink()
        return content

    def restart(self, *lines):
        """Restarts the plug at its request, with a system that writes this state."""
        self.has("run/restart").unlink()
        self.plug.running.stop()
        self.writes(*lines)
        self.plug = self._start()


@pytest.fixture
def installer(plug, lan, tmp_path):
    return Installer(plug, lan, tmp_path / "lamp")


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
    installer.restart("system=2", "phase=trying", "new=2")
    sending.seen_object(lambda told: told["phase"] == "trying", 20, "the new system")
    installer.writes("system=2", "phase=idle")
    assert sending.ended(10) == 0, sending.transcript()
    lines = [line.json for line in sending.lines if line.json]
    check("update", lines)
    assert phases(lines)[0] == "receiving" and phases(lines)[-3:] == ["installed", "trying", "idle"]
    assert lines[-1]["system"] == "2"
    assert "a bundle of 512004 bytes" in person.does("audit", "Lamp").output


def test_a_plug_that_is_on_restarts_when_it_is_off(lan, controller, installer, bundle):
    person = controller(lan.host())
    person.does("on", "Lamp")
    sending = person.start("update", "Lamp", bundle)
    installer.install("system=1", "phase=installed", "new=2")
    assert sending.ended(10) == 0 and "starts when the plug is off" in sending.transcript()
    assert not os.path.exists(installer.has("run") / "restart")
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
