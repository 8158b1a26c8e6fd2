-- The same as television.yaml, as a script. The television's power switches the room: in standby it takes a watt or two, running
-- 60 W and more. The 3 seconds keep the short peak of its power supply from counting. Afterwards the light and the amplifier are as
-- they were before, unless somebody has switched them meanwhile.

on("Television", "rises above", 40, { lasting = "3 s" }, function()
  plug("Ceiling Light"):off()
  plug("Amplifier"):on()
end)

on("Television", "falls below", 20, { lasting = "10 s" }, function()
  plug("Ceiling Light"):restore()
  plug("Amplifier"):restore()
end)
