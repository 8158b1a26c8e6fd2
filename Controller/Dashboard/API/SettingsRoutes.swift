import HTTPTypes
import Hummingbird
import PlugModel
import Presentation

extension Dashboard {
    static let settingsRoutes = [
        APIRoute(.get, "/api/v1/plugs/{plug}/settings") { dashboard, request, context in
            _ = try QueryParameters(request)
            let plug = try await dashboard.plug(context).record
            return Response(json: jsonLine(try await dashboard.settings(of: plug)))
        },
        APIRoute(.post, "/api/v1/plugs/{plug}/settings") { dashboard, request, context in
            _ = try QueryParameters(request)
            let change = try await SettingsBody.read(from: request).change()
            return try await dashboard.configure(try await dashboard.plug(context).record, change)
        },
        APIRoute(.delete, "/api/v1/plugs/{plug}/settings") { dashboard, request, context in
            _ = try QueryParameters(request)
            let plug = try await dashboard.plug(context).record
            let known = try await dashboard.settings(of: plug)
            let change = SettingsChange(restoring: known, capabilities: Set(plug.capabilities ?? []))
            guard change != SettingsChange() else { return Response(json: jsonLine(known)) }
            return try await dashboard.configure(plug, change)
        },
    ]

    private func configure(_ plug: PlugRecord, _ change: SettingsChange) async throws -> Response {
        _ = try await send(.configure(change), to: plug)
        return Response(json: jsonLine(try await settings(of: plug)))
    }

    private func settings(of plug: PlugRecord) async throws -> SettingsRecord {
        guard let settings = try await ask(plug, { try await $0.settings(of: plug.plug) }) else {
            throw Fault(.conflict, "its firmware does not support settings", hint: "update the firmware")
        }
        return SettingsRecord(plug: plug.plug, settings)
    }
}

extension SettingsChange {
    /// Restores the values of the plug's configuration. Leaves out the settings of parts that the plug lacks, because
    /// it would refuse them.
    ///
    /// - Parameters:
    ///   - known: the settings in force.
    ///   - capabilities: the raw values of the plug's `Capability`.
    init(restoring known: SettingsRecord, capabilities: Set<String>) {
        let hasOutput = !capabilities.isDisjoint(with: [Capability.relay.rawValue, Capability.dimmer.rawValue])
        let hasMeter = capabilities.contains(Capability.meter.rawValue)
        self.init(
            powerOn: hasOutput ? .asConfigured : nil, autoOff: hasOutput ? .asConfigured : nil,
            powerLimit: hasOutput && hasMeter ? .asConfigured : nil,
            childLock: known.childLock == nil ? nil : .asConfigured,
            lightOff: known.lightOff == nil ? nil : .asConfigured)
    }
}

struct SettingsBody: JSONBody {
    static let keys: Set = ["powerOn", "autoOff", "powerLimit", "childLock", "lightOff"]

    /// The relay's state when power returns: off, on or last.
    var powerOn: String?
    /// The seconds after which the relay switches off, 1 to 2592000, or 0 for never.
    var autoOff: Double?
    /// The power limit in W, above 0 and at most 100000. The plug's configuration sets a lower maximum.
    var powerLimit: Double?
    /// True to turn the button off.
    var childLock: Bool?
    /// The time of day in which the light is dark, such as 22:00-07:00, or never.
    var lightOff: String?

    func change() throws(Fault) -> SettingsChange {
        var change = SettingsChange()
        if let powerOn {
            guard let state = PowerOnState(rawValue: powerOn), state != .lockedOn else {
                throw .outOfRange("\"powerOn\" is not valid", hint: "off, on or last")
            }
            change.powerOn = .value(state)
        }
        if let autoOff {
            guard autoOff == 0 || (1...2_592_000).contains(autoOff) else {
                throw .outOfRange("\"autoOff\" is out of range", hint: "1 to 2592000 seconds, or 0 for never")
            }
            change.autoOff = .value(.milliseconds(Int64((autoOff * 1000).rounded())))
        }
        if let powerLimit {
            guard (0.1...100_000).contains(powerLimit) else {
                throw .outOfRange("\"powerLimit\" is out of range", hint: "0.1 to 100000 W")
            }
            change.powerLimit = .value(UInt32((powerLimit * 10).rounded()))
        }
        if let lightOff {
            guard let span = DailySpan(text: lightOff) else {
                throw .outOfRange("\"lightOff\" is not valid", hint: "a begin and an end such as 22:00-07:00, or never")
            }
            change.lightOff = .value(span)
        }
        change.childLock = childLock.map { .value($0) }
        guard change != SettingsChange() else { throw .malformed("the body names no setting") }
        return change
    }
}
