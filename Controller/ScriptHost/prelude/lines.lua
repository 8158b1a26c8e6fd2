-- The requests of the controller and their answers, each a line of JSON.
--
-- The answer to a call contains all effects that the script's function requested, and is sent after the function has
-- returned. No effect is performed before that.

local host = ...
local concat, floor, load, pcall, sub, type = table.concat, math.floor, load, pcall, string.sub, type
local decode, quoted, written = host.json.decode, host.quoted, host.written
local attempt, clean, fail, limits, plain = host.attempt, host.clean, host.fail, host.limits, host.plain

-- zone: the first offset from UTC in seconds, then pairs of a time (seconds since 1970, UTC) and the offset that begins
-- at that time.
host.at, host.offset, host.zone = 0, 0, nil

-- MARK: - Answers

local function failed(problem)
    local lines = host.lines
    host.lines, host.call = nil, nil
    local log = lines and #lines > 0 and ',"log":' .. written(lines) or ""
    -- Keep line feeds: the hint is on the second line.
    local text = clean(problem, limits.errorBytes, "[\0-\9\11-\31\127]")
    return '{"failed":{"error":' .. quoted(text) .. log .. "}}\n"
end

-- Builds an answer from parts that are JSON already. Must be called within an attempt.
local function answer(kind, parts)
    local line = '{"' .. kind .. '":{' .. concat(parts, ",") .. "}}\n"
    if #line >= limits.answerBytes then host.tooMuch() end
    return line
end

-- list: entries that are JSON already.
local function addList(parts, name, list)
    if #list > 0 then parts[#parts + 1] = '"' .. name .. '":[' .. concat(list, ",") .. "]" end
end

local function addLog(parts)
    if #host.lines > 0 then parts[#parts + 1] = '"log":' .. written(host.lines) end
end

-- MARK: - Load

local function setTime(message)
    if type(message.at) == "number" then host.at = message.at end
    host.offset = type(message.offset) == "number" and message.offset or 0
    if type(message.zone) == "table" then
        host.zone = {}
        for index = 1, #message.zone do host.zone[index] = floor(message.zone[index]) end
    end
end

local function runScript(name, source, state)
    host.beginState(state)
    -- Some editors write a byte order mark.
    if sub(source, 1, 3) == "\u{FEFF}" then source = sub(source, 4) end
    local script, problem = load(source, "=" .. name)
    if not script then fail(problem) end
    host.isLoading = true
    script()
    host.isLoading = false
    local parts = { '"rules":[' .. concat(host.rules, ",") .. "]" }
    addLog(parts)
    return { state = host.writtenState(), line = answer("loaded", parts) }
end

local function loadScript(message)
    if host.script then return failed("a script is already loaded; each process runs one script") end
    if type(message.name) ~= "string" or type(message.source) ~= "string" then
        return failed("'load' needs the name and the source of a script")
    end
    setTime(message)
    host.script, host.loadedAt, host.lines = message.name, host.at, {}
    host.nameScript(message.name)
    host.seed()
    local isFine, result = attempt(runScript, message.name, message.source, message.state)
    host.isLoading = false
    if not isFine then return failed(result) end
    host.isLoaded = true
    host.loadedState(result.state)
    -- The answer contains the rules and the log, so they are dropped here.
    host.rules, host.lines = nil, nil
    return result.line
end

-- MARK: - Call

local function runHandler(handler, event)
    handler(event)
    local call, parts = host.call, {}
    addList(parts, "then", call.actions)
    local timers = call.timers
    for index = 1, #timers do timers[index] = written(timers[index]) end
    addList(parts, "timers", timers)
    addLog(parts)
    local state = host.writtenState()
    if host.isNewState(state) then parts[#parts + 1] = '"state":' .. state end
    return { state = state, line = answer("done", parts) }
end

-- Restores the state before the call. Returns true as its second value if memory is exhausted; the process then exits
-- after this answer.
local function takeBack(problem)
    local isFine = attempt(host.restoreState)
    return failed(problem), not isFine
end

local function callHandler(message)
    if not host.isLoaded then return failed("no script is loaded") end
    setTime(message)
    if type(message.plugs) == "table" then host.seePlugs(plain(message.plugs)) end
    local handler = type(message.handler) == "number" and host.handlers[message.handler + 1]
    if not handler then return failed("the script has no such function") end
    host.call, host.lines = { actions = {}, bytes = 0, timers = {} }, {}
    local event = type(message.event) == "table" and plain(message.event) or {}
    local isFine, result = attempt(runHandler, handler, event)
    if not isFine then return takeBack(result) end
    -- The answer contains the state if it changed, so the controller has the state after this answer.
    host.tellState(result.state)
    host.lines, host.call = nil, nil
    return result.line
end

-- Answers a line without its line feed. Returns the answer with its line feed, and true if the process must exit after
-- this answer.
function host.answer(line)
    local isFine, message = pcall(decode, line)
    if isFine and type(message) == "table" then
        if type(message.load) == "table" then return loadScript(message.load) end
        if type(message.call) == "table" then return callHandler(message.call) end
    end
    return failed("a line must be a JSON object with 'load' or 'call'")
end
