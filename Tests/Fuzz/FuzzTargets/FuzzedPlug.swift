import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport

/// A plug with a history, which the fuzz targets of unpaired peers and of ``Guest`` use. Its journal lost events in a
/// power cut, and further events because its capacity is small.
struct FuzzedPlug {
    static let now = Instant(nanoseconds: 9_000_000_000)
    static let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!
    /// The initial plug. It is created once, and each input gets a copy.
    static let prepared = FuzzedPlug()

    var server: PlugServer
    /// The bytes sent to each open or closed connection since the last `take(_:)` for it.
    private(set) var sent: [ConnectionID: [UInt8]] = [:]
    /// The reasons for which connections were closed.
    private(set) var ends: [ConnectionID: EndReason] = [:]
    /// Commands for the appliance that are not answered yet.
    private(set) var performs: [(id: CommandID, controller: String, command: PlugCommand)] = []
    private(set) var fetches: [(connection: ConnectionID, fetch: UInt32)] = []

    private init() {
        server = PlugServer(
            identity: PlugServer.Identity(
                id: PlugID(rawValue: "0123456789ab")!, name: "Lampe über dem Tisch",
                capabilities: [.relay, .dimmer, .log, .audit], firmware: "1.0", boot: Self.boot),
            access: .knowing(), journal: EventJournal(nextSequence: 8, limits: EventJournal.Limits(events: 6)),
            state: PlugState(
                relayOn: false, level: .full,
                reading: Reading(
                    time: Self.now, deciwatts: -7, decivolts: 2300, milliamperes: 4,
                    alternating: AlternatingPower(
                        apparentDecivoltAmperes: 9, reactiveDecivars: -6, powerFactorThousandths: -778,
                        millihertz: 50_000),
                    milliwattHours: 8),
                tripped: .overCurrent))
        for kind in [
            PlugEvent.Kind.restarted(powerLost: true), .buttonPressed(.single), .buttonPressed(.double),
            .buttonPressed(.long), .relayChanged(on: true, cause: .button), .protectionTripped(.overPower),
            .relayChanged(on: false, cause: .protection), .protectionReset(.overPower, cause: .button),
            .relayChanged(on: true, cause: .timer),
        ] { _ = server.handle(.record(kind), now: Self.now - .seconds(3)) }
        _ = server.handle(.openPairing, now: Self.now - .seconds(3))
        _ = server.handle(.shell(.logged(Self.log, lost: 2)), now: Self.now - .seconds(3))
    }

    /// A log line of each level.
    private static var log: [LogLine] {
        LogLevel.allCases.map { level in
            LogLine(
                number: UInt64(3 + level.severity), time: now - .seconds(4), level: level, part: "Prüfung",
                message: "a line of level \(level)")
        }
    }

    /// One entry of each kind. The first three are from an earlier boot.
    private static let audit = AuditNote.Kind.allCases.enumerated().map { index, kind in
        let actors: [AuditActor] = [
            .controller(name: "Prüfung", key: "0123456789ab"), .stranger(key: "ba9876543210"), .button, .panel,
        ]
        return AuditEntry(
            number: UInt64(index + 1), boot: index < 3 ? BootID(bytes: [UInt8](repeating: 6, count: 16))! : boot,
            time: now - .seconds(4), AuditNote(kind, by: actors[index % 4], isRefused: index % 3 == 0, "for a test"))
    }

    private static func homeKit(_ order: HomeKitRequest) -> Result<HomeKitReport, Refusal> {
        guard case .ask = order else { return .failure(Refusal(.storageFailed, "for a test")) }
        let controller = HomeKitReport.Controller(identifier: [65, 66], isAdmin: true, sessions: 1)
        return .success(
            HomeKitReport(
                setupCode: "518-08-582", setupPayload: "X-HM://0", deviceID: "00:11:22:33:44:55",
                controllers: [controller]))
    }

    private static func matter(_ order: MatterRequest) -> Result<MatterReport, Refusal> {
        guard case .ask = order else { return .failure(Refusal(.storageFailed, "for a test")) }
        let fabric = MatterReport.Fabric(
            index: 1, fabricID: .max, nodeID: 0x1_B669, vendor: 0xFFF1, label: "Prüfung", sessions: 1)
        return .success(
            MatterReport(
                setupPayload: "MT:0", manualCode: "34970112332", windowOpenFor: .seconds(900), isEnhanced: true,
                fabrics: [fabric]))
    }

