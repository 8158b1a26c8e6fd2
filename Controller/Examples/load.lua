-- Keeps the total power of these plugs below the limit of the fuse. Above the limit the script turns plugs off in the order of
-- the list. It turns them on again in reverse order, each when its previous power fits below the limit with a margin of 200 W.

local limit, room = 3000, 200 -- W
local loads = { "Boiler", "Dryer", "Washing Machine" }

-- The last reading may be older than the relay's last change. A plug that is off has no power.
local function watts_of(name)
  return plug(name):isOn() and plug(name):power() or 0
end

local function balance()
  local shed = state.shed or {}
  local sum = 0
  for _, name in ipairs(loads) do sum = sum + watts_of(name) end

  for _, name in ipairs(loads) do
    local watts = watts_of(name)
    if sum > limit and watts > 50 then
      log(("%s goes off: %.0f W are more than %.0f W"):format(name, sum, limit))
      plug(name):off()
      shed[name] = watts
      sum = sum - watts
    end
  end

  for place = #loads, 1, -1 do
    local name = loads[place]
    local watts = shed[name]
    if watts and sum + watts <= limit - room then
      plug(name):on()
      shed[name] = nil
      sum = sum + watts
    end
  end
  state.shed = shed
end

for _, name in ipairs(loads) do
  on(name, "rises above", 200, { lasting = "2 s" }, balance)
end
cron("* * * * *", balance)
