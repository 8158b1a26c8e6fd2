import DNSWire
public import PlugModel
public import ProtocolCore
public import ServiceDiscovery

/// The output of `plugctl info --json`.
public struct InfoRecord: Codable, Hashable, Sendable {
    public var name: String
    public var id: String
    public var host: String
    public var port: UInt16
    public var addresses: [String]
    public var firmware: String
    /// relay, dimmer, meter, button.
    public var capabilities: [String]
    public var on: Bool?
    /// The level in percent.
    public var level: Double?
    /// W, V, A, Wh.
    public var activePower: Double?
    public var voltageRMS: Double?
    public var currentRMS: Double?
    public var activeEnergy: Double?
    /// VA, var, -1 to 1, Hz; omitted if the plug's meter does not measure them.
    public var apparentPower: Double?
    public var reactivePower: Double?
    public var powerFactor: Double?
    public var frequency: Double?
    /// The protection that locked the relay open, as in ``WatchRecord/protection``; omitted if there is none.
    public var tripped: String?
    /// The networks; omitted if the plug's firmware does not report them.
    public var networks: [NetworkRecord]?

    /// - Parameter now: the time of the plug's session, from which the times of leases are counted.
    public init(_ plug: PlugDescription, at place: ResolvedService, now: Instant) {
        name = plug.name
        id = plug.id.rawValue
        host = place.hostName
        port = place.port
        addresses = place.addresses.map { "\($0.address)" }
        firmware = plug.firmware
        capabilities = plug.capabilities.map(\.rawValue).sorted()
        networks = plug.networks.isEmpty ? nil : plug.networks.map { NetworkRecord($0, now: now) }
    }

    public mutating func take(_ state: PlugState) {
        on = state.relayOn
        level = state.level?.percent
        activePower = state.reading?.activePower
        voltageRMS = state.reading?.voltageRMS
        currentRMS = state.reading?.currentRMS
        activeEnergy = state.reading?.activeEnergy
        apparentPower = state.reading?.alternating?.apparentPower
        reactivePower = state.reading?.alternating?.reactivePower
        powerFactor = state.reading?.alternating?.powerFactor
        frequency = state.reading?.alternating?.frequency
        tripped = state.tripped?.rawValue
    }

    /// Text for the user.
    public var lines: [String] {
        var lines = [
            "\(name)", "  id            \(id)", "  host          \(host), port \(port)",
            "  addresses     \(addresses.joined(separator: ", "))", "  firmware      \(firmware)",
            "  capabilities  \(capabilities.joined(separator: ", "))", "  relay         \(on == true ? "on" : "off")",
        ]
        if let level { lines.append("  level         \(number(level)) %") }
        if let protection = tripped.flatMap(Protection.init(rawValue:)) {
            lines.append("  protection    tripped (\(protection.rawValue)): \(protection.words)")
            lines.append("                `plugctl reset \"\(name)\" --protection` or its button resets it")
        }
        if let activePower { lines.append("  active power  \(number(activePower)) W") }
        if let voltageRMS { lines.append("  voltage       \(number(voltageRMS)) V") }
        if let currentRMS { lines.append("  current       \(number(currentRMS)) A") }
        if let apparentPower { lines.append("  apparent      \(number(apparentPower)) VA") }
        if let reactivePower { lines.append("  reactive      \(number(reactivePower)) var") }
        if let powerFactor { lines.append("  power factor  \(number(powerFactor))") }
        if let frequency { lines.append("  frequency     \(number(frequency)) Hz") }
        if let activeEnergy { lines.append("  active energy \(number(activeEnergy)) Wh") }
        return lines + (networks ?? []).flatMap(\.lines)
    }
}
