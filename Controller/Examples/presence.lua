-- Simulates presence: while the residents are away, the lamps turn on and off in the evening, at different times each day. A long
-- press of the hall light's button starts the simulation, a double press ends it. The setting and the evening's timers survive a
-- restart.

local lamps = { "Ceiling Light", "Bedroom Lamp", "Floor Lamp" }
local hour = 3600

on("Hall Light", "button", "long", function()
  state.away = true
  notify("From this evening on the lamps simulate presence.")
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
    -- On between 18:01 and 20:00, off between 22:00 and 23:30.
    timer(lamp .. " on"):start(math.random(60, 2 * hour))
    timer(lamp .. " off"):start(math.random(4 * hour, 5 * hour + 1800))
  end
end)

for _, lamp in ipairs(lamps) do
  on("timer", lamp .. " on", function() plug(lamp):on() end)
  on("timer", lamp .. " off", function() plug(lamp):off() end)
end
