-- `plug(NAME)`: a plug as the script sees it, and what it can ask of it. Nothing is done before the function that asks has come to its
-- end; what a plug is asked is what it was when the function was called.
--
--     plug("Fan"):on()  :on{lasting = "15 min"}  :off()  :toggle()
--     plug("Lamp"):dim(40, {over = 2})  :brighten(-10)  :restore()
--     plug("Lamp"):isOn()  :level()  :power()  :isConnected()

local host = ...
local lower, next, rawset, setmetatable, type = string.lower, next, rawset, setmetatable, type
local decimal, fail, limits, options, shown = host.decimal, host.fail, host.limits, host.options, host.shown

-- What the controller told of each plug last, by name, and what is asked for in the call at hand.
local views = {}
-- Names by the objects that scripts have, where they cannot be changed.
local names = setmetatable({}, { __mode = "k" })

function host.seePlugs(changes)
    for _, view in next, changes do
        if type(view) == "table" and type(view.name) == "string" then views[view.name] = view end
    end
end

-- The one of this name, or else the only one whose name differs in capitals. Nil: none is known.
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

-- Nil outside of a call; else { actions = {...}, bytes = their sum, timers = {...} }.
function host.asked(what)
    if host.call then return host.call end
    fail(what .. " works only in a function that an event calls", "put it into on(...), at(...) or cron(...)")
end

function host.tooMuch() fail("what is asked for at once is larger than " .. limits.answerBytes // 1024 .. " KiB") end

-- Adds what a rule file has as an entry of `then`.
function host.act(what, action)
    local call = host.asked(what)
    local actions = call.actions
    if #actions >= limits.actions then fail("more than " .. limits.actions .. " actions are asked for at once") end
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

-- key: `to` a level, or `by` a difference.
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
    __newindex = function() fail("a plug keeps nothing", "what is to be kept belongs into state") end,
    __tostring = function(self) return names[self] or "plug" end,
}

rawset(host.globals, "plug", function(name)
    local object = setmetatable({}, kind)
    names[object] = host.name(name, "the name of a plug")
    return object
end)
