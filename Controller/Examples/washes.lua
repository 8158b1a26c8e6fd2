-- Counts the cycles of the washing machine, and sends the count of the week on Sunday evening. The count is in `state`, which
-- survives restarts.

on("Washing Machine", "appliance", "finished", { cycle = "programme" }, function()
  state.washes = (state.washes or 0) + 1
  log("wash " .. state.washes .. " of this week")
end)

at("20:00", { weekdays = "sun" }, function()
  local washes = state.washes or 0
  state.washes = 0
  notify({ title = "Laundry", text = "Washes this week: " .. washes .. "." })
end)
