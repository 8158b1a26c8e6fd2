import Crypto
import Foundation
import LinuxNetwork
import LinuxSystem
import Matter
import Metering
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import MatterDoor

@Suite struct MatterPlugTests {
    private static let id = PlugID(rawValue: "00000000000a")!
    private let dimmer = MatterPlug(id, capabilities: [.relay, .dimmer, .meter, .button], firmware: "1.2.3")
    private let plug = MatterPlug(id, capabilities: [.relay], firmware: "0.1.0")

    @Test("Every level from 1 to 254 is unchanged after the conversion to a dim level and back")
    func levelsSurvive() {
        for level in 1...254 as ClosedRange<UInt8> {
            #expect(MatterPlug.level(MatterPlug.dimLevel(level)) == level)
        }
        #expect(MatterPlug.dimLevel(254) == .full && MatterPlug.dimLevel(255) == .full)
        #expect(MatterPlug.level(.zero) == 1 && MatterPlug.dimLevel(0).permille == 1)
    }

    @Test("A state is converted to values in the units of Matter") func states() {
        let reading = Reading(time: .zero, deciwatts: -5, decivolts: nil, milliamperes: 7, milliwattHours: .max)
        let state = PlugState(relayOn: true, level: DimLevel(permille: 500), reading: reading, tripped: .overPower)
        let expected = PlugValues(
            isOn: true, level: 127,
            reading: PlugValues.Reading(power: -500, voltage: nil, current: 7, energy: PlugWire.greatestEnergy),
            isTripped: true)
        #expect(dimmer.values(state) == expected)
        #expect(plug.values(PlugState(relayOn: false, level: .full)) == PlugValues(isOn: false))
        #expect(plug.features == NodeFeatures(dims: false, meters: false, hasButton: false))
    }

    @Test("Commands are converted, and commands that the plug cannot perform are refused") func commands() {
        #expect(
            plug.reaction(to: .on(true, offAfter: .seconds(9)), isOn: false)
                == .perform(.setRelay(on: true, autoOff: .seconds(9))))
        #expect(
            plug.reaction(to: .on(false, offAfter: .seconds(9)), isOn: true)
                == .perform(.setRelay(on: false, autoOff: nil)))
        let down = NodeCommand.level(1, transition: .seconds(100_000), withOnOff: true)
        #expect(
            dimmer.reaction(to: down, isOn: true)
                == .perform(.setLevel(.zero, transition: PlugWire.longestTransition)))
        let quiet = NodeCommand.level(254, transition: .zero, withOnOff: false)
        #expect(dimmer.reaction(to: quiet, isOn: true) == .perform(.setLevel(.full, transition: .zero)))
        #expect(dimmer.reaction(to: quiet, isOn: false) == .refuse(.invalidInState))
        #expect(plug.reaction(to: quiet, isOn: true) == .refuse(.unsupportedCommand))
        #expect(plug.reaction(to: .identify(.seconds(3)), isOn: true) == .blink(.seconds(3)))
        #expect(plug.reaction(to: .identify(.zero), isOn: true) == .nothing)
    }

    @Test("Version numbers rise with the version, and long names are shortened by characters") func texts() {
        #expect(dimmer.firmwareNumber == 1_002_003 && plug.firmwareNumber == 1000)
        #expect(MatterPlug(Self.id, capabilities: [], firmware: "2").firmwareNumber == 2_000_000)
        let name = String(repeating: "é", count: 20)
        #expect(MatterPlug.shortened(name) == String(repeating: "é", count: 16))
        #expect(MatterPlug.shortened("Lamp") == "Lamp")
    }

    @Test("A label is equal after writing and parsing, and a damaged one is rejected") func label() throws {
        let label = try MatterLabel(vendor: 0xFFF1, product: 0x8001)
        #expect(MatterLabel(line: label.line) == label)
        #expect(label.payload.qrText.hasPrefix("MT:") && label.payload.manualCode.count == 11)
        let other = label.with(vendor: 0xFFF2, product: 1)
        #expect(other != label && other.payload.manualCode == label.payload.manualCode)
        #expect(!"\(label)".contains(label.line.prefix { $0 != " " }))
        let words = label.line.split(separator: " ").map(String.init)
        let wrong = [
            (0, "12345678"), (0, "0"), (1, "4096"), (2, "70000"), (4, "999"), (5, "00"),
            (6, String(words[6].dropLast(2))),
        ]
        for (index, word) in wrong {
            var changed = words
            changed[index] = word
            #expect(MatterLabel(line: changed.joined(separator: " ")) == nil, "\(index)")
        }
        #expect(MatterLabel(line: words.dropLast().joined(separator: " ")) == nil)
        let second = try MatterLabel(vendor: 0xFFF1, product: 0x8001)
        #expect(second != label)
    }

    @Test("The host is named after the first interface with a hardware address and a link") func hostNames() {
        let loopback = LinuxInterface(index: 1, name: "lo", flags: [.up, .running, .loopback], hardwareAddress: [])
        let cable = LinuxInterface(index: 2, name: "eth0", flags: [.up], hardwareAddress: [2, 0, 0, 0, 0, 0x0A])
        let radio = LinuxInterface(
            index: 3, name: "wlan0", flags: [.up, .running], hardwareAddress: [2, 0, 0, 0, 0, 0x0B])
        #expect(MatterInterface([loopback, cable, radio], plug: Self.id).hostName == "02000000000B")
        #expect(MatterInterface([loopback, cable], plug: Self.id).name == "eth0")
        let without = MatterInterface([loopback], plug: Self.id)
        #expect(without.hostName == "00000000000A" && without.name == "lo")
    }
}

@Suite struct MatterCredentialsTests {
    @Test("Incomplete, exposed and damaged credentials are rejected with the file's name") func faults() throws {
        let folder = TestFolder()
        func fault() -> String {
            do {
                _ = try MatterCredentials(folder: folder.path)
                return "none"
            } catch {
                return "\(error)"
            }
        }
        func write(_ bytes: [UInt8], _ name: String) throws {
            try FileStore().replaceSecret("\(folder.path)/\(name)", with: bytes)
        }
        func setMode(_ mode: Int) throws {
            try FileManager.default.setAttributes(
                [.posixPermissions: mode], ofItemAtPath: folder.path + "/dac-key.der")
        }
        #expect(fault().contains("\(folder.path)/dac.der is missing\nhint: Scripts/matter-credentials"))
        try write([1, 2, 3], "dac.der")
        #expect(fault().contains("dac-key.der is missing"))
        try write([1, 2, 3], "dac-key.der")
        try setMode(0o644)
        #expect(fault().contains("dac-key.der") && !fault().contains("missing"), "\(fault())")
        try setMode(0o600)
        #expect(fault().contains("pai.der is missing"))
        try write([1, 2, 3], "pai.der")
        try write([1, 2, 3], "declaration.der")
        #expect(fault().contains("dac-key.der is not a P-256 key"))
        try write(Array(P256.Signing.PrivateKey().derRepresentation), "dac-key.der")
        #expect(fault().contains("the attestation credentials in \(folder.path): invalid"), "\(fault())")
    }
}
