"""Tests of `plugctl-script`, which runs one script. A misbehaving script is stopped, the answer has the reason, and the
next call is answered. If a script cannot be stopped, the process ends."""

import json
import os
import signal
import subprocess
import time

import pytest

from deadlines import patient
from harness.script_host import Ended, ScriptHost

ONE_MORE = '\non("Hall", "button", "pressed", function() plug("Lamp"):on() end)'
DONE = {"done": {"then": [{"turn on": "Lamp"}]}}


@pytest.fixture
def host(programs):
    with ScriptHost(programs / "plugctl-script") as host:
        yield host


def handler(body):
    """Returns a script with two handlers: handler 0 switches the lamp on, and handler 1 runs `body`."""
    first = 'on("Hall", "button", "pressed", function() plug("Lamp"):on() end)'
    return first + '\non("Hall", "button", "double", function(event)\n' + body + "\nend)"


def failure(answer):
    assert list(answer) == ["failed"], answer
    return answer["failed"]["error"]


def run(host, body, **fields):
    assert "loaded" in host.load(handler(body))
    return host.call(1, **fields)


# MARK: - Misbehaving scripts are stopped

TIME = "the script computed for more than 1 s and was stopped"


@pytest.mark.parametrize("body", [
    "while true do end",
    "repeat local x = 1 until false",
    "local function f() return f() end f()",
    "while true do pcall(error) end",
    "while true do pcall(function() while true do end end) end",
    "pcall(pcall, function() while true do end end) while true do end",
    "coroutine.wrap(function() while true do end end)()",
    "local co = coroutine.create(function() while true do coroutine.yield() end end) while true do coroutine.resume(co) end",
    "coroutine.resume(coroutine.create(function() coroutine.wrap(function() while true do end end)() end)) while true do end",
    "local co = coroutine.create(function() local x <close> = setmetatable({}, {__close = function() while true do end end}) "
    "coroutine.yield() end) coroutine.resume(co) coroutine.close(co)",
    "local parent = coroutine.running() coroutine.wrap(function() pcall(coroutine.close, parent) "
    "pcall(coroutine.resume, parent) pcall(coroutine.close, coroutine.running()) while true do end end)()",
    "local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k + 1] end "
    "while true do pcall(function() return t[1] end) end",
    "error(setmetatable({}, {__tostring = function() while true do end end}))",
    'log(setmetatable({}, {__tostring = function() while true do end end}))',
    "table.sort({3, 2, 1}, function() while true do end end)",
    '("x"):gsub("x", function() while true do end end)',
    "local n = 0 while true do n = n + 1 plug('Lamp'):isOn() end",
])
def test_endless_loop_is_stopped_and_named(host, body):
    """An endless loop is stopped after 1 s with an error at its line."""
    start = time.monotonic()
    error = failure(run(host, body))
    assert error.startswith("test.lua:") and error.endswith(TIME), error
    assert time.monotonic() - start > 0.9
    assert host.call(0) == DONE, "the process did not continue"


@pytest.mark.parametrize("body", [
    "string.find(('a'):rep(30000), ('.-'):rep(30) .. 'b')",
    "string.gsub(('a'):rep(30000), ('.-'):rep(30) .. 'b', '')",
    "table.move({}, 1, 1 << 40, 2)",
    "pcall(string.find, ('a'):rep(30000), ('.-'):rep(30) .. 'b')",
    "xpcall(function() while true do end end, function() while true do end end)",
    "for i = 1, 100 do coroutine.wrap(function() string.find(('a'):rep(30000), ('.-'):rep(30) .. 'b') end)() end",
])
def test_pattern_that_runs_for_ever_is_killed(host, body):
    """A C function that runs too long cannot be stopped by an error, so the kernel ends the process with SIGPROF."""
    assert "loaded" in host.load(handler(body))
    start = time.monotonic()
    with pytest.raises(Ended) as ended:
        host.call(1)
    assert ended.value.status == -signal.SIGPROF
    assert time.monotonic() - start > 1.4


