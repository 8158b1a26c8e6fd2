import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport

/// An honest controller of the fuzzed plug. It follows events, states and the log, reads the audit log, sends commands,
/// fetches samples, and announces a bundle.
struct Guest {
    static let cursor: SequenceNumber = 2
    static let fetch: UInt32 = 7
    /// The number of commands that the guest sends.
    static let commands = 5
    /// The number of log lines that the guest receives: one per level, except trace.
    static let lines = LogLevel.allCases.count - 1
    static func request(_ number: UInt8) -> RequestID { RequestID(bytes: [UInt8](repeating: number, count: 16))! }

    var session = ControllerSession(name: "Desk")
    /// The bytes sent since the last call of ``take()``.
    private(set) var said: [UInt8] = []
    /// All delivered updates.
    private(set) var updates: [SessionUpdate] = []
    private(set) var closed: EndReason?

    /// Connects and sends all requests before the plug has answered.
    init() throws(FuzzFailure) {
        let deadline = FuzzedPlug.now + .seconds(5)
        for event in [
            ControllerSession.Event.connected, .subscribe(SubscriptionOptions(events: .after(Self.cursor))),
            .command(Self.request(1), .setRelay(on: true, autoOff: .seconds(60)), deadline: deadline),
            .command(Self.request(2), .setRelay(on: false, autoOff: nil), deadline: deadline),
            .command(Self.request(3), .setLevel(.full, transition: .seconds(2)), deadline: deadline),
            .command(Self.request(4), .identify, deadline: deadline),
            .command(Self.request(5), .resetProtection, deadline: deadline),
            .fetchSamples(Self.fetch, from: .zero, to: FuzzedPlug.now), .request(.acknowledge(Self.cursor)),
            .followLog(.debug, for: .seconds(10)), .request(.fetchAudit(after: 0, limit: nil)),
            .request(.newCode(.label)), .request(.announceKey(.stranger, signature: [1], pendingSignature: [])),
            .request(.nextKeyKept(.stranger)),
            .request(.manageUpdate(.begin(BundleID(bytes: 1...16)!, size: 4, allowsOlder: true))),
            .request(
                .manageWiFi(
                    .join(
                        WiFiNetwork(WiFiName("home")!, password: WiFiPassword("correct horse")!),
                        country: WiFiCountry(rawValue: "DE")))),
        ] { try handle(event) }
    }

    mutating func handle(_ event: ControllerSession.Event) throws(FuzzFailure) {
        for action in session.handle(event, now: FuzzedPlug.now) {
            switch action {
            case .send(let bytes):
                try require(closed == nil, "bytes were sent after the close")
                said += bytes
            case .close(let reason):
                try require(closed == nil, "the connection was closed twice")
                closed = reason
            case .deliver(let update):
                if case .ended? = updates.last { throw FuzzFailure("\(update) came after the end") }
                updates.append(update)
            }
        }
    }

    mutating func take() -> [UInt8] {
        defer { said = [] }
        return said
    }

    /// Checks that the lines of the plug's log arrive once, in order, and within the length limit.
    func checkLog() throws(FuzzFailure) {
        var last: UInt64 = 0
        for case .log(.line(let line)) in updates {
            try require(line.number > last, "line \(line.number) of the log came after \(last)")
            let bytes = line.message.utf8.count
            try require(bytes <= PlugWire.maximumLogMessage, "a line of \(bytes) bytes")
            last = line.number
        }
    }

    /// Checks that every event after the cursor arrived once and in order, or lies in a reported gap. Returns the last
    /// sequence number.
    func checkEvents() throws(FuzzFailure) -> SequenceNumber {
        var seen = Self.cursor
        for update in updates {
            switch update {
            case .subscribed(_, let gap?): seen = gap.to
            case .event(let event, age: _):
                try require(event.sequence == seen + 1, "event \(event.sequence) came after \(seen)")
                seen = event.sequence
            case .unknownEvent(let sequence):
                try require(sequence == seen + 1, "event \(sequence) came after \(seen)")
                seen = sequence
            case .welcomed, .subscribed, .snapshot, .state, .commandFinished, .commandUnanswered, .samples,
                .fetchRefused, .answer, .nextKey, .described, .log, .ended:
                break
            }
        }
        return seen
    }
}

/// A visit of a guest to the fuzzed plug: both machines, and all bytes of the connection.
struct Visit {
    static let connection = ConnectionID(rawValue: 1000)
    var plug: FuzzedPlug
    var guest: Guest
    private(set) var fromGuest: [UInt8] = []
    private(set) var fromPlug: [UInt8] = []

    init(to plug: FuzzedPlug) throws(FuzzFailure) {
        self.plug = plug
        guest = try Guest()
        try self.plug.handle(.shell(.opened(PlugServer.Opening(Self.connection, peer: "guest"))))
        try exchange()
    }

    mutating func exchange() throws(FuzzFailure) {
        while true {
            let toPlug = guest.take()
            let toGuest = plug.take(Self.connection)
            if toPlug.isEmpty, toGuest.isEmpty { break }
            fromGuest += toPlug
            fromPlug += toGuest
            if !toPlug.isEmpty { try plug.handle(.shell(.received(Self.connection, toPlug))) }
            if !toGuest.isEmpty { try guest.handle(.received(toGuest)) }
            try plug.answer()
        }
    }
}
