"""Tests of the functions for scripts. Each function has the same result as the corresponding entry of a rule file, and
each misuse is an error with its line."""

import pytest

from harness.script_host import AT, ScriptHost


@pytest.fixture
def host(programs):
    with ScriptHost(programs / "plugctl-script") as host:
        yield host


def rules(host, *lines):
    answer = host.load("local function f() end\n" + "\n".join(lines))
    assert "loaded" in answer, answer
    return [{key: value for key, value in rule.items() if key != "line"} for rule in answer["loaded"]["rules"]]


def act(host, body, **fields):
    """Returns the answer to a call of a function with this body."""
    assert "loaded" in host.load('on("A", "button", "long", function(event) ' + body + " end)", **fields.pop("load", {}))
    return host.call(**fields)


def done(host, body, **fields):
    answer = act(host, body, **fields)
    assert "done" in answer, answer
    return answer["done"]


TRIGGERS = [
    ('on("TV", "rises above", 40, f)', {"when": {"plug": "TV", "active power": {"rises above": "40 W"}}}),
    ('on("TV", "falls below", "1.5 kW", {lasting = 3, hysteresis = 0.25}, f)',
     {"when": {"plug": "TV", "active power": {"falls below": "1.5 kW", "for": "3 s", "hysteresis": "0.25 W"}}}),
    ('on("TV", "rises above", 40, {["for"] = "3 min"}, f)',
     {"when": {"plug": "TV", "active power": {"rises above": "40 W", "for": "3 min"}}}),
    ('on("TV", "stays between", {5, 40.5}, {lasting = "1 h"}, f)',
     {"when": {"plug": "TV", "active power": {"stays between": ["5 W", "40.5 W"], "for": "1 h"}}}),
    ('on("TV", "energy exceeds", 2000, {since = "day"}, f)',
     {"when": {"plug": "TV", "active energy": {"exceeds": "2000 Wh", "since": "day"}}}),
    ('on("Hall", "button", "pressed", f)', {"when": {"plug": "Hall", "button": "pressed"}}),
    ('on("Hall", "relay", "on", {cooldown = 10}, f)', {"when": {"plug": "Hall", "relay": "on"}, "cooldown": "10 s"}),
    ('on("Hall", "connection", "lost", {lasting = 120}, f)', {"when": {"plug": "Hall", "connection": "lost", "for": "120 s"}}),
    ('on("Hall", "protection", "tripped", f)', {"when": {"plug": "Hall", "protection": "tripped"}}),
    ('on("Hall", "appliance", "finished", {cycle = "programme"}, f)',
     {"when": {"plug": "Hall", "appliance": "finished", "cycle": "programme"}}),
    ('on("timer", "lights out", f)', {"when": {"timer": "lights out"}}),
    ('on("timer", "lights out", {cooldown = "1 s"}, f)', {"when": {"timer": "lights out"}, "cooldown": "1 s"}),
    ('on("timer", "rises above", 40, f)', {"when": {"plug": "timer", "active power": {"rises above": "40 W"}}}),
    ('on("Hall", "button", "long", {name = "good night"}, f)', {"when": {"plug": "Hall", "button": "long"}, "name": "good night"}),
    ('on("rule", "Movie night", f)', {"when": {"rule": "Movie night"}}),
    ('at("07:30", {weekdays = {"sat", "sun"}}, f)', {"when": {"time": "07:30", "weekdays": ["sat", "sun"]}}),
    ('at("sunset", {offset = -1800, weekdays = "mon"}, f)', {"when": {"sun": "sunset", "offset": "-1800 s", "weekdays": "mon"}}),
    ('at("sunrise", f)', {"when": {"sun": "sunrise"}}),
    ('cron("*/15 * * * *", f)', {"when": {"cron": "*/15 * * * *"}}),
    ('on("A", "button", "long", {late = "accept", away = {remember = 7200}, limit = {firings = 6, per = 3600}}, f)',
     {"when": {"plug": "A", "button": "long"}, "late": "accept", "away": {"remember": "7200 s"}, "limit": {"firings": 6, "per": "3600 s"}}),
    ('on("A", "button", "long", {late = 600, away = "2 h"}, f)',
     {"when": {"plug": "A", "button": "long"}, "late": {"accept": "600 s"}, "away": {"remember": "2 h"}}),
]