@pytest.mark.parametrize("body", [
    "local t = {} while true do t[#t + 1] = {} end",
    "local s = 'x' while true do s = s .. s end",
    "local s = ('x'):rep(1 << 40)",
    "local t = {} for i = 1, 1 << 30 do t[i] = i end",
    "local t = {} for i = 1, 1e9 do t[i] = coroutine.create(function() end) end",
    "local function f() return 1 + f() end f()",
    "local s = {} for i = 1, 1e7 do s[i] = 'line' .. i end table.concat(s)",
    # The interpreter's stack grows while 15 MiB are in use.
    "local kept = {} for i = 1, 15 do kept[i] = ('x'):rep(1 << 20) .. i end local function f() return 1 + f() end f()",
    "local x <close> = setmetatable({}, {__close = function() log('closed') end}) local s = ('x'):rep(1 << 24)",
])
def test_allocation_bomb_is_stopped_and_named(host, body):
    """A script that exceeds its memory limit is stopped with an error at its line."""
    error = failure(run(host, body))
    assert "not enough memory: a script has at most 16 MiB" in error or "string slice too long" in error \
        or "stack overflow" in error or "resulting string too large" in error, error
    assert error.startswith("test.lua:3: "), error
    assert host.call(0) == DONE, "the process did not continue"
    assert host.memory() < 24 << 20


def test_memory_that_stays_full_ends_the_process(host):
    """Memory in the script's global variables cannot be freed, so the process ends with status 75 at the next call."""
    error = failure(run(host, "kept = {} while true do kept[#kept + 1] = ('x'):rep(1000) .. #kept end"))
    assert "not enough memory" in error
    with pytest.raises(Ended) as ended:
        host.call(0)
    assert ended.value.status == 75


@pytest.mark.parametrize(("body", "why"), [
    ("io.open('/etc/passwd')", "io.open is not available: scripts cannot access files"),
    ("for line in io.lines('/etc/passwd') do log(line) end", "io.lines is not available"),
    ("dofile('/etc/passwd')", "dofile is not available: scripts cannot access files"),
    ("loadfile('/etc/passwd')", "loadfile is not available"),
    ("os.remove('/etc/passwd')", "os.remove is not available: scripts can use only the time functions of os"),
    ("os.rename('a', 'b')", "os.rename is not available"),
    ("os.tmpname()", "os.tmpname is not available"),
    ("os.execute('true')", "os.execute is not available"),
    ("io.popen('true')", "io.popen is not available"),
    ("os.getenv('HOME')", "os.getenv is not available"),
    ("os.exit(0)", "os.exit is not available"),
    ("require('socket')", "require is not available: a script is a single file"),
    ("package.loadlib('/lib/x86_64-linux-gnu/libc.so.6', 'fork')", "package.loadlib is not available"),
    ("debug.getregistry()", "debug.getregistry is not available: scripts cannot debug their host"),
    ("collectgarbage('stop')", "collectgarbage is not available"),
    ("string.dump(log)", "string.dump is not available"),
    ("setmetatable({}, {__gc = function() end})", "scripts do not support finalizers"),
])
def test_file_read_fork_and_all_else_that_is_not_there_say_why(host, body, why):
    """Each missing library function raises an error that names it and the reason."""
    error = failure(run(host, body))
    assert error.startswith("test.lua:3: ") and why in error, error
    assert host.call(0) == DONE


def test_call_cannot_yield_and_closes_what_it_left_open(host):
    """A call cannot yield, and its variables are closed when it fails."""
    body = """local x <close> = setmetatable({}, {__close = function() log('closed') end})
        log(coroutine.isyieldable()) coroutine.yield()"""
    answer = run(host, body)
    assert answer["failed"]["log"] == ["false", "closed"]
    assert "attempt to yield" in failure(answer)
    assert host.call(0) == DONE


def test_compiled_code_is_not_loaded(host):
    """Precompiled chunks are refused; `load` of source text works."""
    body = ("local f, why = load('\\27Lua', 'x', 'b') log(f, why) log(load('\\27Lua')) "
            "log(load('return 7')()) log(load('return a', 'x', 't', {a = 8})())")
    log = run(host, body)["done"]["log"]
    assert "attempt to load a binary chunk" in log[0] and log[1].startswith("nil") and log[2:] == ["7", "8"]


def test_thousand_commands_at_once_are_refused_together(host):
    """More than 256 actions in one call are refused together."""
    error = failure(run(host, "for i = 1, 1000 do plug('Lamp'):toggle() end"))
    assert error == "test.lua:3: more than 256 actions in one call"
    assert host.call(0) == DONE
    assert len(run_again(host, 256)["done"]["then"]) == 256


