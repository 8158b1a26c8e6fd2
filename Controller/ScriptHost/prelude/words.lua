-- Functions that the whole prelude uses: errors with the script's line, and checks of a script's arguments.
--
-- A script can change every table that it can access, including `string` and the metatable of strings. The prelude
-- therefore has its own copies of the libraries, calls no methods of strings, and reads a script's tables without their
-- metamethods. Its files share `host`, which scripts cannot access.

local host = ...
local error, floor, format, gsub, len = error, math.floor, string.format, string.gsub, utf8.len
local match, min, next, sub, tonumber, tostring, type = string.match, math.min, next, string.sub, tonumber, tostring, type
local concat, infinity, sort = table.concat, math.huge, table.sort

-- Documentation/reference/scripts.md lists these limits. Values that ScriptLimits or MessageLimits also have must be equal there.
host.limits = {
    actions = 256, timers = 64, handlers = 64, lines = 100, lineBytes = 500, nameBytes = 63, stateBytes = 65536, stateDepth = 32,
    answerBytes = 262144, rulesBytes = 131072, errorBytes = 2000, longest = 366 * 86400,
}

-- Raises an error: `television.lua:12: message`, with the hint on the next line.
function host.fail(message, hint)
    error(host.where() .. message .. (hint and "\nhint: " .. hint or ""), 0)
end
local fail = host.fail

-- Formats a value for messages.
function host.shown(value)
    local kind = type(value)
    if kind == "string" then return "'" .. host.clean(value, 60) .. "'" end
    if kind == "number" or kind == "boolean" or kind == "nil" then return tostring(value) end
    return "a " .. kind
end
local shown = host.shown

-- Returns valid UTF-8 of at most `most` bytes. Control characters, which could move a terminal's cursor, become spaces.
-- If `set` is given, the characters of this set become spaces instead.
function host.clean(text, most, set)
    if #text > most then
        local cut = most - 3
        -- Do not split a character.
        while cut > 0 and match(text, "^[\128-\191]", cut + 1) do cut = cut - 1 end
        text = sub(text, 1, cut) .. "…"
    end
    if not len(text) then text = gsub(text, "[\128-\255]", "?") end
    return (gsub(text, set or "%c", " "))
end

-- Returns the hint `did you mean 'WORD'?` with the most similar word; nil if no word is similar.
function host.meant(word, words)
    if type(word) ~= "string" or #word > 40 then return nil end
    local best, least = nil, 3
    for known in next, words do
        local row = {}
        for j = 0, #known do row[j] = j end
        for i = 1, #word do
            local diagonal = row[0]
            row[0] = i
            for j = 1, #known do
                local above = row[j]
                local cost = sub(word, i, i) == sub(known, j, j) and 0 or 1
                row[j] = min(above + 1, row[j - 1] + 1, diagonal + cost)
                diagonal = above
            end
        end
        local distance = row[#known]
        if distance < least or distance == least and best and known < best then best, least = known, distance end
    end
    return best and "did you mean '" .. best .. "'?"
end

-- MARK: - Arguments of scripts

-- Checks text of 1 to `most` bytes.
function host.text(value, what, most)
    if type(value) ~= "string" then fail(what .. " must be text, not " .. shown(value)) end
    if not len(value) then fail(what .. " is not valid UTF-8: " .. shown(value)) end
    if value == "" or #value > most then fail(what .. " must have 1 to " .. most .. " bytes, not " .. #value) end
    return value
end

-- Checks the name of a plug, a rule or a timer.
function host.name(value, what)
    local name = host.text(value, what, host.limits.nameBytes)
    if match(name, "%c") then fail(what .. " must not have control characters: " .. shown(name)) end
    return name
end

function host.number(value, what, least, most)
    if type(value) ~= "number" or value ~= value then fail(what .. " must be a number, not " .. shown(value)) end
    if value < least or value > most then
        fail(what .. " must be " .. least .. " to " .. most .. ", not " .. value)
    end
    return value
end

-- Formats a number as rule files do: without an exponent and trailing zeros.
function host.decimal(number)
    if number ~= number or number == infinity or number == -infinity or number > 1e12 or number < -1e12 then
        fail("a number is required, not " .. number)
    end
    if number == floor(number) then return format("%d", number) end
    return (gsub(format("%.6f", number), "%.?0+$", ""))
end

local units = { ms = 0.001, s = 1, min = 60, h = 3600, d = 86400 }

-- Converts a duration to seconds. A number is in seconds; text has a unit as in rule files.
function host.seconds(value, what, least, most)
    local seconds = value
    if type(value) == "string" then
        local number, unit = match(value, "^([+-]?%d+%.?%d*) *(%a+)$")
        seconds = units[unit] and tonumber(number) * units[unit]
    end
    if type(seconds) ~= "number" or seconds ~= seconds then
        fail(what .. " must be a duration, not " .. shown(value), 'write seconds, or text such as "3 s" or "15 min"')
    end
    if seconds < least or seconds > most then
        fail(what .. " must be " .. least .. " to " .. most .. " seconds, not " .. shown(value))
    end
    return seconds
end

-- Returns a copy of a list of 1 to `most` entries; nil for other values.
function host.list(value, most)
    if type(value) ~= "table" then return nil end
    local count, copy = 0, {}
    for key, entry in next, value do
        if type(key) ~= "number" then return nil end
        count = count + 1
        if count > most then return nil end
        copy[key] = entry
    end
    for index = 1, count do
        if copy[index] == nil then return nil end
    end
    return count > 0 and copy or nil
end

-- Returns a copy of a table of options. Each key must be in `takes`.
function host.options(value, what, takes)
    if value == nil then return {} end
    if type(value) ~= "table" then fail("the options of " .. what .. " must be a table, not " .. shown(value)) end
    local copy = {}
    for key, option in next, value do
        if takes[key] == nil then
            local known = {}
            for name in next, takes do known[#known + 1] = name end
            sort(known)
            fail(
                what .. " has no option " .. shown(key),
                host.meant(key, takes) or (#known > 0 and "options: " .. concat(known, ", ") or "leave it out"))
        end
        copy[key] = option
    end
    return copy
end
