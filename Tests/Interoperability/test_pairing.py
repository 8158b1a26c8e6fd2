"""Access is only for paired controllers. A peer that did not prove the plug's setup code gets a refusal, and nothing
else."""

import pathlib
import shutil
import sys

import pytest

from harness.client import Client
from deadlines import eventually
from harness.keys import controller_directory, introduce, key_in, twice, write

STRANGER = pathlib.Path(__file__).with_name("harness") / "stranger_program.py"
PORT = 4711
NET_ADMIN, NET_RAW = 1 << 12, 1 << 13


def stranger(host, *words):
    return host.finish(sys.executable, STRANGER, *words, within=20)


@pytest.fixture
def lamp(lan, plug, controller):
    """A new plug without a paired controller."""
    lamp = plug(lan.host(), "Lamp", port=PORT, paired=False)
    controller(lamp.host).browse().found("Lamp")
    return lamp


def hold_button(lamp):
    # A hold of five seconds opens the window. On a busy machine the plug may see a shorter hold, so a second hold may follow.
    for _ in range(2):
        done = lamp.press("--hold", "7")
        assert done.status == 0, done
        if lamp.status()["pairingWindow"]:
            return
    eventually(lambda: lamp.status()["pairingWindow"], 10, lambda: f"an open window: {lamp.status()}")


def pair(person, lamp, *words, within=15):
    return person.finish("pair", "Lamp", "--code-file", lamp.setup_code(), *words, within=within)


def test_pairing_opens_the_plug_to_one_controller(lan, lamp, controller):
    """Pairing gives one controller access. After `reset` and a new pairing, the controller can forget a plug that no longer runs."""
    person = controller(lan.host())
    assert person.browse().found("Lamp")["txt"].get("pair") == "1"
    before = person.finish("on", "Lamp")
    assert before.status == 1 and not before.output, before
    assert 'not paired with this controller' in before.errors and 'hint: run plugctl pair "Lamp"' in before.errors, before
    done = pair(person, lamp, "--json")
    assert done.status == 0 and done.objects[0]["plug"] == "Lamp", done
    person.does("on", "Lamp")
    listed = person.does("controllers", "Lamp", "--json").objects
    assert [(entry["connected"], entry["self"]) for entry in listed] == [(True, True)]
    # Only a reset removes the last owner.
    done = person.finish("unpair", "Lamp")
    assert done.status == 1 and "last owner" in done.errors and "hint: `plugctl reset" in done.errors, done
    person.does("reset", "Lamp", "--yes")
    assert person.finish("on", "Lamp").status == 1
    # A plug that is gone can be forgotten without its answer.
    hold_button(lamp)
    assert pair(person, lamp).status == 0
    lamp.running.terminate()
    lamp.running.ended(within=5)
    person.does("unpair", "Lamp", "--here-only")
    again = person.finish("unpair", "Lamp", "--here-only")
    assert again.status == 1 and "no plug is paired" in again.errors and "hint:" in again.errors, again


def test_the_label_shows_the_code(lamp, programs):
    """`plugd identity` prints the setup code and its QR code."""
    shown = lamp.host.finish(programs / "plugd", "identity", "--state", lamp.state)
    code = lamp.setup_code().read_text().split()[0]
    assert shown.status == 0 and f"setup code  {code}" in shown.output and "█" in shown.output, shown
    plain = lamp.host.finish(programs / "plugd", "identity", "--state", lamp.state, "--plain")
    assert plain.output == code, plain


def test_a_code_is_never_taken_from_the_command_line(lan, lamp, controller):
    """plugctl rejects a setup code as an argument, with status 64."""
    code = lamp.setup_code().read_text().split()[0]
    done = controller(lan.host()).finish("pair", "Lamp", code)
    assert done.status == 64, done


