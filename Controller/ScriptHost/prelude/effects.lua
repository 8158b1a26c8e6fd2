-- The functions for timers, notifications, programs, web hooks, waking a machine, and the log.
--
--     timer("lights out"):start(600)  :stop()
--     notify("The washing is done")  notify{title = "Laundry", text = "Done"}
--     run{"logger", "done"}  run{command = {"logger", "done"}, timeout = 10}
--     webhook("https://host/path")  webhook{url = "https://host/path", method = "PUT", body = "text"}
--     wake("Media Server")  log("power", event.value)

local host = ...
local concat, next, rawset, select, setmetatable, tostring, type = table.concat, next, rawset, select, setmetatable, tostring, type
local act, decimal, fail, limits, options, shown = host.act, host.decimal, host.fail, host.limits, host.options, host.shown
local globals = host.globals

-- MARK: - Timers

local names = setmetatable({}, { __mode = "k" })
local methods = {}

-- Several changes of a timer in one call are merged; the last one applies.
local function change(self, method, after)
    local name = names[self]
    if not name then fail("'" .. method .. "' belongs to a timer", 'write timer("lights out"):' .. method .. "(...), with a colon") end
    local timers = host.asked(method .. " of a timer").timers
    for index = 1, #timers do
        if timers[index].name == name then
            timers[index].after = after
            return
        end
    end
    if #timers >= limits.timers then fail("one call may start or stop at most " .. limits.timers .. " timers") end
    timers[#timers + 1] = { name = name, after = after }
end

function methods.start(self, span)
    change(self, "start", host.seconds(span, "the time of a timer", 0, limits.longest))
end

function methods.stop(self) change(self, "stop", nil) end

local kind = {
    __name = "timer",
    __metatable = "timer",
    __index = function(_, key)
        if methods[key] then return methods[key] end
        fail("a timer has no " .. shown(key), host.meant(key, methods) or "start and stop")
    end,
    __newindex = function() fail("a timer stores no values", "store values in state") end,
    __tostring = function(self) return names[self] or "timer" end,
}

rawset(globals, "timer", function(name)
    local object = setmetatable({}, kind)
    names[object] = host.name(name, "the name of a timer")
    return object
end)

-- MARK: - Notifications, programs and web hooks

rawset(globals, "notify", function(note)
    if type(note) ~= "table" then return act("notify", { notify = host.text(note, "a notification", 2000) }) end
    local given = options(note, "notify", { title = true, text = true })
    local title = given.title and host.text(given.title, "a notification's title", 200)
    act("notify", { notify = { title = title, text = host.text(given.text, "a notification's text", 2000) } })
end)

local function words(value)
    local list = host.list(value, 64)
    if not list then fail("a command must be a list of text, not " .. shown(value), 'write run{"program", "argument"}') end
    for index = 1, #list do
        local word = list[index]
        -- An argument may be empty, but not the program.
        if word ~= "" or index == 1 then host.text(word, "a word of a command", 1000) end
    end
    return list
end

rawset(globals, "run", function(command)
    if type(command) == "string" then command = { command } end
    local list, timeout = command, nil
    if type(command) == "table" and command.command ~= nil then
        local given = options(command, "run", { command = true, timeout = true })
        list, timeout = given.command, given.timeout
        if type(list) == "string" then list = { list } end
    end
    local list = words(list)
    if timeout == nil then return act("run", { run = list }) end
    act("run", { run = { command = list, timeout = decimal(host.seconds(timeout, "the timeout of run", 1, 600)) .. " s" } })
end)

rawset(globals, "webhook", function(hook)
    if type(hook) ~= "table" then return act("webhook", { ["web hook"] = host.text(hook, "an address", 2000) }) end
    local given = options(hook, "webhook", { url = true, method = true, body = true })
    act("webhook", {
        ["web hook"] = {
            url = host.text(given.url, "an address", 2000),
            method = given.method and host.text(given.method, "a method", 10),
            body = given.body and host.text(given.body, "the body of a web hook", 4000),
        },
    })
end)

rawset(globals, "wake", function(machine) act("wake", { wake = host.text(machine, "the name of a machine", 63) }) end)

-- MARK: - The log

local function log(...)
    local lines, words = host.lines, {}
    -- The last line reports that more lines were dropped.
    if #lines >= limits.lines then return end
    for index = 1, select("#", ...) do words[index] = tostring((select(index, ...))) end
    local isLast = #lines + 1 == limits.lines
    lines[#lines + 1] = isLast and "further lines are left out" or host.clean(concat(words, " "), limits.lineBytes)
end

rawset(globals, "log", log)
rawset(globals, "print", log)
