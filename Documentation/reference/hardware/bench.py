"""The bench build. Scripts/drawings writes bench.svg from it; bench.md has the parts and the wiring."""

import schemdraw.elements as elm

from circuit import Circuit

CIRCUIT = Circuit("Bench build: twelve volts, for a kitchen table", 136, 96)
zone, box, part, wire = CIRCUIT.zone, CIRCUIT.box, CIRCUIT.part, CIRCUIT.wire
zone("#888888", 78, 14, 38, 37.5)

box("J1", 5, 10, 19, 76, "Raspberry Pi",
    right=[(4, "2", "5 V"), (8, "6", "GND"), (14, "11", "GPIO17 relay"), (26, "12", "GPIO18 dimmer"), (36, "13", "GPIO27 button"), (48, "15", "GPIO22 light"), (60, "1", "3.3 V"), (64, "3", "GPIO2 SDA"), (68, "5", "GPIO3 SCL")],
    bottom=[(2.5, "9"), (7, "14"), (11.5, "20"), (16, "25")])

box("K1", 48, 8, 18, 20, "relay board",
    left=[(6, "VDD"), (10, "GND"), (16, "EN")],
    right=[(4, "NO"), (10, "COM"), (16, "NC")])
CIRCUIT.open("K1.NC")

part(elm.ResistorIEC, "R3", 34, 24, "down", "10 kΩ")
part(elm.ResistorIEC, "R2", 30, 46, "right", "1 kΩ")
part(elm.Button, "S1", 46, 46, "down", "button", "left")
part(elm.ResistorIEC, "R1", 30, 58, "right", "470 Ω")
part(elm.LED, "D1", 44, 58, "down", "light", "left")

box("U1", 52, 66, 20, 20, "INA226 board",
    left=[(4, "VCC"), (8, "SDA"), (12, "SCL"), (16, "GND")],
    right=[(4, "IN+"), (10, "IN-"), (16, "VBUS")])

part(elm.FuseIEC, "F1", 92, 70, "right", "1 A, time-lag")
box("X1", 106, 64, 18, 12, "12 V supply",
    left=[(6, "+", "+ 12 V")],
    right=[(6, "-", "0 V")])
part(elm.ResistorIEC, "R4", 130, 26, "down", "100 Ω, 10 W", "left")

part(elm.ResistorIEC, "R5", 80, 36, "right", "100 Ω")
part(elm.ResistorIEC, "R6", 92, 36, "down", "100 kΩ")
CIRCUIT.mosfet("Q1", 102, 33, "right", "AO3400A")
part(elm.LED, "D2", 102, 18, "down", "12 V LED", "left")

wire("5V", "J1.2", "K1.VDD")
wire("GND", "J1.6", "K1.GND")
wire("RELAY", "J1.11", (34, 24), "K1.EN")
wire("RELAY", (34, 24), "R3.1")
wire("GND", "R3.2", (34, 33), end=elm.Ground())
wire("DIMMER", "J1.12", "R5.1")
wire("GATE", "R5.2", (92, 36), "Q1.G")
wire("GATE", (92, 36), "R6.1")
wire("GND", "R6.2", (92, 45), end=elm.Ground())
wire("GND", "Q1.S", (102, 42), end=elm.Ground())
wire("BUTTON", "J1.13", "R2.1")
wire("PRESS", "R2.2", (46, 46), "S1.1")
wire("GND", "S1.2", (46, 55), end=elm.Ground())
wire("LIGHT", "J1.15", "R1.1")
wire("LAMP", "R1.2", (44, 58), "D1.A")
wire("GND", "D1.K", (44, 67), end=elm.Ground())
wire("3V3", "J1.1", "U1.VCC")
wire("SDA", "J1.3", "U1.SDA")
wire("SCL", "J1.5", "U1.SCL")
wire("GND", "U1.GND", (49, 82), (None, 84), end=elm.Ground())
wire("GND", "J1.9", (7.5, 89), end=elm.Ground())
wire("GND", "J1.14", (12, 89), end=elm.Ground())
wire("GND", "J1.20", (16.5, 89), end=elm.Ground())
wire("GND", "J1.25", (21, 89), end=elm.Ground())
wire("SUPPLY", "X1.+", "F1.2")
wire("FUSED", "F1.1", "U1.IN+")
wire("MEASURED", "U1.IN-", (75.5, None), (None, 18), "K1.COM")
wire("MEASURED", "U1.VBUS", (75.5, None), (75.5, 76))
wire("SWITCHED", "K1.NO", (102, 12), (130, 12), "R4.1")
wire("SWITCHED", (102, 12), "D2.A")
wire("DIMMED", "D2.K", "Q1.D")
wire("GND", "R4.2", (130, 70), "X1.-")
wire("GND", (130, 70), (130, 76), end=elm.Ground())

CIRCUIT.text(80, 50, "optional: a light that is dimmed")