def run_again(host, count):
    """Runs a script with `count` actions in a second process, because each process runs one script."""
    with ScriptHost(host.process.args[0]) as other:
        other.load(handler(f"for i = 1, {count} do plug('Lamp'):toggle() end"))
        return other.call(1)


# MARK: - One answer per request

def test_nothing_is_said_without_being_asked(host):
    """The process sends exactly one answer per request. The output of the script is in the answer's log."""
    assert host.says_nothing()
    answer = host.load('log("at first") print("and", 1, nil, true)' + ONE_MORE)
    assert answer["loaded"]["log"] == ["at first", "and 1 nil true"]
    assert host.says_nothing()
    host.call()
    assert host.says_nothing()


def test_lines_in_pieces_and_several_at_once(host):
    """Requests may arrive in pieces or several at once."""
    host.load(handler("log(event.value)"))
    line = json.dumps({"call": {"handler": 1, "at": 1, "event": {"value": "é" * 200}}}, ensure_ascii=False).encode() + b"\n"
    for start in range(0, len(line), 7):
        host.send(line[start:start + 7])
        time.sleep(0.0005)
    assert host.receive()["done"]["log"] == ["é" * 200]
    host.send(line * 5 + line[:50])
    for _ in range(5):
        assert host.receive()["done"]["log"] == ["é" * 200]
    assert host.says_nothing()
    host.send(line[50:])
    assert "done" in host.receive()


@pytest.mark.parametrize("line", [
    b"", b"{", b"null", b"7", b'"text"', b"[]", b"{}", b'{"load":1}', b'{"call":[]}', b'{"call":{"handler":7}}', b"\xff\xfe", b"\x00",
    b'{"call":{"handler":-1}}', b'{"call":{"handler":"x"}}', b"[" * 5000, b'{"load":{"name":1,"source":2}}',
])
def test_what_is_no_question_is_answered_as_such(host, line):
    """Malformed requests are answered with an error, and the process continues."""
    host.load(handler(""))
    host.send(line + b"\n")
    assert failure(host.receive())
    assert host.call(0) == DONE


def test_line_that_is_too_long_is_told_and_left_out(host):
    """A line longer than 1 MiB is answered with an error and discarded."""
    host.load(handler(""))
    host.send(b'{"call":{"handler":0,"at":1,"event":{"why":"' + b"x" * (3 << 20) + b'"}}}\n')
    assert failure(host.receive()) == "the line is longer than 1 MiB"
    assert host.call(0) == DONE
    assert host.memory() < 2 << 20, "the line was stored"


def test_end_of_input_is_the_end(host):
    """The process exits when its input ends."""
    host.load(handler(""))
    host.socket.close()
    assert host.process.wait(patient(5)) == 0


def test_end_of_input_within_a_line_is_the_end(host):
    """The process exits with 0 when its input ends in the middle of a line."""
    host.send(b'{"load":')
    host.socket.close()
    assert host.process.wait(patient(5)) == 0


def test_second_script_is_refused(host):
    host.load(handler(""))
    assert "a script is already loaded" in failure(host.load(handler("")))
    assert host.call(0) == DONE


def test_call_before_a_script_is_refused(host):
    assert failure(host.call()) == "no script is loaded"


def test_signals_of_the_terminal_are_the_controllers(host):
    """The process ignores SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE, because the controller handles them."""
    host.load(handler(""))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):
        os.kill(host.process.pid, number)
    assert host.call(0) == DONE


def test_time_is_limited_though_the_starter_held_signals_back(programs):
    """The time limit applies also if the process was started with all signals blocked and SIGPROF ignored."""
    before = ("python3", "-c", "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); "
              "signal.signal(signal.SIGPROF, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])")
    with ScriptHost(programs / "plugctl-script", before=before) as host:
        assert failure(run(host, "while true do end")).endswith(TIME)


