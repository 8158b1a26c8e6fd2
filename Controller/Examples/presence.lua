-- While nobody is at home, lamps go on and off in the evening as if somebody were, each evening at other times. A long press of the
-- button at the hall's light says that everybody leaves, a double press that somebody is back. Both, and what is under way of an
-- evening, survive a restart.

local lamps = { "Ceiling Light", "Bedroom Lamp", "Floor Lamp" }
local hour = 3600

on("Hall Light", "button", "long", function()
  state.away = true
  notify("From this evening on the lamps pretend that somebody is at home.")
end)

on("Hall Light", "button", "double", function()
  state.away = false
  for _, lamp in ipairs(lamps) do
    timer(lamp .. " on"):stop()
    timer(lamp .. " off"):stop()
  end
end)

at("18:00", function()
  if not state.away then return end
  for _, lamp in ipairs(lamps) do
    -- On at some time before eight, off at some time from ten to half past eleven.
    timer(lamp .. " on"):start(math.random(60, 2 * hour))
    timer(lamp .. " off"):start(math.random(4 * hour, 5 * hour + 1800))
  end
end)

for _, lamp in ipairs(lamps) do
  on("timer", lamp .. " on", function() plug(lamp):on() end)
  on("timer", lamp .. " off", function() plug(lamp):off() end)
end
