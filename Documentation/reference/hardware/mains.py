"""The mains design, which has not been built. Scripts/drawings writes mains.svg from it; mains.md lists what each part must withstand."""

import schemdraw.elements as elm

from circuit import Circuit, ThermalFuse, Varistor


def reference(label=""):
    """The meter's reference node at mains potential. It is not a ground and must not look like one."""
    return elm.GroundSignal().color("#b3261e").label(label, "right", fontsize=10)


CIRCUIT = Circuit("Mains design, 230 V and 10 A: not built", 166, 127)
zone, box, part, wire = CIRCUIT.zone, CIRCUIT.box, CIRCUIT.part, CIRCUIT.wire
zone("#d5a0a0", 1.5, 7, 107, 118, "everything at mains potential")
zone("#a0c5a8", 113.5, 7, 51, 118, "safe to touch (SELV)")
CIRCUIT.barrier(111, 6, 126, "reinforced insulation")

# The load's current: from the plug to the socket.
box("X2", 4, 15, 8, 12, "socket",
    right=[(3, "L"), (6, "N"), (9, "PE")])
box("X1", 4, 34, 8, 22, "plug",
    right=[(4, "L"), (14, "N"), (18, "PE")])
part(elm.FuseIEC, "F1", 20, 38, "right", "10 A T, H")
part(ThermalFuse, "F2", 29, 38, "right", "98 °C")
part(Varistor, "RV1", 38, 40, "down", "300 V", "left")
part(elm.ResistorIEC, "R1", 46, 38, "right", "3 mΩ")
box("K1", 103, 16, 16, 12, "HF115F-I/005",
    left=[(2, "NO", ""), (10, "COM", "")],
    right=[(2, "A1", ""), (10, "A2", "")])
for edge, x, symbol in ((103, 107, elm.Switch), (119, 115, elm.ResistorIEC)):  # its contact and its coil
    CIRCUIT.symbol(elm.Line, (edge, 18), (x, 18))
    CIRCUIT.symbol(symbol, (x, 26), (x, 18))
    CIRCUIT.symbol(elm.Line, (x, 26), (edge, 26))
wire("L", "X1.L", "F1.1")
wire("LF", "F1.2", "F2.1")
wire("LREF", "F2.2", (38, 38), "RV1.1")
wire("LREF", (38, 38), "R1.1")
wire("LS", "R1.2", (78, 38), (None, 26), "K1.COM")
wire("LOUT", "X2.L", "K1.NO")
wire("PE", "X2.PE", (16, None), (None, 52), "X1.PE")
wire("N", "X1.N", (18, 48), "RV1.2")
wire("N", "X2.N", (18, None), (18, 48))

# The meter and its filters. Their reference is the live conductor after the fuses, LREF.
box("U1", 74, 50, 10, 48, "ADE7953",
    left=[(6, "IAP"), (16, "IAN"), (26, "VP"), (40, "VN")],
    right=[(4, "VDD"), (14, "SDA"), (20, "SCL"), (44, "AGND")])
part(elm.ResistorIEC, "R2", 26, 76, "right", "510 kΩ")
part(elm.ResistorIEC, "R3", 45, 76, "right", "510 kΩ")
part(elm.ResistorIEC, "R4", 56, 56, "right", "1 kΩ")
part(elm.ResistorIEC, "R5", 56, 66, "right", "1 kΩ")
part(elm.ResistorIEC, "R6", 58, 76, "down", "1 kΩ", "left")
part(elm.ResistorIEC, "R7", 56, 90, "right", "1 kΩ")
part(elm.Capacitor, "C1", 69, 56, "down", "33 nF", "left", length=6)
part(elm.Capacitor, "C2", 69, 66, "down", "33 nF", "left", length=6)
part(elm.Capacitor, "C3", 69, 76, "down", "33 nF", "left", length=6)
part(elm.Capacitor, "C4", 69, 90, "down", "33 nF", "left", length=6)
wire("LS", (56, 38), "R4.1")
wire("IAP", "R4.2", (69, 56), "U1.IAP")
wire("IAP", (69, 56), "C1.1")
wire("LREF", "C1.2", end=reference())
wire("LREF", (44, 38), (None, 66), "R5.1")
wire("LREF", (44, 57), (49, None), (None, 59), end=reference("LREF"))
wire("IAN", "R5.2", (69, 66), "U1.IAN")
wire("IAN", (69, 66), "C2.1")
wire("LREF", "C2.2", end=reference())
wire("N", (22, 48), (None, 76), "R2.1")
wire("VDIV", "R2.2", "R3.1")
wire("VP", "R3.2", (58, 76), "R6.1")
wire("VP", (58, 76), (69, 76), "U1.VP")
wire("VP", (69, 76), "C3.1")
wire("LREF", "R6.2", end=reference())
wire("LREF", "C3.2", end=reference())
wire("LREF", "R7.1", (53, None), (None, 92), end=reference("LREF"))
wire("VN", "R7.2", (69, 90), "U1.VN")
wire("VN", (69, 90), "C4.1")
wire("LREF", "C4.2", end=reference())
wire("LREF", "U1.AGND", (86.2, 94), (None, 95.5), end=reference())