@pytest.mark.parametrize(("line", "rule"), TRIGGERS)
def test_trigger_is_that_of_rule_files(host, line, rule):
    """A trigger of a script equals that of a rule file."""
    assert rules(host, line) == [rule]


def test_rules_stand_in_their_order_with_their_lines(host):
    """Rules are listed in the order of registration, with their lines."""
    answer = host.load('\n\non("A", "button", "long",\n  function() log(1) end)\nfor _, name in ipairs{"B", "C"} do\n'
                       '  on(name, "button", "long", function() log(name) end)\nend')
    assert [rule["line"] for rule in answer["loaded"]["rules"]] == [3, 6, 6]
    assert [host.call(index)["done"]["log"] for index in range(3)] == [["1"], ["B"], ["C"]]


@pytest.mark.parametrize(("text", "line"), [
    ('return at("07:30", function() end)', 1),
    ('coroutine.wrap(on)("A", "button", "long", function()\nend)', 1),
    ('local function f()\nend\n\nreturn cron("* * * * *", f)', 1),
    ('local function add() return at("07:30",\n  function() end) end\n\nadd()', 4),
])
def test_line_of_a_tail_call_is_that_of_its_function(host, text, line):
    """A registration by a tail call has the line of the innermost statement of the script that still runs, or else the line of the registered function."""
    assert host.load(text)["loaded"]["rules"][0]["line"] == line


def test_rule_that_stands_at_no_line_is_told(host):
    """A registration without a line in the script is refused."""
    assert host.load('return at("07:30", print)')["failed"]["error"].startswith("at(...) is called, but Lua cannot determine the line\nhint: ")


def test_script_without_rules_has_an_empty_list(host):
    assert host.load("") == {"loaded": {"rules": []}}


ACTIONS = [
    ('plug("Lamp"):on()', {"turn on": "Lamp"}),
    ('plug("Fan"):on{lasting = "15 min"}', {"turn on": {"plug": "Fan", "for": "900 s"}}),
    ('plug("Fan"):on{["for"] = 2.5}', {"turn on": {"plug": "Fan", "for": "2.5 s"}}),
    ('plug("Lamp"):off()', {"turn off": "Lamp"}), ('plug("Lamp"):toggle()', {"toggle": "Lamp"}),
    ('plug("Lamp"):restore()', {"restore": "Lamp"}),
    ('plug("Lamp"):dim(40, {over = 2})', {"dim": {"plug": "Lamp", "to": "40 %", "over": "2 s"}}),
    ('plug("Lamp"):dim(1 / 3)', {"dim": {"plug": "Lamp", "to": "0.333333 %"}}),
    ('plug("Lamp"):brighten(-10, {over = "1 min"})', {"dim": {"plug": "Lamp", "by": "-10 %", "over": "60 s"}}),
    ('notify("Done")', {"notify": "Done"}),
    ('notify{title = "Laundry", text = "{plug} is done"}', {"notify": {"title": "Laundry", "text": "{plug} is done"}}),
    ('run{"logger", "", "a b"}', {"run": ["logger", "", "a b"]}),
    ('run{command = {"logger"}, timeout = 10}', {"run": {"command": ["logger"], "timeout": "10 s"}}),
    ('wake("Media Server")', {"wake": "Media Server"}),
    ('webhook("https://a/b")', {"web hook": "https://a/b"}),
    ('webhook{url = "https://a/b", method = "PUT", body = "x"}', {"web hook": {"url": "https://a/b", "method": "PUT", "body": "x"}}),
]


