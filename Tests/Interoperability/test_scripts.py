"""Tests of scripts in Lua: the examples in backtests, scripts in the daemon, and misbehaving scripts next to others."""

import json
import pathlib
import subprocess

import pytest

from deadlines import eventually
from harness.recorded_days import Past, firings, hours

EXAMPLES = pathlib.Path(__file__).parents[2] / "Controller/Examples"


@pytest.fixture
def past(programs, tmp_path):
    return Past(programs, tmp_path)


@pytest.fixture
def evening(past):
    """A power peak of 2 s at 19:00, then two films; the amplifier is switched on 42 s after the first film begins."""
    on, off = hours(20, 15), hours(22, 15)
    past.holds("Television", [(hours(18), 1), (hours(19), 90), (hours(19) + 2, 1), (on, 90), (off, 1), (hours(22, 30), 120),
                              (hours(23), 1), (hours(23, 30), 1)])
    past.holds("Amplifier", [(hours(18), 0), (on + 42, 45), (off - 60, 0), (hours(23, 30), 0)])
    return past


def said(records):
    return [step["what"] for record in records if record["event"] == "firing" for step in record["steps"]]


# MARK: The examples

def test_the_television_does_in_lua_what_it_does_in_yaml(evening):
    """The Lua and the YAML version of the television example give the same backtest."""
    lua = evening.backtest(EXAMPLES / "television.lua")
    yaml = evening.backtest(EXAMPLES / "television.yaml")
    # The peak is too short to fire "Movie night", but its fall fires "Movie over".
    assert len(firings(yaml, "Movie night")) == 2 and len(firings(yaml, "Movie over")) == 3
    lines = (EXAMPLES / "television.lua").read_text().splitlines()
    calls = [f"television.lua:{number}" for number, line in enumerate(lines, 1) if line.startswith("on(")]
    names = dict(zip(("Movie night", "Movie over"), calls))
    renamed = [{**record, "rule": names[record["rule"]]} if "rule" in record else record for record in yaml]
    # The summaries at the end are sorted by name.
    def order(record):
        return calls.index(record["rule"]) if record["event"] == "summary" else 0
    assert len(calls) == 2 and sorted(lua, key=order) == sorted(renamed, key=order)


def test_a_script_is_compared_with_itself(evening):
    """A backtest against the same script finds equal firings, and repeated runs print the same."""
    records = evening.backtest(EXAMPLES / "television.lua", "--against", EXAMPLES / "television.lua")
    assert [record["event"] for record in records] == ["comparison"] and records[0]["firings"] == 5
    assert len({evening.run("rules", "backtest", EXAMPLES / "television.lua", "--verbose") for _ in range(3)}) == 1


def test_washes_are_counted_over_days(past):
    """The example counts washes over days and resets the count weekly."""
    wash = [(0, 2000), (600, 150), (3000, 400), (3600, 1.0)]
    points = [(hours(8), 0.5)]
    for begin in (hours(9), hours(12), hours(15)):
        points += [(begin + second, watts) for second, watts in wash]
    # 20 November 2026 is a Friday.
    past.holds("Washing Machine", [*points, (hours(20), 0.5)])
    records = past.backtest(EXAMPLES / "washes.lua", "--from", "2026-11-20", "--to", "2026-11-30")
    log = [line for line in said(records) if line.startswith("log: ")]
    assert log == [f"log: wash {number} of this week" for number in (1, 2, 3)]
    notes = [line for line in said(records) if line.startswith("notify: ")]
    assert notes == ["notify: Laundry: Washes this week: 3.", "notify: Laundry: Washes this week: 0."]


def test_the_load_stays_below_the_sum(past):
    """The boiler is switched off while the sum of loads exceeds the limit."""
    evening = hours(18)
    past.holds("Boiler", [(evening, 1800), (evening + 7200, 1800)])
    past.holds("Dryer", [(evening, 0), (evening + 600, 900), (evening + 3600, 0), (evening + 7200, 0)])
    past.holds("Washing Machine", [(evening, 0), (evening + 1230, 1500), (evening + 2430, 0), (evening + 7200, 0)])
    records = past.backtest(EXAMPLES / "load.lua")
    steps = [(step["at"][11:19], step["what"]) for record in records if record["event"] == "firing" for step in record["steps"]
             if step["what"].startswith("turn")]
    # `at` is in UTC, one hour behind local time.
    assert steps == [("17:20:32", "turn off Boiler"), ("17:41:00", "turn on Boiler")]
    assert any(line.startswith("log: Boiler goes off: 4200 W are more than 3000 W") for line in said(records))