def test_a_wrong_code(lan, lamp, controller, tmp_path):
    """A wrong or malformed code is refused with a hint; the right code still pairs, and the failure is an event."""
    wrong = tmp_path / "wrong"
    wrong.write_text("AAAA-AAAA-AAAA-AAAA\n")
    person = controller(lan.host())
    done = person.finish("pair", "Lamp", "--code-file", wrong)
    assert done.status == 1 and "not the plug's setup code" in done.errors and "hint:" in done.errors, done
    wrong.write_text("AAAA-AAAA-AAAA-AA1!\n")
    done = person.finish("pair", "Lamp", "--code-file", wrong)
    assert done.status == 1 and "character 16 of the setup code" in done.errors, done
    # The failure causes no lockout, and the plug records it.
    assert pair(person, lamp).status == 0
    lines = person.watch("Lamp", "--after", 0)
    lines.seen_object(lambda told: told["event"] == "pairingFailed" and told["failures"] == 1, 5, "the wrong code")
    lines.seen_object(lambda told: told["event"] == "controllerPaired", 5, "the successful pairing")


def test_the_right_code_while_the_window_is_closed(lan, plug, controller, tmp_path):
    """The right code is refused while the pairing window is closed; holding the button opens it."""
    lamp = plug(lan.host(), "Lamp", port=PORT)
    person = controller(lan.host())
    person.browse().told_text("Lamp", person.browse().found("Lamp")["txt"] | {"pair": "0"}, 5)
    other = Client(lan.host(), lamp.host.ipv4, PORT, tmp_path / "other")
    other.is_refused("pairing_closed", "pair", "--code-file", lamp.setup_code())
    # Holding the button opens the window.
    hold_button(lamp)
    other.does("pair", "--code-file", lamp.setup_code())
    assert len(person.does("controllers", "Lamp", "--json").objects) == 2


def test_strangers_get_a_refusal_and_nothing_else(lan, plug, controller, tmp_path):
    """An unpaired peer gets a refusal, and a peer without a client certificate gets a TLS alert."""
    lamp = plug(lan.host(), "Lamp", port=PORT)
    person = controller(lan.host())
    person.does("off", "Lamp")
    host = lan.host()
    done = stranger(host, "hello", lamp.host.ipv4, PORT, tmp_path / "stranger")
    assert done.objects == [{"refused": "not_paired"}], done
    for words in (["-tls1_3"], ["-tls1_2"]):
        done = host.finish("openssl", "s_client", "-connect", f"{lamp.host.ipv4}:{PORT}", *words, "-alpn", "smartplug/1",
                           "-brief", "-ign_eof", within=20)
        assert "alert" in done.errors or done.status != 0, done
    assert lamp.status()["relay"] == "off"


def test_a_removed_controller_is_out_at_once(lan, plug, controller, tmp_path):
    """Removing a controller ends its session at once, and its next command is refused."""
    lamp = plug(lan.host(), "Lamp", port=PORT)
    person = controller(lan.host())
    hold_button(lamp)
    other = Client(lan.host(), lamp.host.ipv4, PORT, tmp_path / "other")
    other.does("pair", "--code-file", lamp.setup_code())
    following = other.start("follow")
    following.seen_object(lambda told: told.get("event") == "snapshot", 5, "a snapshot")
    listed = person.does("controllers", "Lamp", "--json").objects
    mark = next(entry["fingerprint"] for entry in listed if not entry["self"])
    assert len(person.does("controllers", "Lamp", "--remove", mark[:12], "--json").objects) == 1
    assert following.ended(within=3) == 1
    assert "not_paired" in following.transcript(), following.transcript()
    other.is_refused("not_paired", "relay", "on")


def test_a_controller_with_another_key(lan, plug, controller):
    """A controller with a new key is refused; an unreadable key is an error and is not replaced."""
    lamp = plug(lan.host(), "Lamp", port=PORT)
    person = controller(lan.host())
    person.does("on", "Lamp")
    key = controller_directory() / "key"
    key.unlink()
    done = person.finish("off", "Lamp")
    assert done.status == 1 and "no longer paired with this controller" in done.errors and "hint:" in done.errors, done
    assert key.exists() and lamp.status()["relay"] == "on"
    # An unreadable key is not replaced, and no new key is used.
    for spoil in (lambda: write(key, b"-----BEGIN PRIVATE KEY-----\n"), lambda: key.chmod(0o644)):
        spoil()
        before = key.read_bytes()
        done = person.finish("off", "Lamp")
        assert done.status == 1 and str(key) in done.errors and "hint:" in done.errors, done
        assert key.read_bytes() == before