    private static func update(_ order: UpdateRequest) -> Result<UpdateReport, Refusal> {
        switch order {
        case .ask: .success(UpdateReport(system: "1", newSystem: "2", phase: .failed("for a test")))
        case .begin(_, let size, _): .success(UpdateReport(phase: .receiving(0, of: size)))
        case .part, .restart, .cancel: .failure(Refusal(.storageFailed, "for a test"))
        }
    }

    private static func wiFi(_ order: WiFiRequest) -> Result<WiFiReport, Refusal> {
        switch order {
        case .ask, .setUp:
            .success(WiFiReport(phase: .setup, networks: [WiFiName("home")!], country: WiFiCountry(rawValue: "DE")))
        case .join(let network, _): .success(WiFiReport(phase: .trying(network.name)))
        case .remove: .failure(Refusal(.outOfRange, "for a test"))
        }
    }

    mutating func handle(_ event: PlugServer.Event) throws(FuzzFailure) {
        for action in server.handle(event, now: Self.now) {
            switch action {
            case .shell(.send(let connection, let bytes)):
                try require(ends[connection] == nil, "bytes were sent after the close")
                sent[connection, default: []] += bytes
            case .shell(.close(let connection, let reason)):
                try require(ends[connection] == nil, "a connection was closed twice")
                ends[connection] = reason
            case .perform(let request, let controller, let command, deadline: _):
                try require(!performs.contains { $0.id == request }, "a request was performed twice")
                performs.append((request, controller, command))
            case .fetch(let connection, let fetch, from: _, to: _):
                fetches.append((connection, fetch))
            case .record(let kind): try handle(.record(kind))
            case .factoryReset: try handle(.resetFailed)
            case .fetchAudit(let connection, let after, let limit):
                let asked = Self.audit.filter { $0.number > after }.suffix(limit ?? .max)
                try handle(.audit(connection, AuditPage(Array(asked.prefix(3)), isLast: asked.count <= 3)))
            case .keepCode: try handle(.codeKept(nil))
            case .shell(.manageHomeKit(let connection, let order)):
                try handle(.shell(.homeKit(connection, Self.homeKit(order))))
            case .shell(.manageMatter(let connection, let order)):
                try handle(.shell(.matter(connection, Self.matter(order))))
            case .shell(.manageUpdate(let connection, let order)):
                try handle(.shell(.update(connection, Self.update(order))))
            case .shell(.manageWiFi(let connection, let order)):
                try handle(.shell(.wiFi(connection, Self.wiFi(order))))
            case .shell, .keep: break
            }
        }
    }

    /// Answers all pending commands and fetches.
    mutating func answer() throws(FuzzFailure) {
        while !performs.isEmpty || !fetches.isEmpty {
            if !performs.isEmpty { try carryOut(performs.removeFirst()) }
            if !fetches.isEmpty {
                let asked = fetches.removeFirst()
                try handle(.samples(asked.connection, fetch: asked.fetch, chunk: [1, 2, 3], next: nil))
            }
        }
    }

    private mutating func carryOut(
        _ asked: (id: CommandID, controller: String, command: PlugCommand)
    ) throws(FuzzFailure) {
        var state = server.state
        switch asked.command {
        case .setRelay(let on, autoOff: _): state.relayOn = on
        case .setLevel(let level, transition: _): state.level = level
        case .identify:
            let refusal = Refusal(.unsupported, "There is no light.")
            return try handle(.commandOutcome(asked.id, .refused(refusal)))
        case .resetProtection: state.tripped = nil
        case .rename(let name): try handle(.renamed(name))
        case .configure: break
        }
        if let tripped = server.state.tripped, state.tripped == nil {
            let cause = RelayCause.controller(
                name: asked.controller, request: asked.id.request, authority: asked.id.authority)
            try handle(.record(.protectionReset(tripped, cause: cause)))
        }
        if state.relayOn != server.state.relayOn {
            let cause = RelayCause.controller(
                name: asked.controller, request: asked.id.request, authority: asked.id.authority)
            try handle(.record(.relayChanged(on: state.relayOn, cause: cause)))
        }
        if state != server.state { try handle(.stateChanged(state)) }
        try handle(.commandOutcome(asked.id, .done(state, event: nil)))
    }

    /// Returns the bytes that were sent to a connection since the last call.
    mutating func take(_ connection: ConnectionID) -> [UInt8] { sent.removeValue(forKey: connection) ?? [] }
}