def test_presence_is_another_each_evening_and_the_same_each_time(past):
    """The presence script uses different times each evening, and the same times in each backtest."""
    past.holds("Hall Light", [(hours(12), 5), (hours(13), 5)])
    script = past.rules((EXAMPLES / "presence.lua").read_text().replace("if not state.away then return end", ""), "presence.lua")
    words = ["rules", "backtest", script, "--from", "2026-11-20", "--to", "2026-11-24"]
    text = past.run(*words)
    assert text == past.run(*words)
    records = past.backtest(script, "--from", "2026-11-20", "--to", "2026-11-24")
    switched = [(step["at"], step["what"]) for record in records if record["event"] == "firing" for step in record["steps"]
                if step["what"].startswith("turn")]
    on = [at for at, what in switched if what.startswith("turn on")]
    assert len(switched) == 4 * 6 and len({at[11:] for at in on}) == 12
    assert all("17:00" <= at[11:16] <= "19:00" for at in on)


def test_nothing_pretends_while_somebody_is_at_home(past):
    """Without the state "away" the presence script does nothing."""
    past.holds("Hall Light", [(hours(12), 5), (hours(13), 5)])
    records = past.backtest(EXAMPLES / "presence.lua", "--from", "2026-11-20", "--to", "2026-11-24")
    assert said(records) == []


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.lua")))
def test_every_example_is_checked(programs, tmp_path, name):
    """`plugctl rules check --strict` accepts each Lua example."""
    done = subprocess.run([programs / "plugctl", "rules", "check", "--offline", "--strict", EXAMPLES / name],
                          capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "") and "no errors" in done.stdout


# MARK: Faulty scripts

def check(programs, file, *words):
    done = subprocess.run([programs / "plugctl", "rules", "check", "--offline", *words, file],
                          capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("text, line, words", [
    ("on('Lamp', 'relay', 'on', function()\n", 2, "'end' expected"),
    ("\nlamp.on()\n", 2, "nil value (global 'lamp')"),
    ("on('Lamp', 'rises over', 40, print)\n", 1, "rises over"),
    ("on('Lamp', 'rises above', 'much', function() end)\n", 1, "much"),
    ("\n\nwhile true do end\n", 3, "1 s"),
    ("local t = {}\nfor i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end\n", 2, "memory"),
    ("\nio.open('/etc/passwd')\n", 2, "scripts can"),
    ("os.execute('true')\n", 1, "scripts can"),
])
def test_a_check_names_the_line(programs, tmp_path, text, line, words):
    """A faulty script is reported with its line and reason."""
    file = tmp_path / "wrong.lua"
    file.write_text(text)
    status, told = check(programs, file)
    assert status == 1 and f"{file}:{line}:" in told and words in told, told


def test_a_check_warns_of_a_name_that_no_plug_has(past):
    """A plug name that is not in the history is a warning with a suggestion."""
    past.holds("Ceiling Light", [(hours(18), 1), (hours(19), 1)])
    script = past.rules("on('Ceiling Light', 'relay', 'on', function()\n  plug('Celing Light'):off()\nend)\n", "names.lua")
    done = subprocess.run(
        [past.programs / "plugctl", "rules", "check", "--json", "--history", past.folder / "history", script],
        capture_output=True, text=True, timeout=30)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["line"], each["severity"], each["hint"]) for each in found] == [(2, "warning", 'did you mean "Ceiling Light"?')]
    assert done.returncode == 0


# MARK: In the daemon

HALL = """\
state.presses = state.presses or 0
on("Switch", "button", "double", function(event)
  state.presses = state.presses + 1
  plug("Lamp"):toggle()
  log("press " .. state.presses)
end)
"""
# One double press calls all these scripts, and each is stopped with the stated reason.
WRONG = {
    "loop.lua": ("while true do end", "1 s"),
    "pattern.lua": ('string.find(("a"):rep(40), ("a?"):rep(40) .. ("a"):rep(40))', "1 s"),
    "bomb.lua": ("local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end", "memory"),
    "file.lua": ("io.open('/etc/passwd')", "scripts can"),
    "fork.lua": ("os.execute('true')", "scripts can"),
    "index.lua": ("local lamp = nil; lamp.x = 1", "nil value"),
}


def scripts(tmp_path, **texts):
    folder = tmp_path / "scripts"
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def told(lines, event, within=15, **fields):
    def fits(record):
        return record["event"] == event and all(record.get(key) == value for key, value in fields.items())
    return lines.seen_object(fits, within, f"{event} {fields}").json