def test_a_replayed_pairing_proves_nothing(lan, lamp, tmp_path):
    """A replayed proof of the setup code is refused."""
    done = stranger(lan.host(), "replay", lamp.host.ipv4, PORT, tmp_path / "replayer", lamp.setup_code())
    assert done.objects == [{"paired": True}, {"told": "pairing_challenge"}, {"refused": "wrong_code"}], done


def test_a_man_in_the_middle_gets_no_key_pinned(lan, plug, controller, tmp_path):
    """An attacker who announces the plug's name and relays its messages gets no key pinned."""
    host = lan.host()
    lamp = plug(host, "Hidden", port=PORT, interface="lo", paired=False)
    lamp.setup_code()
    middle = host.start(sys.executable, STRANGER, "middle", 4712, "127.0.0.1", PORT, tmp_path / "middle")
    middle.seen_object(lambda told: "listening" in told, 5, "'listening'")
    plug_id = (lamp.state / "id").read_text().split()[0]
    program = STRANGER.with_name("zeroconf_program.py")
    # The announcement comes from another host, because some responders do not share their port with a second one.
    announcing = lan.host()
    announced = announcing.start(
        sys.executable, program, "publish", "_smartplug._tcp", announcing.ipv4, "4", "Lamp", 4712, host.ipv4, f"id={plug_id}",
        "txtvers=1", "pv=1", "pair=1", "caps=relay")
    announced.seen_object(lambda told: told["event"] == "published", 10, "the announcement")
    person = controller(lan.host())
    person.browse().found("Lamp")
    done = pair(person, lamp, "--wait", "10s", within=30)
    assert done.status == 1 and not done.output, done
    # The right code fails, because each side received the attacker's key.
    assert "this is not the plug's setup code" in done.errors and "hint:" in done.errors, done
    assert lamp.status()["paired"] == 0
    assert person.finish("on", "Lamp").status == 1
    # A controller that was paired before sends no data to the attacker.
    introduce(tmp_path / "earlier", "Lamp")
    known = key_in(tmp_path / "earlier" / "key")
    write(controller_directory() / "plugs", f"{plug_id} {known.hex()} Lamp\n".encode())
    done = person.finish("on", "Lamp")
    assert done.status == 1 and "a different key than the paired plug" in done.errors and "hint:" in done.errors, done


def test_another_plug_under_the_name_is_told_from_the_one_that_was_paired(lan, plug, controller, tmp_path):
    """A different plug with a paired plug's name is refused, also if it claims the same id."""
    host = lan.host()
    lamp = plug(host, "Lamp", port=PORT)
    person = controller(lan.host())
    person.does("on", "Lamp")
    lamp.running.terminate()
    lamp.running.ended(within=5)
    other = plug(host, "Lamp", port=PORT, paired=False)
    person.browse().found("Lamp")
    done = person.finish("on", "Lamp")
    assert done.status == 1 and "a different plug was paired under this name" in done.errors and "hint:" in done.errors, done
    other.running.terminate()
    other.running.ended(within=5)
    # A plug that also claims the id is refused because of its key.
    claimed = tmp_path / "claimed"
    claimed.mkdir()
    write(claimed / "id", twice((pathlib.Path(lamp.state) / "id").read_text().split()[0]))
    write(claimed / "sequence", twice("1"))
    plug(host, "Lamp", port=PORT, state=claimed, paired=False)
    person.browse().found("Lamp")
    done = person.finish("on", "Lamp")
    assert done.status == 1 and "a different key than the paired plug" in done.errors, done