@pytest.mark.parametrize(("line", "action"), ACTIONS)
def test_action_is_that_of_rule_files(host, line, action):
    """An action of a script equals that of a rule file."""
    assert done(host, line) == {"then": [action]}


def test_timers_count_as_they_are_in_the_end(host):
    """Each timer is reported once, with its final setting."""
    assert done(host, 'timer("a"):start("10 min") timer("b"):start(1) timer("a"):stop() timer("c"):stop()')["timers"] == [
        {"name": "a"}, {"name": "b", "after": 1}, {"name": "c"}]


def test_plug_is_what_was_told_last(host):
    """A plug has the values that the controller sent last. A missing value is nil. A plug without values is not connected."""
    body = ('local l = plug("lamp") log(l:isOn(), l:level(), l:power(), l:isConnected()) '
            'local x = plug("Unknown") log(x:isOn(), x:level(), x:power(), x:isConnected(), tostring(l))')
    lamp = {"name": "Lamp", "connected": True, "on": False, "level": 40, "power": 3.2}
    assert done(host, body, plugs=[lamp])["log"] == ["false 40 3.2 true", "nil nil nil false lamp"]
    assert host.call()["done"]["log"][0] == "false 40 3.2 true"
    assert host.call(plugs=[{"name": "Lamp", "connected": False}])["done"]["log"][0] == "nil nil nil false"


def test_event_has_what_happened(host):
    """The event has the fields of the call."""
    event = {"id": "ab", "rule": "test.lua:1", "why": "it rose", "plug": "TV", "value": 86.5}
    assert done(host, "log(event.id, event.rule, event.why, event.plug, event.value, event.other)", event=event)["log"] == [
        "ab test.lua:1 it rose TV 86.5 nil"]


WRONG = [
    ('plug("Lamp"):dimm(4)', "a plug has no 'dimm'\nhint: did you mean 'dim'?"),
    ("plug('Lamp'):dim('40')", "the level of dim must be a number, not '40'"), ("plug('Lamp'):dim(0/0)", "the level of dim must be a number, not"),
    ("plug('Lamp'):dim(140)", "the level of dim must be 0 to 100, not 140"),
    ("plug('Lamp'):dim(40, {ower = 2})", "dim has no option 'ower'\nhint: did you mean 'over'?"),
    ("plug('Lamp'):dim(40, {over = 5000})", "the time of dim must be 0 to 3600 seconds, not 5000"),
    ("plug('Lamp').on()", "'on' belongs to a plug\nhint: write plug(\"Lamp\"):on(...), with a colon"),
    ("plug(7)", "the name of a plug must be text, not 7"), ("plug(('x'):rep(64))", "the name of a plug must have 1 to 63 bytes, not 64"),
    ("plug('\\xff')", "the name of a plug is not valid UTF-8: '?'"),
    ("plug('A').x = 1", "a plug stores no values\nhint: store values in state"),
    ("timer('a'):start('soon')", "the time of a timer must be a duration, not 'soon'\nhint: write seconds, or text such as \"3 s\""),
    ("notify{text = 5}", "a notification's text must be text, not 5"), ("notify()", "a notification must be text, not nil"),
    ("run('')", "a word of a command must have 1 to 1000 bytes, not 0"), ("run{a = 1}", "a command must be a list of text, not a table"),
    ("webhook{}", "an address must be text, not nil"), ("on('A', 'button', 'long', log)", "on(...) works only while the script is being loaded"),
    ("lamp:on()", "attempt to index a nil value (global 'lamp')"), ("state = 5", "state must be a table, not 5"),
    ("local x <const> = 1 / {}", "attempt to perform arithmetic on a table value"),
]


@pytest.mark.parametrize(("body", "words"), WRONG)
def test_misuse_in_a_call_is_told_with_its_line(host, body, words):
    error = act(host, "\n" + body)["failed"]["error"]
    place = "" if body.startswith("state") else "test.lua:2: "
    assert error.startswith(place + words), error


