-- `plug(NAME)`: the state of a plug, and its commands. Commands are carried out after the script's function has
-- returned. The state is from the time at which the controller called the function.
--
--     plug("Fan"):on()  :on{lasting = "15 min"}  :off()  :toggle()
--     plug("Lamp"):dim(40, {over = 2})  :brighten(-10)  :restore()
--     plug("Lamp"):isOn()  :level()  :power()  :isConnected()

local host = ...
local lower, next, rawset, setmetatable, type = string.lower, next, rawset, setmetatable, type
local decimal, fail, limits, options, shown = host.decimal, host.fail, host.limits, host.options, host.shown

-- The last state of each plug, as sent by the controller, by plug name.
local views = {}
-- The names of the objects that scripts have, stored where scripts cannot change them.
local names = setmetatable({}, { __mode = "k" })

function host.seePlugs(changes)
    for _, view in next, changes do
        if type(view) == "table" and type(view.name) == "string" then views[view.name] = view end
    end
end

-- Returns the state of the plug with this name, or of the only plug whose name differs only in upper and lower case.
-- Nil for an unknown name, and for a name that matches several plugs.
local function view(name)
    if views[name] then return views[name] end
    local found
    for other, record in next, views do
        if lower(other) == lower(name) then
            if found then return nil end
            found = record
        end
    end
    return found
end

-- Returns the current call: { actions = {...}, bytes = the size of the actions, timers = {...} }. Fails outside of a
-- call.
function host.asked(what)
    if host.call then return host.call end
    fail(what .. " works only in a function that an event calls", "call it in the function of on(...), at(...) or cron(...)")
end

function host.tooMuch() fail("the actions, the log and the state of this call exceed " .. limits.answerBytes // 1024 .. " KiB") end

-- Adds an action, in the form of an entry of a rule file's `then`.
function host.act(what, action)
    local call = host.asked(what)
    local actions = call.actions
    if #actions >= limits.actions then fail("more than " .. limits.actions .. " actions in one call") end
    local text = host.written(action)
    call.bytes = call.bytes + #text
    if call.bytes > limits.answerBytes then host.tooMuch() end
    actions[#actions + 1] = text
end
local act = host.act

-- MARK: - The object

local methods = {}

local function nameOf(self, method)
    local name = names[self]
    if name then return name end
    fail("'" .. method .. "' belongs to a plug", 'write plug("Lamp"):' .. method .. "(...), with a colon")
end

local function span(value, what, least, most) return decimal(host.seconds(value, what, least, most)) .. " s" end

function methods.on(self, given)
    local name = nameOf(self, "on")
    local given = options(given, "on", { ["for"] = true, lasting = true })
    local lasting = given["for"] or given.lasting
    if lasting == nil then
        act("on", { ["turn on"] = name })
    else
        act("on", { ["turn on"] = { plug = name, ["for"] = span(lasting, "the time of on", 1, 30 * 86400) } })
    end
end

function methods.off(self) act("off", { ["turn off"] = nameOf(self, "off") }) end
function methods.toggle(self) act("toggle", { toggle = nameOf(self, "toggle") }) end
function methods.restore(self) act("restore", { restore = nameOf(self, "restore") }) end

-- key: `to` for a level, `by` for a difference.
local function dim(self, method, key, percent, least, given)
    local name = nameOf(self, method)
    local given = options(given, method, { over = true })
    local level = decimal(host.number(percent, "the level of " .. method, least, 100)) .. " %"
    local over = given.over and span(given.over, "the time of " .. method, 0, 3600)
    act(method, { dim = { plug = name, [key] = level, over = over } })
end

function methods.dim(self, percent, given) dim(self, "dim", "to", percent, 0, given) end
function methods.brighten(self, percent, given) dim(self, "brighten", "by", percent, -100, given) end

local function ask(method, key, unknown)
    methods[method] = function(self)
        local known = view(nameOf(self, method))
        local value = known and known[key]
        if value == nil then return unknown end
        return value
    end
end

ask("isOn", "on", nil)
ask("level", "level", nil)
ask("power", "power", nil)
ask("isConnected", "connected", false)

local kind = {
    __name = "plug",
    __metatable = "plug",
    __index = function(self, key)
        local method = methods[key]
        if method then return method end
        local all = "on, off, toggle, dim, brighten, restore, isOn, level, power, isConnected"
        fail("a plug has no " .. shown(key), host.meant(key, methods) or all)
    end,
    __newindex = function() fail("a plug stores no values", "store values in state") end,
    __tostring = function(self) return names[self] or "plug" end,
}

rawset(host.globals, "plug", function(name)
    local object = setmetatable({}, kind)
    names[object] = host.name(name, "the name of a plug")
    return object
end)
