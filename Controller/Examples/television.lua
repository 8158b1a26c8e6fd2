-- Does the same as television.yaml, as a script. The television's power controls the room: 1 to 2 W in standby, at least 60 W when
-- it runs. The 3 seconds ignore the short peak of its power supply. After the movie the light and the amplifier return to their
-- previous state, unless they were switched by hand meanwhile.

on("Television", "rises above", 40, { lasting = "3 s" }, function()
  plug("Ceiling Light"):off()
  plug("Amplifier"):on()
end)

on("Television", "falls below", 20, { lasting = "10 s" }, function()
  plug("Ceiling Light"):restore()
  plug("Amplifier"):restore()
end)