WRONG_AT_LOAD = [
    ("on('A', 'rises abov', 4, f)", "a plug has no trigger 'rises abov'\nhint: did you mean 'rises above'?"),
    ("on('A', 'rises above', 4)", "the last argument of on must be a function, not nil"),
    ("on('A', 'rises above', nil, f)", "the power of 'rises above' must be text or a number, not nil"),
    ("on('A', 'rises above', 1/0, f)", "a number is required, not inf"), ("on('A', 'button', 5, f)", "'button' must be followed by a word, not 5"),
    ("on('A', 'button', 'long', {lasting = 3}, f)", "on has no option 'lasting'"),
    ("on('A', 'button', 'long', {limit = {firings = 1/0}}, f)", "'limit' must be a number, not inf"),
    ("at('07:30', {weekdays = {[1000000] = 'mon'}}, f)", "'weekdays' must be a day or a list of days"),
    ("at(7, f)", "the time of at must be text, not 7"), ("plug('A'):on()", "on works only in a function that an event calls"),
    ("timer('a'):start(1)", "start of a timer works only in a function that an event calls"),
    ("for i = 1, 65 do cron('* * * * *', f) end", "a script may call on(...), at(...) and cron(...) at most 64 times in total"),
    ("on('A', 'energy exceeds', 1, {since = {[true] = 'x'}}, f)", "a name in 'since' must be text, not true"),
    ("on('A', 'energy exceeds', 1, {since = {[1000] = 'x'}}, f)", "a name in 'since' must be text, not 1000"),
    ("on('A', 'energy exceeds', 1, {since = {[0] = 'x', 'y', nil, 'z'}}, f)", "a name in 'since' must be text, not"),
    ("on('A', 'energy exceeds', 1, {since = {x = {}}}, f)", "'since' must be text or a number, not a table"),
    ("on('A', 'energy exceeds', 1, {since = {x = print}}, f)", "'since' must be text or a number, not a function"),
    ("local many = {} for i = 1, 24000 do many['k' .. i] = 1 end on('A', 'energy exceeds', 1, {since = many}, f)",
     "'since' has at most 32 entries"),
    ("local list = {} for i = 1, 32 do list[i] = ('\\1'):rep(1000) end on('A', 'energy exceeds', 1, {since = list}, f)",
     "the script's triggers exceed 128 KiB"),
    ("x = = 1", "unexpected symbol near '='"), ("error('mine')", "mine"), ("f.x.y = 1", "attempt to index a function value"),
]


@pytest.mark.parametrize(("line", "words"), WRONG_AT_LOAD)
def test_misuse_at_load_is_told_with_its_line(host, line, words):
    answer = host.load("local function f() end\n\n" + line)
    assert answer["failed"]["error"].startswith("test.lua:3: " + words), answer


# MARK: - State

def test_state_comes_back_as_it_was_told(host):
    """Stored state is returned unchanged, but without entries whose value is null."""
    state = {"n": 3, "half": 0.5, "text": "\"\\é\n", "list": [1, [2], {}], "deep": {"a": {"b": [True, False]}}, "none": None}
    body = "log(state.n, math.type(state.n), state.half, #state.list, state.deep.a.b[2], state.none) state.n = state.n + 1"
    answer = done(host, body, load={"state": state})
    assert answer["log"] == ["3 integer 0.5 3 false nil"]
    assert answer["state"] == {key: value for key, value in state.items() if key != "none"} | {"n": 4}


def test_state_is_told_only_if_it_changed(host):
    """Unchanged state is not reported."""
    assert "state" not in done(host, "state.n = 1 state.n = state.old", load={"state": {"old": 1, "n": 1}})


