import DNSWire
public import PlugModel
public import ProtocolCore
public import ServiceDiscovery

/// The output of `plugctl info --json`.
public struct InfoRecord: Codable, Hashable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The plug's id, twelve hexadecimal digits.
    public var id: String
    /// The domain in which the controller found the plug: `local`, or a domain of a name server if the plug does not answer
    /// in the local network, or `address` if the controller used the plug's address.
    public var domain: String
    /// The host name of the resolved service.
    public var host: String
    /// The TCP port of the resolved service.
    public var port: UInt16
    /// The IPv4 and IPv6 addresses.
    public var addresses: [String]
    /// The firmware version.
    public var firmware: String
    /// The plug's capabilities, such as relay, dimmer, meter and button.
    public var capabilities: [String]
    /// True if the relay is on.
    public var on: Bool?
    /// The level in percent.
    public var level: Double?
    /// Active power in W.
    public var activePower: Double?
    /// RMS voltage in V.
    public var voltageRMS: Double?
    /// RMS current in A.
    public var currentRMS: Double?
    /// The energy counter in Wh.
    public var activeEnergy: Double?
    /// Apparent power in VA. This and the following three values are omitted if the plug's meter does not measure them.
    public var apparentPower: Double?
    /// Reactive power in var.
    public var reactivePower: Double?
    /// The power factor, -1 to 1.
    public var powerFactor: Double?
    /// The mains frequency in Hz.
    public var frequency: Double?
    /// The protection that locked the relay open, as in ``WatchRecord/protection``; omitted if the relay is not locked.
    public var tripped: String?
    /// True if the child lock turned the button off; omitted if the plug has no button or its firmware does not know
    /// the setting.
    public var childLock: Bool?
    /// The networks; omitted if the plug's firmware does not report them.
    public var networks: [NetworkRecord]?
    /// The results of mapping the plug's port at its router, one per IP family; omitted if the plug does not map its port.
    public var reachability: [ReachabilityRecord]?
    /// The hosts that sleep, or have slept, at the plug's sleep proxy; omitted without such hosts.
    public var sleepers: [SleeperRecord]?
    /// The Matter fabrics; omitted if Matter is off at the plug or this controller is not an owner.
    public var matter: [MatterFabricRecord]?

    /// Creates the record of a plug without its state.
    ///
    /// - Parameter now: the current time on this controller's clock, from which the remaining lease times are
    ///   calculated.
    public init(_ plug: PlugDescription, at place: ResolvedService, now: Instant) {
        self.plug = plug.name
        id = plug.id.rawValue
        domain = place.identity.domain
        host = place.hostName
        port = place.port
        addresses = place.addresses.map { "\($0.address)" }
        firmware = plug.firmware
        capabilities = plug.capabilities.map(\.rawValue).sorted()
        childLock = plug.settings?.childLock
        networks = plug.networks.isEmpty ? nil : plug.networks.map { NetworkRecord($0, now: now) }
        reachability = plug.reachability.isEmpty ? nil : plug.reachability.map { ReachabilityRecord($0) }
    }

    /// Adds the plug's state.
    ///
    /// - Parameter clock: the clock of the plug; without it the begin of a host's sleep is omitted.
    public mutating func add(_ state: PlugState, clock: PlugClock? = nil) {
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
        sleepers = SleeperRecord.records(state.sleepers, clock: clock)
    }

    /// Adds the plug's Matter fabrics.
    public mutating func add(_ report: MatterReport) { matter = report.fabrics.map(MatterFabricRecord.init) }

    private static func remark(_ domain: String) -> String {
        switch domain {
        case "local": ""
        case "address": " (reached at its address, not by multicast DNS)"
        case _: " (not reached in the local network)"
        }
    }

    /// Text for the user.
    public var lines: [String] {
        var lines = [
            "\(plug)", "  id            \(id)",
            "  domain        \(domain)" + Self.remark(domain),
            "  host          \(host), port \(port)",
            "  addresses     \(addresses.joined(separator: ", "))", "  firmware      \(firmware)",
            "  capabilities  \(capabilities.joined(separator: ", "))", "  relay         \(on == true ? "on" : "off")",
        ]
        if childLock == true { lines.append("  child lock    on: its button is off, except for a factory reset") }
        if let level { lines.append("  level         \(number(level)) %") }
        if let protection = tripped.flatMap(Protection.init(rawValue:)) {
            lines.append("  protection    tripped (\(protection.rawValue)): \(protection.words)")
            lines.append("                `plugctl reset \"\(plug)\" --protection` or its button resets it")
        }
        if let activePower { lines.append("  active power  \(number(activePower)) W") }
        if let voltageRMS { lines.append("  voltage       \(number(voltageRMS)) V") }
        if let currentRMS { lines.append("  current       \(number(currentRMS)) A") }
        if let apparentPower { lines.append("  apparent      \(number(apparentPower)) VA") }
        if let reactivePower { lines.append("  reactive      \(number(reactivePower)) var") }
        if let powerFactor { lines.append("  power factor  \(number(powerFactor))") }
        if let frequency { lines.append("  frequency     \(number(frequency)) Hz") }
        if let activeEnergy { lines.append("  active energy \(number(activeEnergy)) Wh") }
        lines += (networks ?? []).flatMap(\.lines) + (reachability ?? []).flatMap(\.lines)
        lines += (matter ?? []).map { "  Matter        \($0.line)" }
        return lines + (sleepers ?? []).flatMap(\.lines)
    }
}
