-- `state`: a table of the script that survives restarts. After each call it is encoded as JSON; if it differs from what
-- the controller has stored, the answer contains it. If a call fails, its changes to the table are reverted.

local host = ...
local concat, find, len, next = table.concat, string.find, utf8.len, next
local mathtype, rawget, rawlen, rawset, sort = math.type, rawget, rawlen, rawset, table.sort
local tostring, type = tostring, type
local decode, digits = host.json.decode, host.digits
local fail, limits, shown = host.fail, host.limits, host.shown
local infinity, exact = math.huge, host.exact

host.json.decode_max_depth(limits.stateDepth + 8)

-- The encoding in progress: its pieces, their size in bytes, the keys on the path to the current value, and the
-- enclosing tables.
local pieces, bytes, trail, open

local function path()
    local text = "state"
    for _, key in next, trail do
        if type(key) == "string" and find(key, "^[%a_][%w_]*$") then
            text = text .. "." .. key
        else
            text = text .. "[" .. shown(key) .. "]"
        end
    end
    return host.clean(text, 200)
end

local function tooLarge()
    fail("state is larger than " .. limits.stateBytes // 1024 .. " KiB", "store less in it: it is written with every change")
end

local function add(text)
    pieces[#pieces + 1] = text
    bytes = bytes + #text
    if bytes > limits.stateBytes then tooLarge() end
end

local function quoted(text)
    if #text > limits.stateBytes then tooLarge() end
    if not len(text) then fail(path() .. " is not valid UTF-8", "store bytes as numbers") end
    return host.quoted(text)
end

local function number(value)
    if mathtype(value) == "integer" then
        if value > exact or value < -exact then
            fail(path() .. " is an integer that JSON cannot store exactly", "store it as text: tostring(number)")
        end
        return digits(value)
    end
    if value ~= value or value == infinity or value == -infinity then
        fail(path() .. " is " .. tostring(value) .. ", which cannot be stored", "it results from a division by zero")
    end
    return digits(value)
end

local write

-- Returns the keys in order: integers from 1, or strings.
local function keys(value)
    local names, count, kind = {}, 0, nil
    for key in next, value do
        local own = type(key) == "string" and "text" or mathtype(key) == "integer" and "numbers"
        if not own then
            fail(path() .. " has " .. shown(key) .. " as a key", "keys must be text, or 1, 2, 3 and so on")
        end
        if kind and kind ~= own then
            fail(path() .. " has numbers and text as keys", "use either, or two tables")
        end
        kind, count = own, count + 1
        if count > limits.stateBytes then tooLarge() end
        names[count] = key
    end
    if kind == "numbers" and rawlen(value) ~= count then
        fail(path() .. " has gaps between its numeric keys, which cannot be stored", "use text as keys: tostring(number)")
    end
    if kind == "text" then sort(names) end
    return names, kind
end

local function object(value)
    if open[value] then fail(path() .. " contains itself, which cannot be stored") end
    if #trail >= limits.stateDepth then
        fail(path() .. " is nested more than " .. limits.stateDepth .. " tables deep", "use fewer levels")
    end
    local names, kind = keys(value)
    if #trail == 0 and kind == "numbers" then
        fail("state has numbers as keys", "give the list a name: state.list = { ... }")
    end
    open[value] = true
    add(kind == "numbers" and "[" or "{")
    for index = 1, #names do
        local name = kind == "numbers" and index or names[index]
        trail[#trail + 1] = name
        if index > 1 then add(",") end
        if kind == "text" then add(quoted(name) .. ":") end
        write(rawget(value, name))
        trail[#trail] = nil
    end
    add(kind == "numbers" and "]" or "}")
    open[value] = nil
end

function write(value)
    local kind = type(value)
    if kind == "table" then
        object(value)
    elseif kind == "string" then
        add(quoted(value))
    elseif kind == "number" then
        add(number(value))
    elseif kind == "boolean" then
        add(tostring(value))
    else
        fail(path() .. " is a " .. kind .. ", which cannot be stored", "store numbers, text, true and false, and tables of these")
    end
end

-- MARK: - The table itself

local globals = host.globals
-- The state as JSON that the controller has, and the one to which a failed call reverts. They differ if the script
-- changed the state while the script was being loaded.
local told, good = "{}", "{}"
-- The script's `state` after the last successful call.
local current

-- Returns the state as JSON, or fails with the path of the value that cannot be stored.
function host.writtenState()
    local value = rawget(globals, "state")
    if type(value) ~= "table" then fail("state must be a table, not " .. shown(value), "to clear it write state = {}") end
    pieces, bytes, trail, open = {}, 0, {}, {}
    object(value)
    local text = concat(pieces)
    pieces, trail, open = nil, nil, nil
    return text
end

-- value: the stored state; nil if the controller has none. Must be called within an attempt, as `restoreState` must.
function host.beginState(value)
    current = type(value) == "table" and host.plain(value) or {}
    rawset(globals, "state", current)
    told = host.writtenState()
    good = told
end

function host.loadedState(text)
    good, current = text, rawget(globals, "state")
end

-- Returns true if the text differs from the state that the controller has.
function host.isNewState(text) return text ~= told end

-- Records that the controller has the state now. This function cannot fail.
function host.tellState(text) good, told, current = text, text, rawget(globals, "state") end

-- Reverts the state to its value before the failed call. The table keeps its identity, because the script may have it
-- in a local variable.
function host.restoreState()
    for key in next, current do rawset(current, key, nil) end
    for key, value in next, host.plain(decode(good)) do rawset(current, key, value) end
    rawset(globals, "state", current)
end