# The meter's supply, and the supply of the Raspberry Pi.
part(elm.FuseIEC, "F3", 41, 52, "down", "1 A T, H", "left")
box("PS2", 56, 103, 14, 10, "RAC02E-3.3SK/277",
    left=[(3, "L"), (7, "N")],
    right=[(3, "+", "+ 3.3 V"), (7, "-", "0 V")])
box("PS1", 103, 112, 16, 11, "RAC10-05SK/277",
    left=[(4, "L"), (8, "N")],
    right=[(4, "+", "+ 5 V"), (8, "-", "0 V")])
part(elm.Capacitor, "C5", 79, 106, "down", "10 µF", length=6)
wire("LREF", (41, 38), "F3.1")
wire("LA", "F3.2", (41, 106), "PS2.L")
wire("LA", (41, 106), (None, 116), "PS1.L")
wire("N", (22, 76), (22, 110), "PS2.N")
wire("N", (22, 110), (None, 120), "PS1.N")
wire("3V3A", "PS2.+", "C5.1")
wire("LREF", "C5.2", end=reference())
wire("LREF", "PS2.-", (74, 110), (None, 112), end=reference())

# The bus isolator, which crosses the barrier, and its pull-ups.
box("U2", 103, 48, 16, 32, "ISO1640DWR",
    left=[(6, "VCC2"), (16, "SDA2"), (22, "SCL2"), (28, "GND2")],
    right=[(6, "VCC1"), (16, "SDA1"), (22, "SCL1"), (28, "GND1")])
part(elm.ResistorIEC, "R8", 92, 54, "down", "4k7")
part(elm.ResistorIEC, "R9", 98, 54, "down", "4k7")
wire("3V3A", "C5.1", (88.5, None), (88.5, 54))
wire("3V3A", "U1.VDD", (92, 54), "R8.1")
wire("3V3A", (92, 54), (98, 54), "R9.1")
wire("3V3A", (98, 54), "U2.VCC2")
wire("SDAA", "U1.SDA", (92, 64), "U2.SDA2")
wire("SDAA", "R8.2", (92, 64))
wire("SCLA", "U1.SCL", (98, 70), "U2.SCL2")
wire("SCLA", "R9.2", (98, 70))
wire("LREF", "U2.GND2", (99, 76), (None, 78), end=reference())

# The parts that a person may touch.
box("J1", 150, 12, 12, 100, "Raspberry Pi",
    left=[(6, "2", "5 V"), (22, "11", "GPIO17"), (42, "1", "3.3 V"), (52, "3", "SDA"), (58, "5", "SCL"), (64, "9", "GND"), (74, "13", "GPIO27"), (90, "15", "GPIO22")],
    bottom=[(6, "6")])
part(elm.Diode, "D1", 128, 26, "up", "1N4148")
CIRCUIT.mosfet("Q1", 128, 31, "left", "AO3400A")
part(elm.ResistorIEC, "R10", 138, 34, "right", "100 Ω")
part(elm.ResistorIEC, "R11", 136, 36, "down", "10 kΩ")
part(elm.ResistorIEC, "R12", 138, 86, "right", "1 kΩ")
part(elm.Button, "S1", 130, 86, "down", "button", "left")
part(elm.ResistorIEC, "R13", 138, 102, "right", "470 Ω")
part(elm.LED, "D2", 130, 102, "down", "light", "left")
wire("5V", "K1.A1", "D1.K")
wire("5V", "D1.K", (134, 18), end=elm.Vdd().label("+5 V"))
wire("5V", "J1.2", (146, 18), end=elm.Vdd().label("+5 V"))
wire("5V", "PS1.+", (124, 116), end=elm.Vdd().label("+5 V"))
wire("GND", "PS1.-", (124, 120), (None, 121), end=elm.Ground())
wire("COIL", "K1.A2", "D1.A")
wire("COIL", "D1.A", "Q1.D")
wire("GND", "Q1.S", (128, 40), end=elm.Ground())
wire("GATE", "Q1.G", (136, 34), "R10.1")
wire("GATE", (136, 34), "R11.1")
wire("GND", "R11.2", (136, 45), end=elm.Ground())
wire("RELAY", "R10.2", "J1.11")
wire("3V3", "U2.VCC1", "J1.1")
wire("SDA", "U2.SDA1", "J1.3")
wire("SCL", "U2.SCL1", "J1.5")
wire("GND", "U2.GND1", (130, 76), "J1.9")
wire("GND", (130, 76), (None, 77), end=elm.Ground())
wire("PRESS", "S1.1", "R12.1")
wire("BUTTON", "R12.2", "J1.13")
wire("GND", "S1.2", (130, 95), end=elm.Ground())
wire("LAMP", "D2.A", "R13.1")
wire("LIGHT", "R13.2", "J1.15")
wire("GND", "D2.K", (130, 111), end=elm.Ground())
wire("GND", "J1.6", (156, 115), end=elm.Ground())

CIRCUIT.text(3, 123.6, "Crystal, reference and strapping of U1: as in its data sheet. The triangle is LREF: live, not a ground.")