def test_a_press_calls_a_function_whose_state_outlives_the_daemon(lan, plug, controller, tmp_path):
    """A press calls the function, and the script's state survives a kill of the daemon."""
    switch, lamp = plug(lan.host(), "Switch"), plug(lan.host(), "Lamp", simulate="lamp")
    folder = scripts(tmp_path, hall_lua=HALL)
    person = controller(lan.host())
    lines = person.daemon(folder)
    lines.seen_object(lambda record: record.get("plugs") == 2, 10, "following 2 plugs")
    before = lamp.status()["relay"]
    assert switch.press("--double").status == 0
    assert told(lines, "scriptLog")["log"] == ["press 1"]
    told(lines, "command", plug="Lamp", outcome="done")
    assert lamp.status()["relay"] != before
    lines.process.kill()
    lines.ended(within=5)
    lines = person.daemon(folder)
    lines.seen_object(lambda record: record.get("plugs") == 2, 10, "following 2 plugs")
    assert switch.press("--double").status == 0
    assert told(lines, "scriptLog")["log"] == ["press 2"]


def test_each_that_misbehaves_is_named_and_the_others_go_on(lan, plug, controller, tmp_path):
    """Each misbehaving script is stopped with its reason, and the others run."""
    switch, lamp = plug(lan.host(), "Switch"), plug(lan.host(), "Lamp", simulate="lamp")
    folder = scripts(tmp_path, hall_lua=HALL)
    for name, (body, _) in WRONG.items():
        (folder / name).write_text(f'on("Switch", "button", "double", function()\n  {body}\nend)\n')
    lines = controller(lan.host()).daemon(folder)
    lines.seen_object(lambda record: record.get("plugs") == 2, 10, "following 2 plugs")
    assert switch.press("--double").status == 0
    told(lines, "command", plug="Lamp", outcome="done")
    for name, (_, words) in WRONG.items():
        failed = told(lines, "callFailed", script=name)
        assert words in failed["why"] or "killed" in failed["why"], failed
    assert switch.press("--double").status == 0
    assert lines.seen_object(lambda record: record.get("log") == ["press 2"], 10, "the next press")


def test_a_thousand_commands_are_sixty_and_that_is_told(lan, plug, controller, tmp_path):
    """A call may send 60 commands; the others are reported as held back."""
    switch, lamp = plug(lan.host(), "Switch"), plug(lan.host(), "Lamp", simulate="lamp")
    text = 'on("Switch", "button", "double", function()\n  for i = 1, 250 do plug("Lamp"):toggle() end\nend)\n'
    lines = controller(lan.host()).daemon(scripts(tmp_path, many_lua=text))
    lines.seen_object(lambda record: record.get("plugs") == 2, 10, "following 2 plugs")
    assert switch.press("--double").status == 0
    assert told(lines, "commandsHeldBack", script="many.lua")["count"] == 190


def test_a_file_that_changes_is_loaded_anew_and_a_broken_one_goes_on(lan, plug, controller, tmp_path):
    """A changed script is reloaded with its state; with an error in the file, the last valid version stays active."""
    switch, lamp = plug(lan.host(), "Switch"), plug(lan.host(), "Lamp", simulate="lamp")
    folder = scripts(tmp_path, hall_lua=HALL)
    lines = controller(lan.host()).daemon(folder)
    lines.seen_object(lambda record: record.get("plugs") == 2, 10, "following 2 plugs")
    assert switch.press("--double").status == 0
    told(lines, "scriptLog")
    (folder / "hall.lua").write_text(HALL.replace('"press "', '"button "'))
    told(lines, "rulesChanged", rules=["hall.lua:2"])
    assert switch.press("--double").status == 0
    lines.seen_object(lambda record: record.get("log") == ["button 2"], 10, "the new text with the previous state")
    (folder / "hall.lua").write_text("on(")
    broken = told(lines, "fileBroken")
    assert "hall.lua:1:" in broken["why"]
    assert switch.press("--double").status == 0
    lines.seen_object(lambda record: record.get("log") == ["button 3"], 10, "the last valid version")


def test_commands_about_rules_know_a_scripts_functions(lan, plug, controller, tmp_path):
    """Rule commands work with the functions of scripts."""
    switch, lamp = plug(lan.host(), "Switch"), plug(lan.host(), "Lamp", simulate="lamp")
    person = controller(lan.host())
    lines = person.daemon(scripts(tmp_path, hall_lua=HALL))
    lines.seen_object(lambda record: record.get("plugs") == 2, 10, "following 2 plugs")
    person.through(tmp_path / "daemon.socket")
    assert "  script     hall.lua runs" in person.does("rules", "state").output
    person.does("rules", "disable", "hall.lua:2")
    assert switch.press("--double").status == 0
    told(lines, "heldBack", rule="hall.lua:2")
    person.does("rules", "enable", "hall.lua:2")
    person.does("rules", "fire", "hall.lua:2")
    told(lines, "scriptLog", rule="hall.lua:2")
    explain = "rules", "explain", "hall.lua:2", "--history", tmp_path / "history"
    eventually(lambda: "log: press 1" in person.finish(*explain).output, 10, lambda: "a stored trace")
