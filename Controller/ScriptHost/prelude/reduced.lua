-- Removes the functions of Lua's libraries that access files, other code or the system. Clock and random numbers are
-- reproducible: the clock is the controller's, which is virtual in a backtest, and the random seed is made of the
-- script's name and the time of loading.

local host = ...
local byte, floor, format, gsub, pcall, select = string.byte, math.floor, string.format, string.gsub, pcall, select
local date, difftime, time, setmetatable, type, randomseed = os.date, os.difftime, os.time, setmetatable, type, math.randomseed
local fail, shown, sub = host.fail, host.shown, string.sub
local globals = host.globals

-- MARK: - Removed functions

local function absent(name, why)
    return function() fail(name .. " is not available: " .. why) end
end

local function absentTable(name, why, present)
    return setmetatable(present, {
        __metatable = name,
        __index = function(_, key)
            if type(key) == "string" then fail(name .. "." .. host.clean(key, 40) .. " is not available: " .. why) end
        end,
    })
end

local noFiles = "scripts cannot access files"
local onePiece = "a script is a single file"
globals.io = absentTable("io", noFiles, {})
globals.debug = absentTable("debug", "scripts cannot debug their host", {})
globals.package = absentTable("package", onePiece, {})
globals.require = absent("require", onePiece)
globals.dofile = absent("dofile", noFiles)
globals.loadfile = absent("loadfile", noFiles)
globals.collectgarbage = absent("collectgarbage", "memory is managed automatically")
globals.warn = globals.print
globals.string.dump = absent("string.dump", "scripts load only source text")

-- MARK: - Time

local function number(value, what)
    if type(value) ~= "number" or value ~= value then fail(what .. " must be a number, not " .. shown(value)) end
    return floor(value)
end

-- Returns the offset of local time from UTC in seconds at a time, which may have a different offset than now.
local function offsetAt(moment)
    local zone = host.zone
    if not zone then return floor(host.offset) end
    local low, high = 0, #zone // 2
    while low < high do
        local middle = (low + high + 1) // 2
        if zone[2 * middle] <= moment then low = middle else high = middle - 1 end
    end
    return zone[2 * low + 1]
end

-- Converts local time to UTC. For an ambiguous local time, returns the first of the two moments. For a skipped local
-- time, applies the offset before the change.
local function momentOf(shown)
    local before, after = offsetAt(shown - 86400), offsetAt(shown + 86400)
    if offsetAt(shown - before) == before then return shown - before end
    if offsetAt(shown - after) == after then return shown - after end
    return shown - before
end

-- Formats the zone as its offset from UTC, for %z and %Z.
local function zone(moment)
    local minutes = offsetAt(moment) // 60
    local size = minutes < 0 and -minutes or minutes
    return format("%s%02d%02d", minutes < 0 and "-" or "+", size // 60, size % 60)
end

-- Replaces %z and %Z, but not after a doubled percent sign.
local function zoned(text, moment)
    return (gsub(text, "%%([%%zZ])", function(letter) return letter == "%" and "%%" or zone(moment) end))
end

local function localDate(text, moment)
    local text = text == nil and "%c" or text
    if type(text) ~= "string" then fail("the format of os.date must be text, not " .. shown(text)) end
    local moment = moment == nil and floor(host.at) or number(moment, "the time of os.date")
    local isUTC = sub(text, 1, 1) == "!"
    if not isUTC then
        text, moment = "!" .. zoned(text, moment), moment + offsetAt(moment)
    end
    local isFine, result = pcall(date, text, moment)
    if not isFine then fail("os.date does not support " .. shown(text)) end
    return result
end

local function localTime(fields)
    if fields == nil then return floor(host.at) end
    if type(fields) ~= "table" then fail("the argument of os.time must be a table, not " .. shown(fields)) end
    local isFine, result = pcall(time, fields)
    if not isFine then fail("os.time needs at least year, month and day, as numbers") end
    return momentOf(result)
end

globals.os = absentTable("os", "scripts can use only the time functions of os", {
    time = localTime,
    date = localDate,
    difftime = function(one, other) return number(one, "a time") - number(other, "a time") + 0.0 end,
})

-- MARK: - Random numbers

local function seed()
    local sum = 0
    for index = 1, #host.script do sum = (sum * 31 + byte(host.script, index)) & 0xFFFFFFFF end
    randomseed(sum, floor(host.loadedAt))
end
host.seed = seed

globals.math.randomseed = function(...)
    if select("#", ...) == 0 then return seed() end
    randomseed(...)
end
