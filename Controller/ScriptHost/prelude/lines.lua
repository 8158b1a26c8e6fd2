-- What the controller asks, and what it is answered: a line each, of JSON.
--
-- Of a call everything is told at once, after the script's function has come to its end: until then nothing has happened.

local host = ...
local concat, load, pcall, sub, type = table.concat, load, pcall, string.sub, type
local decode, encode = host.json.decode, host.json.encode
local attempt, clean, fail, limits, plain = host.attempt, host.clean, host.fail, host.limits, host.plain

host.json.encode_max_depth(limits.stateDepth)
host.json.encode_keep_buffer(false)
host.at, host.offset = 0, 0

-- MARK: - Answers

local function failed(problem)
    local lines = host.lines
    host.lines, host.call = nil, nil
    local log = lines and #lines > 0 and ',"log":' .. encode(lines) or ""
    -- It has lines: the hint is the second one.
    local text = clean(problem, limits.errorBytes, "[\0-\9\11-\31\127]")
    return '{"failed":{"error":' .. encode(text) .. log .. "}}\n"
end

-- Parts by name, each JSON already.
local function answer(kind, parts)
    host.lines, host.call = nil, nil
    return '{"' .. kind .. '":{' .. concat(parts, ",") .. "}}\n"
end

local function addList(parts, name, list)
    if #list > 0 then parts[#parts + 1] = '"' .. name .. '":' .. encode(list) end
end

-- MARK: - Load

local function setTime(message)
    if type(message.at) == "number" then host.at = message.at end
    host.offset = type(message.offset) == "number" and message.offset or 0
end

local function runScript(name, source, state)
    host.beginState(state)
    -- Some editors write a mark of the encoding.
    if sub(source, 1, 3) == "\u{FEFF}" then source = sub(source, 4) end
    local script, problem = load(source, "=" .. name)
    if not script then fail(problem) end
    host.isLoading = true
    script()
    host.isLoading = false
    return host.writtenState()
end

local function loadScript(message)
    if host.script then return failed("a script is loaded already: it has a process of its own") end
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
    host.loadedState(result)
    local parts = { '"rules":' .. (#host.rules > 0 and encode(host.rules) or "[]") }
    addList(parts, "log", host.lines)
    -- They are the controller's now.
    host.rules = nil
    return answer("loaded", parts)
end

-- MARK: - Call

local function runHandler(handler, event)
    handler(event)
    return host.writtenState()
end

-- The state is that of before; where there is no room for that, this is the last answer.
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
    local call = { actions = {}, timers = {} }
    host.call, host.lines = call, {}
    local event = type(message.event) == "table" and plain(message.event) or {}
    local isFine, result = attempt(runHandler, handler, event)
    if not isFine then return takeBack(result) end
    local parts = {}
    addList(parts, "then", call.actions)
    addList(parts, "timers", call.timers)
    addList(parts, "log", host.lines)
    local size = #concat(parts) + #result
    if size > limits.answerBytes - 100 then
        host.lines = nil
        return takeBack("what is asked for at once is larger than " .. limits.answerBytes // 1024 .. " KiB")
    end
    local state = host.tellState(result)
    if state then parts[#parts + 1] = '"state":' .. state end
    return answer("done", parts)
end

-- line: without its end. The answer: with it, and whether it is the last one.
function host.answer(line)
    local isFine, message = pcall(decode, line)
    if isFine and type(message) == "table" then
        if type(message.load) == "table" then return loadScript(message.load) end
        if type(message.call) == "table" then return callHandler(message.call) end
    end
    return failed("a line is an object with 'load' or 'call', in JSON")
end