def test_floats_come_back_exactly(host):
    """Floating-point numbers in the state are stored exactly."""
    values = [0.1, 1 / 3, 1e300, 5e-324, 123456789.123456789, 2.0**52 + 0.5]
    source = 'on("A", "button", "long", function() state.list = {' + ", ".join(map(repr, values)) + "} end)"
    host.load(source)
    assert host.call()["done"]["state"]["list"] == values


def test_floats_that_no_whole_number_holds_exactly_come_back_too(host, programs):
    """Large floating-point numbers without a fraction are stored exactly."""
    values = [1e17, -1e17, 2.0**53, 2.0**53 + 2, -(2.0**63), 1e300]
    state = done(host, "state.list = {" + ", ".join(map(repr, values)) + "}")["state"]
    with ScriptHost(programs / "plugctl-script") as other:
        assert act(other, "log(#state.list) error('x')", load={"state": state})["failed"]["log"] == ["6"]
        assert other.call()["failed"]["log"] == ["6"], "the state after a failed call"
        assert state["list"] == values


def test_state_that_cannot_be_kept_is_told_at_load(host):
    """State that cannot be stored is an error at load."""
    host.send(b'{"load":{"name":"test.lua","source":"","state":{"n":1e999}}}\n')
    assert host.receive()["failed"]["error"].startswith("state.n is inf, which cannot be stored")
    assert host.call() == {"failed": {"error": "no script is loaded"}}


@pytest.mark.parametrize(("change", "words"), [
    ("state.f = log", "state.f is a function, which cannot be stored"),
    ("state.a = {b = {coroutine.create(log)}}", "state.a.b[1] is a thread"),
    ("state.self = state", "state.self contains itself"), ("state.x = {} state.x.y = {z = state.x}", "state.x.y.z contains itself"),
    ("state.n = 0/0", "state.n is"), ("state.n = math.huge", "state.n is inf, which cannot be stored"),
    ("state.n = 1 << 60", "state.n is an integer that JSON cannot store exactly"),
    ("state.t = {1, 2, a = 3}", "state.t has numbers and text as keys"), ("state.t = {[2] = 1}", "state.t has gaps between its numeric keys"),
    ("state = {1}", "state has numbers as keys"), ("state.t = {[1.5] = 1}", "state.t has 1.5 as a key"),
    ("state.s = '\\xff'", "state.s is not valid UTF-8"),
    ("local t = state for i = 1, 40 do t.t = {} t = t.t end", "state.t.t.t"), ("state.s = ('x'):rep(70000)", "state is larger than 64 KiB"),
    ("state.t = {} for i = 1, 100000 do state.t[i] = i end", "state is larger than 64 KiB"), ("state = nil", "state must be a table, not nil"),
    ("state.p = plug('A') state.q = setmetatable({}, {__index = log, __pairs = error})", None),
])
def test_what_cannot_be_kept_is_told_with_its_path(host, change, words):
    """State that cannot be stored is an error with its path, and the previous state is kept."""
    answer = act(host, change, load={"state": {"before": 1}})
    if words is None:
        assert answer["done"]["state"] == {"before": 1, "p": {}, "q": {}}
        return
    assert answer["failed"]["error"].startswith(words), answer
    host.call()
    assert host.call() == answer, "the state was not restored each time"


# MARK: - Time and random numbers

def test_time_is_the_controllers(host):
    """Time and time zone are those of the controller's request."""
    body = ("log(os.time(), os.date('%Y-%m-%d %H:%M:%S %z'), os.date('!%H %%z'), os.date('*t').hour, "
            "os.time{year=2023, month=11, day=14, hour=23, min=13, sec=20})")
    assert done(host, body, offset=3600)["log"] == ["1700000000 2023-11-14 23:13:20 +0100 22 %z 23 1700000000"]
    assert host.call(at=0)["done"]["log"][0].startswith("0 1970-01-01 00:00:00 +0000")
    assert host.call(at=AT, offset=-12600)["done"]["log"][0].startswith("1700000000 2023-11-14 18:43:20 -0330")


