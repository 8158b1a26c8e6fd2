"""The audit log of a plug contains pairings, removals, refusals and changes with their authors, and keeps them over a kill and a power
cut."""

import pathlib
import shutil
import sys

from deadlines import eventually

PORT = 4711
STRANGER = pathlib.Path(__file__).with_name("harness") / "stranger_program.py"


def audit(person, *words):
    return person.does("audit", "Lamp", *words, "--json").objects


def kinds(entries):
    return [entry["kind"] for entry in entries]


def killed(lamp):
    lamp.running.process.kill()
    lamp.running.ended(within=5)


def test_who_did_what_survives_a_kill_and_a_loss_of_power(lan, plug, controller, tmp_path):
    """Entries of all actions survive a kill and a power cut; a truncated entry is reported as lost."""
    host = lan.host()
    lamp = plug(host, "Lamp", port=PORT, paired=False)
    person = controller(lan.host())
    person.browse().found("Lamp")
    wrong = tmp_path / "wrong"
    wrong.write_text("AAAA-AAAA-AAAA-AAAA\n")
    assert person.finish("pair", "Lamp", "--code-file", wrong).status == 1
    assert person.finish("pair", "Lamp", "--code-file", lamp.setup_code()).status == 0
    for _ in range(3):
        refused = lan.host().finish(sys.executable, STRANGER, "hello", host.ipv4, PORT, tmp_path / "stranger", within=20)
        assert refused.objects == [{"refused": "not_paired"}], refused
    assert person.finish("set", "Lamp", "power-limit", "99999").status == 1, "the limit is above the plug's maximum"
    person.does("set", "Lamp", "auto-off", "10m")
    own = person.does("controllers", "Lamp", "--json").objects[0]
    before = audit(person)
    assert kinds(before) == ["firmware", "pairingFailed", "paired", "refused", "refused", "configured"], before
    failed, paired, stranger, limit, configured = before[1:]
    assert failed["outcome"] == "refused" and failed["by"] == "stranger" and failed["detail"] == "wrong setup code", failed
    assert paired["by"] == "controller" and paired["name"] == own["name"], paired
    assert own["fingerprint"].startswith(paired["key"]) and len(paired["key"]) == 12, paired
    assert stranger["by"] == "stranger" and stranger["count"] == 3 and stranger["detail"] == "hello: not paired", stranger
    assert limit["name"] == own["name"] and limit["detail"] == "configure: out of range", limit
    assert configured["detail"] == "auto-off 600 s, before: as configured", configured
    assert all(entry["at"][:2] == "20" for entry in before)
    # Each session reads the plug's clock again, with the error of one round trip, so the times of one entry may differ.
    timeless = [[{**entry, "at": None} for entry in entries] for entries in (audit(person, "--limit", "2"), before[-2:])]
    assert timeless[0] == timeless[1]

    # Actions are in flash before they are reported. Refusals are written with the next action, or after at most 15 minutes.
    killed(lamp)
    lamp = plug(host, "Lamp", port=PORT, state=lamp.state, paired=False)
    again = audit(person)
    assert kinds(again) == kinds(before) and [entry["count"] for entry in again] == [1, 1, 1, 3, 1, 1], again

    # A power cut: the mirror in memory is lost, and the last write was truncated.
    killed(lamp)
    shutil.rmtree(lamp.state / "run", ignore_errors=True)
    with (lamp.state / "audit").open("a") as file:
        file.write("7\t0102")
    lamp = plug(host, "Lamp", port=PORT, state=lamp.state, paired=False)
    after = audit(person)
    assert kinds(after) == kinds(before) + ["lost"] and after[-1]["detail"] == "lines that could not be read: 1", after
    assert after[-1]["by"] == "plug", after
    shown = person.does("audit", "Lamp").output
    assert f"paired            {own['name']} ({paired['key']})" in shown and "3 times" in shown, shown


def test_a_reset_empties_it_and_says_who_asked(lan, plug, controller):
    """A factory reset clears the audit log, and the new log records that the button caused the reset."""
    lamp = plug(lan.host(), "Lamp", port=PORT)
    person = controller(lan.host())
    person.does("rename", "Lamp", "Lounge")
    person.does("rename", "Lounge", "Lamp")
    assert kinds(audit(person))[-2:] == ["renamed", "renamed"]
    lamp.press("--hold", "15.5")
    lamp.running.seen(lambda line: "reset to factory state" in line.text, 30, "the reset")
    assert person.finish("unpair", "Lamp", "--here-only").status in (0, 1)
    eventually(
        lambda: person.finish("pair", "Lamp", "--code-file", lamp.setup_code()).status == 0, 20, "the plug is paired again")
    entries = audit(person)
    assert kinds(entries) == ["factoryReset", "firmware", "paired"], entries
    assert entries[0]["by"] == "button" and entries[0]["outcome"] == "done", entries
