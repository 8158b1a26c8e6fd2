-- Decodes and encodes JSON. The cjson library decodes lines of the controller. A script's values are encoded in Lua,
-- because Lua's limits of memory and time do not apply to the library.

local host = ...
local char, concat, format, gsub, match = string.char, table.concat, string.format, string.gsub, string.match
local mathtype, next, null, tointeger = math.type, next, host.json.null, math.tointeger
local tonumber, type = tonumber, type

-- MARK: - Reading

-- Converts decoded JSON to Lua values. JSON has no integer type: an integral number becomes an integer, so that 3 is
-- not shown as 3.0. A number below -2^53 or above 2^53 stays a float. Null entries are removed.
host.exact = 2 ^ 53
local exact = host.exact
local function plain(value)
    if type(value) == "number" then return value >= -exact and value <= exact and tointeger(value) or value end
    if type(value) == "table" then
        for key, entry in next, value do
            if entry == null then entry = nil else entry = plain(entry) end
            value[key] = entry
        end
    end
    return value
end
host.plain = plain

-- MARK: - Writing

local escapes = {}
for code = 0, 127 do
    if match(char(code), "%c") then escapes[char(code)] = format("\\u%04x", code) end
end
escapes['"'], escapes["\\"] = '\\"', "\\\\"
escapes["\n"], escapes["\r"], escapes["\t"] = "\\n", "\\r", "\\t"

-- Quotes text, which must be UTF-8.
function host.quoted(text) return '"' .. gsub(text, '[%c"\\]', escapes) .. '"' end
local quoted = host.quoted

-- Formats a finite number.
function host.digits(value)
    if mathtype(value) == "integer" then return format("%d", value) end
    for digits = 15, 17 do
        local text = format("%." .. digits .. "g", value)
        if tonumber(text) == value then return text end
    end
end

-- Encodes a string, a number, a list that is not empty, or an object. The tables must be the prelude's, not a script's.
function host.written(value)
    if type(value) == "string" then return quoted(value) end
    if type(value) == "number" then return host.digits(value) end
    local parts = {}
    if #value > 0 then
        for index = 1, #value do parts[index] = host.written(value[index]) end
        return "[" .. concat(parts, ",") .. "]"
    end
    for key, entry in next, value do parts[#parts + 1] = quoted(key) .. ":" .. host.written(entry) end
    return "{" .. concat(parts, ",") .. "}"
end
