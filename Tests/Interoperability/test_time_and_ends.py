"""A plug without a battery-backed clock, and the reports after a crash, a kill or an orderly stop."""

import signal
import time

import pytest

from deadlines import eventually
from harness.wall_clock import WrongClock


def up(plug):
    plug.running.seen(lambda line: "announced as" in line.text, 10, "the announcement")
    return plug


def test_a_plug_in_1970_works_and_one_whose_clock_is_set_goes_on(lan, plug, controller, tmp_path):
    """With a clock in 1970 the plug pairs, proves its key, reports the times of events, and resumes after a kill; the
    clock is set in between."""
    clock = WrongClock.of_1970(tmp_path)
    host = lan.host()
    lamp = up(plug(host, "Lamp", paired=False, as_user=clock.words))
    assert "1970-01-01T" in lamp.running.transcript(), lamp.running.transcript()
    person = controller(lan.host())
    person.does("pair", "Lamp", "--code-file", lamp.setup_code())
    lines = person.watch("Lamp")
    lines.seen_object(lambda told: told["event"] == "snapshot", 20, "the state")
    lamp.press()
    pressed = lines.seen_object(lambda told: told["event"] == "relay" and told["cause"] == "button", 10, "the press").json
    assert not pressed["at"].startswith("1970") and pressed["age"] < 2, pressed
    clock.is_set()
    lamp.press()
    again = lines.seen_object(
        lambda told: told["event"] == "relay" and told["seq"] > pressed["seq"], 10, "the second press").json
    assert again["age"] < 2 and not [line for line in lines.lines if '"disconnected"' in line.text], lines.transcript()
    assert person.doctor("--wait", "1s").status == 0
    lamp.running.process.kill()
    lamp.running.ended(5)
    lamp = up(plug(host, "Lamp", paired=False, state=lamp.state, as_user=clock.words))
    lines.seen_object(lambda told: told["event"] == "restarted" and not told["powerLost"], 20, "the restart")
    assert not [line for line in lines.lines if '"gap"' in line.text], lines.transcript()


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGILL, signal.SIGABRT], ids=lambda number: number.name)
def test_a_crash_is_kept_and_told_to_who_looks_for_it(lan, plug, controller, number):
    """A crash is logged, stored and reported by `plugctl doctor`."""
    host = lan.host()
    lamp = up(plug(host, "Lamp"))
    lamp.running.process.send_signal(number)
    assert lamp.running.ended(10) == -number, "the exit status is not that of the signal"
    lamp = up(plug(host, "Lamp", state=lamp.state))
    assert "the firmware crashed in an earlier run" in lamp.running.transcript(), lamp.running.transcript()
    crash = lamp.status()["crash"]
    assert crash["count"] == 1 and crash["age"] < 30, crash
    report = crash["report"].splitlines()
    assert report[0] == "crash 1 of this boot" and report[1].startswith("firmware "), report
    assert any(line.startswith("build ") for line in report) and f"signal {number.name}" in crash["report"], report
    done = controller(lan.host()).doctor("--wait", "2s")
    [found] = [told for told in done.objects if told["subject"] == "plug" and "its firmware crashed" in told["what"]]
    assert found["level"] == "warning" and number.name in found["what"] and "once" in found["what"], done
    assert "build " in found["why"] and "journalctl" in found["next"], done
    kept = (lamp.state / "crash").read_text()
    lamp.running.process.kill()
    lamp.running.ended(5)
    lamp = up(plug(host, "Lamp", state=lamp.state))
    crash = lamp.status()["crash"]
    assert crash["count"] == 2 and "killed" in crash["report"], crash
    assert (lamp.state / "crash").read_text() == kept, "the report in flash was written twice in one boot"


def test_a_rule_by_the_clock_runs_in_the_second_that_it_names_and_not_before(lan, controller, tmp_path):
    """A rule with a cron time fires at the start of the minute, whatever the offset between the wall clock and the
    monotonic clock."""
    for count, part in enumerate((0.1, 0.35, 0.6, 0.85)):
        rules = tmp_path / f"{count}.yaml"
        rules.write_text('- rule: Minute\n  when: { cron: "* * * * *" }\n  then: { notify: "It is {time}" }\n')
        # The program starts about six seconds before a full minute; `part` varies the offset between the two clocks.
        clock = WrongClock(tmp_path, -time.time() % 60 - 6 + part - time.clock_gettime(time.CLOCK_BOOTTIME) % 1)
        person = controller(lan.host())
        person.under(clock.words)
        lines = person.start("rules", "run", "--json", rules)
        fired = lines.seen_object(lambda told: told["event"] == "firing", 20, "the firing").json
        # A rule that runs too early shows the last second of the previous minute.
        assert fired["at"][17:19] == "00", fired
        lines.stop()


def test_an_orderly_stop_is_no_crash(lan, plug):
    """An orderly stop is not reported as a crash."""
    host = lan.host()
    lamp = up(plug(host, "Lamp"))
    lamp.running.terminate()
    assert lamp.running.ended(10) == 0
    lamp = up(plug(host, "Lamp", state=lamp.state))
    assert "crash" not in lamp.status() and "crashed" not in lamp.running.transcript()


def test_a_root_that_cannot_be_written_is_enough(lan, plug, controller, tmp_path):
    """With a read-only root file system the plug writes only to its two directories, without any warning."""
    folders = {name: tmp_path / name for name in ("state", "runtime")}
    for folder in folders.values():
        folder.mkdir(mode=0o700)
    # /, /run and /tmp are made read-only, except these two directories. The plug does not start if one of the places is writable.
    prepare = "; ".join(
        [f"mount --bind {folder} {folder}" for folder in folders.values()]
        + [f"mount -o remount,bind,ro {place} 2>/dev/null || true" for place in ("/", "/run", "/tmp")]
        + [f"touch {place}/written 2>/dev/null && exit 99 || true" for place in ("", "/run", "/tmp", tmp_path)])
    host = lan.host()
    lamp = up(plug(host, "Lamp", **folders, prepare=prepare, paired=False))
    person = controller(lan.host())
    person.does("pair", "Lamp", "--code-file", lamp.setup_code())
    person.does("on", "Lamp")
    lamp.press()
    eventually(lambda: lamp.status()["relay"] == "off", 5, "the relay off")
    lamp.running.terminate()
    assert lamp.running.ended(10) == 0
    complaints = [line.text for line in lamp.running.lines if " warning " in line.text or " error " in line.text]
    assert not complaints, complaints
