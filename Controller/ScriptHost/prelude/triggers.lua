-- The functions `on`, `at` and `cron`, which register a function while the script is being loaded. Each call
-- becomes a rule in the form of rule files; the controller checks the values.
--
--     on("Television", "rises above", 40, {lasting = "3 s", hysteresis = 2}, f)      "falls below"
--     on("Television", "stays between", {5, 40}, f)
--     on("Washer", "energy exceeds", 2000, {since = "day"}, f)
--     on("Hall", "button", "pressed", f)       "relay", "connection", "protection", "appliance"
--     on("timer", "lights out", f)             on("rule", "Movie night", f)
--     at("07:30", {weekdays = {"sat", "sun"}}, f)      at("sunset", {offset = -1800}, f)      cron("*/15 * * * *", f)
--
-- Further options: name, cooldown, late, away, limit. Numbers are watts, watt-hours and seconds.

local host = ...
local next, rawset, select, type = next, rawset, select, type
local decimal, fail, limits, options, shown = host.decimal, host.fail, host.limits, host.options, host.shown
local globals = host.globals

-- The rules as JSON, and their size in bytes. The limit leaves room for the log in the answer.
host.rules, host.handlers = {}, {}
local rulesBytes = 0

-- MARK: - Values in the form of rule files

local function with(unit)
    return function(value) return type(value) == "number" and decimal(value) .. unit or value end
end
local watts, wattHours, span = with " W", with " Wh", with " s"

local function word(value) return value end

-- Accepts a word such as `accept`, a table such as { accept = "10 min" }, or only the duration.
local function lasting(name, words)
    return function(value)
        if type(value) == "table" then return { [name] = span(options(value, name, { [name] = true })[name]) } end
        if words[value] then return value end
        return { [name] = span(value) }
    end
end

-- Accepts one day or a list of days.
local function days(value)
    return type(value) == "table" and (host.list(value, 14) or fail("'weekdays' must be a day or a list of days")) or value
end

local function limit(value)
    local given = options(value, "limit", { firings = true, per = true })
    return { firings = given.firings, per = span(given.per) }
end

local beside = {
    cooldown = span, late = lasting("accept", { refuse = true, accept = true }),
    away = lasting("remember", { skip = true, remember = true }), limit = limit, name = word,
}

-- The options of the triggers.
local besidePower = { lasting = span, ["for"] = span, hysteresis = watts }
local besideKind = {
    ["rises above"] = besidePower, ["falls below"] = besidePower, ["stays between"] = besidePower,
    ["energy exceeds"] = { since = word }, button = {}, relay = {}, connection = { lasting = span, ["for"] = span },
    protection = {}, appliance = { cycle = word },
}

-- Checks a value and copies it: strings, numbers, and tables of these. Other values are reported here, because only
-- here the script's line is known.
local function told(value, what, isWithin)
    local kind = type(value)
    if kind == "table" and not isWithin then
        local list, count, copy = host.list(value, 32), 0, {}
        for key, entry in next, list or value do
            count = count + 1
            if count > 32 then fail(what .. " has at most 32 entries") end
            if not list then host.text(key, "a name in " .. what, 100) end
            copy[key] = told(entry, what, true)
        end
        return copy
    elseif kind == "string" then
        host.text(value, what, 1000)
    elseif kind ~= "number" then
        fail(what .. " must be text or a number, not " .. shown(value))
    elseif value ~= value or value - value ~= 0 then
        fail(what .. " must be a number, not " .. value)
    end
    return value
end

-- MARK: - Rules

local function loading(what)
    if host.isLoading then return end
    fail(what .. "(...) works only while the script is being loaded", "call it outside of functions, at the top level of the script")
end

-- Adds a rule. Options that `takes` lists go into `inside`, the others into the rule.
local function add(what, when, inside, takes, given, handler)
    if type(handler) ~= "function" then
        fail("the last argument of " .. what .. " must be a function, not " .. shown(handler), what .. "(..., function(event) ... end)")
    end
    if #host.rules >= limits.handlers then fail("a script may call on(...), at(...) and cron(...) at most " .. limits.handlers .. " times in total") end
    local known = {}
    for name, form in next, beside do known[name] = form end
    for name, form in next, takes do known[name] = form end
    local line = host.line(handler)
    if line < 1 then fail(what .. "(...) is called, but Lua cannot determine the line", "write it as a separate statement, without 'return'") end
    local rule = { line = line, when = when }
    for name, value in next, options(given, what, known) do
        local key = name == "lasting" and "for" or name
        local target = takes[name] and inside or rule
        target[key] = told(known[name](value), "'" .. name .. "'")
    end
    local text = host.written(rule)
    rulesBytes = rulesBytes + #text
    if rulesBytes > limits.rulesBytes then
        fail("the script's triggers exceed " .. limits.rulesBytes // 1024 .. " KiB")
    end
    host.rules[#host.rules + 1] = text
    host.handlers[#host.rules] = handler
end

-- Returns the options, which may be missing, and the function.
local function rest(count, first, second)
    if count == 1 then return nil, first end
    return first, second
end

local function onPower(plug, kind, value)
    local edge = {}
    if kind == "stays between" then
        local ends = host.list(value, 2)
        if not ends or #ends ~= 2 then fail("'stays between' must have two powers, not " .. shown(value), "{5, 40}") end
        edge[kind] = { told(watts(ends[1]), "a power"), told(watts(ends[2]), "a power") }
    else
        edge[kind] = told(watts(value), "the power of '" .. kind .. "'")
    end
    return { plug = plug, ["active power"] = edge }, edge
end

local function onPlug(plug, kind, value, ...)
    local takes = type(kind) == "string" and besideKind[kind]
    if not takes then
        local all = "rises above, falls below, stays between, energy exceeds, button, relay, connection, protection, appliance"
        fail("a plug has no trigger " .. shown(kind), host.meant(kind, besideKind) or all)
    end
    local when, inside
    if takes == besidePower then
        when, inside = onPower(plug, kind, value)
    elseif kind == "energy exceeds" then
        inside = { exceeds = told(wattHours(value), "the energy") }
        when = { plug = plug, ["active energy"] = inside }
    else
        if type(value) ~= "string" then
            fail("'" .. kind .. "' must be followed by a word, not " .. shown(value), 'as in on("Hall", "button", "pressed", f)')
        end
        when = { plug = plug, [kind] = told(value, "'" .. kind .. "'") }
        inside = when
    end
    add("on", when, inside, takes, rest(select("#", ...), ...))
end

local function onNamed(kind, name, ...)
    local when = { [kind] = host.name(name, "the name of a " .. kind) }
    add("on", when, when, {}, rest(select("#", ...), ...))
end

rawset(globals, "on", function(first, second, ...)
    loading("on")
    local count, third = select("#", ...), ...
    local isNamed = count == 1 or count == 2 and type(third) == "table" and second ~= "stays between"
    if (first == "timer" or first == "rule") and isNamed then return onNamed(first, second, ...) end
    onPlug(host.name(first, "the name of a plug"), second, ...)
end)

rawset(globals, "at", function(time, ...)
    loading("at")
    local isSun = time == "sunrise" or time == "sunset"
    local when = { [isSun and "sun" or "time"] = host.text(time, "the time of at", 20) }
    local takes = isSun and { offset = span, weekdays = days } or { weekdays = days }
    add("at", when, when, takes, rest(select("#", ...), ...))
end)

rawset(globals, "cron", function(schedule, ...)
    loading("cron")
    local when = { cron = host.text(schedule, "a cron schedule", 200) }
    add("cron", when, when, {}, rest(select("#", ...), ...))
end)