def test_person_who_starts_it_is_told_what_it_is(programs):
    """The program exits with status 64 and an explanation if it is started with more than one argument."""
    result = subprocess.run([programs / "plugctl-script", "a", "b"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert result.returncode == 64 and "plugctl starts it" in result.stderr


# MARK: - Resources

def test_idle_script_is_small(host):
    """An idle script uses less than 1 MiB of anonymous memory."""
    host.load(handler("state.n = (state.n or 0) + 1 log(event.value)"))
    host.call(1)
    assert host.memory() < 1 << 20, "an idle script uses more than 1 MiB"


def test_thousands_of_events_come_without_loss_and_memory_stays_flat(host):
    host.load(handler("state.n = (state.n or 0) + 1 log(event.value) plug('Lamp'):dim(state.n % 100, {over = 1})"))
    sizes = []
    for block in range(4):
        for index in range(block * 2500 + 1, block * 2500 + 2501):
            answer = host.call(1, event={"value": index, "why": f"it is {index}"})["done"]
            assert (answer["state"], answer["log"]) == ({"n": index}, [str(index)])
        sizes.append(host.memory())
    assert sizes[-1] < sizes[0] * 1.2 + (256 << 10) and sizes[-1] < 2 << 20, sizes


def test_failed_call_does_nothing_and_takes_its_state_back(host):
    """A failed call performs no action, and restores the state from before the call."""
    host.load(handler("state.list = state.list or {} table.insert(state.list, 1) plug('Lamp'):off() timer('x'):start(1) "
                      "log('before') if event.value == 1 then error('wrong') end"))
    assert host.call(1)["done"]["state"] == {"list": [1]}
    answer = host.call(1, event={"value": 1})
    assert answer == {"failed": {"error": "test.lua:3: wrong", "log": ["before"]}}
    assert host.call(1)["done"]["state"] == {"list": [1, 1]}


def test_state_is_that_of_before_for_every_variable_that_holds_it(host):
    """After a failed call, every variable that refers to the state has the previous content."""
    host.load('local mine = state mine.n = 1 on("A", "button", "long", function(event) mine.n = mine.n + 1 '
              'if event.value then state = {n = 50} error({}) end end)')
    assert host.call()["done"]["state"] == {"n": 2}
    assert failure(host.call(event={"value": 1})) == "an error that is not text but table"
    assert host.call()["done"]["state"] == {"n": 3}


def test_state_that_was_set_while_loading_outlives_a_failed_call(host):
    """State that was set while loading is kept after a failed call, and reported once."""
    host.load('state = {n = 5} on("A", "button", "long", function(event) if event.value then error("x") end log(state.n) end)')
    assert failure(host.call(event={"value": 1})) == "test.lua:1: x"
    assert host.call() == {"done": {"log": ["5"], "state": {"n": 5}}}
    assert host.call() == {"done": {"log": ["5"]}}, "the state was reported again"


@pytest.mark.parametrize(("thrown", "told"), [
    ("'text'", "test.lua:3: text"), ("nil", "an error that is not text but nil"), ("{}", "an error that is not text but table"),
    ("42", "42"), ("setmetatable({}, {__tostring = function() return 'own words' end})", "own words"),
    ("setmetatable({}, {__tostring = function() return {} end})", "'__tostring' must return a string"),
    ("setmetatable({}, {__tostring = function() error('again') end})", "test.lua:3: again"),
    ("setmetatable({}, {__tostring = 5})", "attempt to call a number value"),
    ("('x'):rep(100000)", "…"), ("'\\xff\\0\\27[2J', 0", "?  [2J"),
])
def test_whatever_is_thrown_becomes_words(host, thrown, told):
    """Any error value is converted to a short text."""
    error = failure(run(host, f"error({thrown})"))
    assert told in error and len(error) < 2100, error
    assert host.call(0) == DONE


def test_changes_of_its_own_world_break_only_the_script(host):
    """A script that destroys its own libraries does not disable the limits."""
    body = """for _, library in ipairs{string, table, math, utf8, coroutine, os} do
        local names = {} for name in pairs(library) do names[#names + 1] = name end
        for _, name in ipairs(names) do library[name] = nil end end
      local strings = getmetatable("") for name in next, strings do strings[name] = nil end
      strings.__index = function() while true do end end strings.__concat = strings.__index strings.__len = strings.__index
      local world = _G for name in next, world do if name ~= "plug" and name ~= "state" then world[name] = nil end end"""
    answer = host.load('local lamp = plug("Lamp") on("A", "button", "long", function() lamp:on() end)\n'
                       'on("A", "button", "double", function() ' + body + " end)\n"
                       'on("A", "button", "pressed", function() state.n = 1.5 lamp:dim(30, {over = 1}) while true do end end)')
    assert "loaded" in answer
    assert host.call(1) == {"done": {}}
    assert host.call(0) == DONE
    assert failure(host.call(2)) == f"test.lua:8: {TIME}", "the time limit no longer applies"
    assert host.call(0) == DONE