@pytest.mark.parametrize("spoil", ["garbage", "readable", "missing"])
def test_a_key_that_cannot_be_used(lan, plug, spoil):
    """With an unusable key the plug stays off the network with a hint, and its button works."""
    host = lan.host()
    lamp = plug(host, "Lamp", port=PORT)
    lamp.setup_code()
    lamp.running.terminate()
    lamp.running.ended(within=5)
    key = pathlib.Path(lamp.state) / "key"
    if spoil == "garbage":
        write(key, b"-----BEGIN PRIVATE KEY-----\nMIG\n")
    elif spoil == "readable":
        key.chmod(0o644)
    else:
        shutil.move(key, key.with_suffix(".away"))
    again = plug(host, "Lamp", state=lamp.state, port=PORT, paired=False)
    told = again.running.seen(lambda line: "stays off the network" in line.text, 5, "the log line that it stays off the network")
    assert str(key) in again.running.transcript() and "hint:" in again.running.transcript(), told
    eventually(lambda: again.press().status == 0, 5, lambda: "a working panel")
    eventually(lambda: again.status()["relay"] == "on", 5, lambda: f"a relay that follows the button: {again.status()}")


@pytest.mark.parametrize("addressing, capabilities", [("observe", 0), ("auto", NET_ADMIN | NET_RAW)])
def test_plugd_gives_up_what_it_does_not_need(lan, plug, addressing, capabilities):
    """A plug that may manage addresses keeps two capabilities, because an interface can appear at any time; a plug that
    only observes keeps none."""
    lamp = plug(lan.host(), "Lamp", port=PORT, paired=False, addressing=addressing)
    lamp.running.seen(lambda line: "announced as" in line.text, 10, "the announcement")
    for task in pathlib.Path(f"/proc/{lamp.running.process.pid}/task").iterdir():
        status = dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line)
        kept = {name: int(status[name], 16) for name in ("CapPrm", "CapEff", "CapInh", "CapBnd", "CapAmb")}
        assert kept == {"CapPrm": capabilities, "CapEff": capabilities, "CapInh": 0, "CapBnd": 0, "CapAmb": 0}, task
        assert status["Umask"].strip() == "0077", status
        assert status["NoNewPrivs"].strip() == "1" and status["Seccomp"].strip() == "2", status
    for name in ("key", "setup-code", "controllers", "id", "state", "sequence", "networks", "network-secret"):
        file = pathlib.Path(lamp.state) / name
        assert not file.exists() or file.stat().st_mode & 0o077 == 0, file
    for file in pathlib.Path(lamp.state, "run").iterdir():
        assert file.stat().st_mode & 0o077 == 0, file


def test_a_factory_reset_leaves_the_label_and_nothing_else(lan, plug, controller, programs):
    """A factory reset keeps the id and the setup code, replaces the key and removes all pairings."""
    lamp = plug(lan.host(), "Lamp", port=PORT)
    person = controller(lan.host())
    person.does("on", "Lamp")
    files = {name: (pathlib.Path(lamp.state) / name) for name in ("id", "setup-code", "key")}
    before = {name: file.read_bytes() for name, file in files.items()}
    person.does("reset", "Lamp", "--yes")
    eventually(
        lambda: (status := lamp.host.finish(programs / "plugd", "status", "--state", lamp.state)).status == 0
        and status.objects[0]["paired"] == 0 and status.objects[0]["pairingWindow"], 10, lambda: lamp.running.transcript())
    after = {name: file.read_bytes() for name, file in files.items()}
    assert after["id"] == before["id"] and after["setup-code"] == before["setup-code"] and after["key"] != before["key"]
    assert lamp.status()["relay"] == "off"
    done = person.finish("on", "Lamp")
    assert done.status == 1 and "not paired with this controller" in done.errors, done
    eventually(lambda: pair(person, lamp).status == 0, 15, lambda: "a new pairing")
    person.does("on", "Lamp")


def test_a_factory_reset_without_a_controller(lan, plug, programs):
    """`plugd reset` removes all pairings of a running and of a stopped plug."""
    host = lan.host()
    lamp = plug(host, "Lamp", port=PORT)
    lamp.setup_code()
    for stopped in (False, True):
        if stopped:
            lamp.running.terminate()
            lamp.running.ended(within=5)
        done = host.finish(programs / "plugd", "reset", "--state", lamp.state)
        assert done.status == 0, done
        controllers = pathlib.Path(lamp.state) / "controllers"
        eventually(lambda: not controllers.exists() or controllers.read_text() == "\n\n", 5, controllers.read_text)
