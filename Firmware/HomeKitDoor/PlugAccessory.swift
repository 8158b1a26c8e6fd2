public import HomeKit
import Metering
public import PlugModel

/// The plug as a HomeKit accessory: its services, the values for its state, and the commands for writes.
///
/// Instance ids never change their meaning, since controllers store them (HAP 2.6.1).
public struct PlugAccessory: Sendable {
    /// The service that switches the plug.
    public enum Shape: String, Hashable, Sendable, CaseIterable { case outlet, lightbulb }

    static let id: UInt64 = 1
    /// The minimum power of a load in use, because meters show some tenths of a watt without a load.
    static let inUseWatts = 1.0

    private enum Instance {
        static let name: UInt64 = 5
        static let outletOn: UInt64 = 33
        static let outletInUse: UInt64 = 34
        static let outletEnergy = Energy(power: 40, energy: 41, voltage: 42, current: 43)
        static let bulbOn: UInt64 = 49
        static let brightness: UInt64 = 50
        static let bulbEnergy = Energy(power: 56, energy: 57, voltage: 58, current: 59)
        static let press: UInt64 = 65
    }

    private struct Energy {
        var power, energy, voltage, current: UInt64
    }

    /// The service that switches the plug.
    public let shape: Shape
    private let capabilities: Set<Capability>
    private let plug: PlugID
    private let firmware: String

    /// Creates the accessory of a plug.
    public init(_ plug: PlugID, _ shape: Shape, capabilities: Set<Capability>, firmware: String) {
        (self.plug, self.shape, self.capabilities, self.firmware) = (plug, shape, capabilities, firmware)
    }

    /// The category that controllers show.
    public var category: HomeKitCategory { shape == .lightbulb ? .lightbulb : .outlet }
    /// The model name.
    public var model: String { capabilities.contains(.dimmer) ? "Smart Dimmer" : "Smart Plug" }

    private var on: UInt64 { shape == .lightbulb ? Instance.bulbOn : Instance.outletOn }
    private var energy: Energy { shape == .lightbulb ? Instance.bulbEnergy : Instance.outletEnergy }
    private var dims: Bool { shape == .lightbulb && capabilities.contains(.dimmer) }

    private static func key(_ instance: UInt64) -> CharacteristicKey { CharacteristicKey(id, instance) }

    /// The programmable switch event of the button.
    static let pressKey = key(Instance.press)

    // MARK: Services

    /// Types of services and characteristics (HAP 8, 9).
    private enum Kind {
        static let accessoryInformation = AccessoryType(0x3E)
        static let identify = AccessoryType(0x14)
        static let manufacturer = AccessoryType(0x20)
        static let model = AccessoryType(0x21)
        static let name = AccessoryType(0x23)
        static let serialNumber = AccessoryType(0x30)
        static let firmwareRevision = AccessoryType(0x52)
        static let protocolInformation = AccessoryType(0xA2)
        static let version = AccessoryType(0x37)
        static let outlet = AccessoryType(0x47)
        static let on = AccessoryType(0x25)
        static let outletInUse = AccessoryType(0x26)
        static let lightbulb = AccessoryType(0x43)
        static let brightness = AccessoryType(0x8)
        static let statelessProgrammableSwitch = AccessoryType(0x89)
        /// Non-Apple characteristics that applications with energy displays read, including Home Assistant.
        static let power = AccessoryType(uuid: "E863F10D-079E-48FF-8F27-9C2605A29F52")
        static let energy = AccessoryType(uuid: "E863F10C-079E-48FF-8F27-9C2605A29F52")
        static let voltage = AccessoryType(uuid: "E863F10A-079E-48FF-8F27-9C2605A29F52")
        static let current = AccessoryType(uuid: "E863F126-079E-48FF-8F27-9C2605A29F52")
    }

    /// The accessory with its services, as controllers read them.
    public var accessories: [Accessory] {
        var services = [information, protocolInformation]
        if capabilities.contains(.relay) { services.append(switching) }
        if capabilities.contains(.button) { services.append(button) }
        return [Accessory(Self.id, services)]
    }

    private var information: AccessoryService {
        AccessoryService(
            1, Kind.accessoryInformation,
            [
                Characteristic(2, Kind.identify, [.pairedWrite], .boolean),
                Characteristic(3, Kind.manufacturer, [.pairedRead], .string),
                Characteristic(4, Kind.model, [.pairedRead], .string),
                Characteristic(Instance.name, Kind.name, [.pairedRead], .string),
                Characteristic(6, Kind.serialNumber, [.pairedRead], .string),
                Characteristic(7, Kind.firmwareRevision, [.pairedRead], .string),
            ])
    }