@pytest.mark.parametrize("call", ["os.date('%Ez')", "os.date({})", "os.date('%c', 'x')", "os.time{}", "os.time(5)", "os.date('%c', 1e300)"])
def test_misuse_of_time_is_told_with_its_line(host, call):
    assert act(host, call)["failed"]["error"].startswith("test.lua:1: "), call


def test_chance_is_the_same_for_the_same_script_and_time(programs):
    """Random numbers depend only on the script's name and the time."""
    source = ('local first = math.random(1 << 50) on("A", "button", "long", function() '
              "log(first, math.random(1 << 50), math.random()) math.randomseed() end)")
    answers = []
    for name, at in [("a.lua", 1), ("a.lua", 1), ("b.lua", 1), ("a.lua", 2)]:
        with ScriptHost(programs / "plugctl-script", name) as host:
            host.load(source, at=at)
            answers.append([host.call()["done"]["log"] for _ in range(2)])
    assert answers[0] == answers[1]
    assert answers[0] != answers[2] and answers[0] != answers[3]


def test_log_has_its_limits(host):
    """The log is limited to 100 lines of 500 bytes."""
    log = done(host, "for i = 1, 200 do log(i, ('é'):rep(300)) end log('\\27[2J\\n', {}, nil)")["log"]
    assert len(log) == 100 and log[-1] == "further lines are left out"
    assert all(len(line.encode()) <= 500 for line in log) and log[0].endswith("…")


@pytest.mark.parametrize("body", [
    "for i = 1, 256 do notify(('x'):rep(1900)) end",
    "local w = {} for i = 1, 64 do w[i] = ('\\1'):rep(1000) end for i = 1, 256 do run(w) end",
    # Only the actions and the log together exceed the limit.
    "for i = 1, 130 do notify(('x'):rep(1900)) end for i = 1, 20 do log(('\"'):rep(400)) end",
])
def test_answer_that_is_too_large_is_refused(host, body):
    """An answer larger than 256 KiB is refused."""
    error = act(host, body)["failed"]["error"]
    assert error in {place + "the actions, the log and the state of this call exceed 256 KiB" for place in ("", "test.lua:1: ")}
    for _ in range(3):
        assert host.call()["failed"]["error"] == error


def test_text_that_grows_as_it_is_written_stays_within_the_limits(host):
    """The size of the state is limited after encoding, where a control character needs six bytes."""
    source = 'on("A", "button", "long", function(event) state.x = ("\\1"):rep(event.value) log(#state.x) end)'
    assert "loaded" in host.load(source)
    for _ in range(20):
        error = host.call(event={"value": 5_000_000})["failed"]["error"]
        assert error.startswith("state is larger than 64 KiB"), error
    assert host.call(event={"value": 10_000})["done"]["state"] == {"x": "\1" * 10_000}
    assert host.call(event={"value": 11_000})["failed"]["error"].startswith("state is larger than 64 KiB")


def test_options_of_a_trigger_are_those_of_its_time(host):
    """The options of a trigger are copied at its registration, so a later change of the table has no effect."""
    line = "local days = {'mon'} at('07:30', {weekdays = days}, f) days[1] = print"
    assert rules(host, line) == [{"when": {"time": "07:30", "weekdays": ["mon"]}}]


def test_most_rules_and_the_longest_log_fit_into_one_answer(host):
    """The maximum number of rules and the longest log fit into one answer."""
    source = ('local words = {} for i = 1, 3 do words[i] = ("x"):rep(600) end local function f() end\n'
              'for i = 1, 64 do on("A", "energy exceeds", i, {since = words}, f) end for i = 1, 100 do log(("\\"\\\\"):rep(249)) end')
    answer = host.load(source)["loaded"]
    assert len(answer["rules"]) == 64 and answer["log"][0] == '"\\' * 249 and len(answer["log"]) == 100