    private var protocolInformation: AccessoryService {
        AccessoryService(16, Kind.protocolInformation, [Characteristic(17, Kind.version, [.pairedRead], .string)])
    }

    private var switching: AccessoryService {
        let isOn = Characteristic(on, Kind.on, [.pairedRead, .pairedWrite, .events], .boolean)
        var characteristics = [isOn]
        switch shape {
        case .outlet:
            characteristics.append(
                Characteristic(Instance.outletInUse, Kind.outletInUse, [.pairedRead, .events], .boolean))
        case .lightbulb:
            if dims {
                characteristics.append(
                    Characteristic(
                        Instance.brightness, Kind.brightness, [.pairedRead, .pairedWrite, .events], .integer,
                        unit: .percentage, limits: CharacteristicLimits(minimum: 0, maximum: 100, step: 1)))
            }
        }
        if capabilities.contains(.meter) { characteristics += meter }
        return AccessoryService(
            shape == .outlet ? 32 : 48, shape == .outlet ? Kind.outlet : Kind.lightbulb, characteristics,
            isPrimary: true)
    }

    private var meter: [Characteristic] {
        let kinds: [(UInt64, AccessoryType?, String)] = [
            (energy.power, Kind.power, "Power (W)"), (energy.energy, Kind.energy, "Energy (kWh)"),
            (energy.voltage, Kind.voltage, "Voltage (V)"), (energy.current, Kind.current, "Current (A)"),
        ]
        return kinds.compactMap { instance, type, name in
            type.map {
                Characteristic(
                    instance, $0, [.pairedRead, .events], .float,
                    limits: CharacteristicLimits(minimum: -1_000_000_000, maximum: 1_000_000_000), name: name)
            }
        }
    }

    private var button: AccessoryService {
        AccessoryService(
            64, Kind.statelessProgrammableSwitch,
            [
                Characteristic(
                    Instance.press, .programmableSwitchEvent, [.pairedRead, .events], .uint8,
                    limits: CharacteristicLimits(minimum: 0, maximum: 2, validValues: [0, 1, 2]))
            ])
    }

    // MARK: Values

    /// The values that never change.
    var constants: [CharacteristicKey: CharacteristicValue] {
        [
            Self.key(3): .text("Smart Plug Project"), Self.key(4): .text(model), Self.key(6): .text(plug.rawValue),
            Self.key(7): .text(firmware), Self.key(17): .text("1.1.0"),
        ]
    }

    /// Returns the values that depend on the state and on the name that the user chose.
    func values(_ state: PlugState, name: String) -> [CharacteristicKey: CharacteristicValue] {
        var values = [Self.key(Instance.name): CharacteristicValue.text(name)]
        if capabilities.contains(.relay) {
            values[Self.key(on)] = .boolean(state.relayOn)
            if shape == .outlet {
                let draws = state.reading.map { $0.activePower >= Self.inUseWatts } ?? true
                values[Self.key(Instance.outletInUse)] = .boolean(state.relayOn && draws)
            }
            if dims, let level = state.level {
                values[Self.key(Instance.brightness)] = .whole(Int64(level.percent.rounded()))
            }
            if capabilities.contains(.meter) { write(state.reading, to: &values) }
        }
        return values
    }

    /// If the meter does not answer, power, voltage and current are zero, and the energy is unchanged.
    private func write(_ reading: Reading?, to values: inout [CharacteristicKey: CharacteristicValue]) {
        values[Self.key(energy.power)] = .number(reading?.activePower ?? 0)
        if let reading { values[Self.key(energy.energy)] = .number((reading.activeEnergy).rounded() / 1000) }
        values[Self.key(energy.voltage)] = .number(reading?.voltageRMS ?? 0)
        values[Self.key(energy.current)] = .number(reading?.currentRMS ?? 0)
    }

    // MARK: Requests

    /// Returns the value of a press (HAP 9.75).
    static func value(of press: ButtonPress) -> CharacteristicValue {
        switch press {
        case .single: .whole(0)
        case .double: .whole(1)
        case .long: .whole(2)
        }
    }

    /// Returns the command for a write, or nil for a read-only characteristic.
    func command(_ write: CharacteristicWriteRequest) -> PlugCommand? {
        switch (write.key, write.value) {
        case (Self.key(2), .boolean): return .identify
        case (Self.key(on), .boolean(let isOn)): return .setRelay(on: isOn, autoOff: nil)
        case (Self.key(Instance.brightness), .whole(let percent)) where dims:
            return .setLevel(DimLevel(percent: Double(percent)), transition: .zero)
        case (_, _): return nil
        }
    }
}
