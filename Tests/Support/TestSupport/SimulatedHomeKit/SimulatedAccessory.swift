public import HomeKit
import LargeNumbers
public import ProtocolCore

/// A simulated HomeKit accessory, which consists of a server and its shell. It is an outlet with a button. Its flash
/// can fail, and the controllers of its connections can stop reading.
public struct SimulatedAccessory: Sendable, CustomStringConvertible {
    /// The characteristics of the outlet.
    public enum Key {
        /// A text that can only be read.
        public static let name = CharacteristicKey(1, 3)
        /// The state of the outlet.
        public static let on = CharacteristicKey(1, 9)
        /// True if the load draws power.
        public static let inUse = CharacteristicKey(1, 10)
        /// The active power in watts, from 0 to 10,000.
        public static let power = CharacteristicKey(1, 11)
        /// A percentage from 0 to 100.
        public static let brightness = CharacteristicKey(1, 12)
        /// Writable only after a `/prepare`.
        public static let lock = CharacteristicKey(1, 13)
        /// Answers a write with a value; it cannot be read.
        public static let control = CharacteristicKey(1, 14)
        /// The event of a press, from 0 to 2.
        public static let button = CharacteristicKey(1, 21)
    }

    /// A write of a controller.
    public struct Write: Sendable {
        /// The id with which the accessory answers the write.
        public var request: HomeKitRequestID
        /// The session of the controller.
        public var session: HomeKitSessionID
        /// The paired controller.
        public var controller: ControllerIdentity
        /// The written characteristics with their values.
        public var values: [CharacteristicWriteRequest]
    }

    /// The setup code.
    public static let code = "518-08-582"
    public var description: String { "the accessory: \(notices.suffix(5))" }
    /// The tested machine.
    public private(set) var server: HomeKitServer
    /// The current time, which ``wait(_:)`` advances.
    public var now = Instant.zero + .seconds(100)
    /// The records in flash.
    public private(set) var disk: HomeKitRecords
    /// True if storing succeeds, false if it fails, nil if flash does not answer.
    public var flashWorks: Bool? = true
    /// The number of requests to store records.
    public private(set) var storesAsked = 0
    private var asked: HomeKitRecords?
    /// True if writes are executed and answered at once; false if they are only stored in ``writes``.
    public var obeys = true
    /// All writes of controllers so far.
    public private(set) var writes: [Write] = []
    /// The bytes that were sent and not delivered to a controller yet.
    public private(set) var output: [HomeKitSessionID: [UInt8]] = [:]
    /// The sessions whose controllers do not read.
    public var deaf: Set<HomeKitSessionID> = []
    /// The sessions that the server closed.
    public private(set) var closed: Set<HomeKitSessionID> = []
    /// All notices of the server so far.
    public private(set) var notices: [HomeKitNotice] = []
    /// The number of identify requests.
    public private(set) var identified = 0
    /// The reported pairing states, in order.
    public private(set) var announced: [Bool] = []
    private var lastSession: UInt64 = 0

    /// Creates a started accessory with initial values. Throws if the setup code or the records are invalid.
    public init(_ disk: HomeKitRecords? = nil, accessories: [Accessory] = [outlet], seed: UInt8 = 1) throws {
        let arithmetic = try GMPArithmetic()
        guard let code = HomeKitSetupCode(Self.code), let setupID = HomeKitSetupID("7OSX") else {
            throw ControllerFault.invalid("code")
        }
        let records = disk ?? HomeKitRecords(seed: Array(repeating: seed, count: 32))
        self.disk = records
        let verifier = try SetupVerifier(code, salt: Array(repeating: seed, count: 16), arithmetic)
        server = try HomeKitServer(
            .init(verifier: verifier, setupID: setupID, category: .outlet, model: "Plug"), records: records,
            accessories: accessories, arithmetic: arithmetic, seed: Array(repeating: seed, count: 32))
        handle(.started)
        handle(
            .changed(
                [
                    Key.name: .text("Lamp"), Key.on: .boolean(false), Key.inUse: .boolean(true),
                    Key.power: .number(12.5), Key.brightness: .whole(70), Key.lock: .whole(0),
                ], by: nil))
    }

    /// The accessory database of the outlet.
    public static let outlet = Accessory(
        1,
        [
            AccessoryService(
                1, AccessoryType(0x3E),
                [
                    Characteristic(2, AccessoryType(0x14), [.pairedWrite], .boolean),
                    Characteristic(3, AccessoryType(0x23), [.pairedRead], .string),
                ]),
            AccessoryService(
                8, AccessoryType(0x47),
                [
                    Characteristic(9, AccessoryType(0x25), [.pairedRead, .pairedWrite, .events], .boolean),
                    Characteristic(10, AccessoryType(0x26), [.pairedRead, .events], .boolean),
                    Characteristic(
                        11, AccessoryType(uuid: "E863F10D-079E-48FF-8F27-9C2605A29F52") ?? AccessoryType(0),
                        [.pairedRead, .events], .float, limits: CharacteristicLimits(minimum: 0, maximum: 10_000)),
                    Characteristic(
                        12, AccessoryType(0x8), [.pairedRead, .pairedWrite, .events], .integer, unit: .percentage,
                        limits: CharacteristicLimits(minimum: 0, maximum: 100, step: 1)),
                    Characteristic(
                        13, AccessoryType(0x1E), [.pairedRead, .pairedWrite, .events, .timedWrite], .uint8,
                        limits: CharacteristicLimits(minimum: 0, maximum: 1, validValues: [0, 1])),
                    Characteristic(14, AccessoryType(0x1234), [.pairedWrite, .writeResponse], .tlv8),
                ], isPrimary: true, linked: [20]),
            AccessoryService(
                20, AccessoryType(0x89),
                [
                    Characteristic(
                        21, .programmableSwitchEvent, [.pairedRead, .events], .uint8,
                        limits: CharacteristicLimits(minimum: 0, maximum: 2, step: 1))
                ]),
        ])

    // MARK: The shell

    /// Delivers an event to the server, and performs all of its actions.
    public mutating func handle(_ event: HomeKitServer.Event) {
        var due = server.handle(event, now: now)[...]
        while let action = due.popFirst() {
            switch action {
            case .send(let id, let bytes):
                output[id, default: []] += bytes
                if !deaf.contains(id) { due += server.handle(.drained(id), now: now) }
            case .close(let id): closed.insert(id)
            case .write(let request, let session, let controller, let values):
                let write = Write(request: request, session: session, controller: controller, values: values)
                writes.append(write)
                if obeys { due += carryOut(write) }
            case .store(let records):
                storesAsked += 1
                asked = records
                if let flashWorks { due += finishStore(flashWorks) }
            case .identify: identified += 1
            case .pairingsChanged(let isPaired): announced.append(isPaired)
            case .notice(let notice): notices.append(notice)
            }
        }
    }

    private mutating func finishStore(_ isStored: Bool) -> [HomeKitServer.Action] {
        guard let records = asked else { return [] }
        asked = nil
        if isStored { disk = records }
        return server.handle(.stored(isStored), now: now)
    }

    private mutating func carryOut(_ write: Write) -> [HomeKitServer.Action] {
        let values = Dictionary(write.values.map { ($0.key, $0.value) }) { $1 }
        let control = Key.control
        let shown = values.filter { $0.key != control && $0.key != CharacteristicKey(1, 2) }
        return server.handle(.changed(shown, by: write.session), now: now)
            + server.handle(
                .answered(write.request, values.mapValues { $0 == values[control] ? .value($0) : .done }), now: now)
    }

    /// Answers a pending request to store records.
    public mutating func flashAnswers(_ isStored: Bool) {
        guard let records = asked else { return }
        asked = nil
        if isStored { disk = records }
        handle(.stored(isStored))
    }

    /// Advances the time, and delivers each deadline of the server until then, at most 10,000.
    public mutating func wait(_ time: Duration) {
        let end = now + time
        var calls = 0
        while let next = server.nextDeadline, next <= end, calls < 10_000 {
            calls += 1
            now = max(now, next)
            handle(.deadlineReached)
        }
        now = end
    }

    // MARK: Controllers

    /// Opens a connection.
    ///
    /// - Parameter isLocal: false if the controller is in another network.
    public mutating func open(isLocal: Bool = true) -> SimulatedConnection {
        lastSession += 1
        let id = HomeKitSessionID(rawValue: lastSession)
        handle(.opened(id, isLocal: isLocal))
        return SimulatedConnection(id)
    }

    /// Closes a connection from the controller's side.
    public mutating func close(_ connection: SimulatedConnection) { handle(.closed(connection.id)) }

    /// Returns true if the server has not closed the connection.
    public func isOpen(_ connection: SimulatedConnection) -> Bool { !closed.contains(connection.id) }

    /// Removes and returns the bytes that were sent on a connection.
    public mutating func takeOutput(of id: HomeKitSessionID) -> [UInt8] { output.removeValue(forKey: id) ?? [] }

    /// Delivers the sent bytes to the controller.
    public mutating func deliver(_ connection: inout SimulatedConnection) throws {
        try connection.receive(takeOutput(of: connection.id))
    }

    /// Delivers at most `count` of the sent bytes to the controller.
    public mutating func deliver(_ connection: inout SimulatedConnection, atMost count: Int) throws {
        guard let waiting = output[connection.id] else { return }
        output[connection.id] = waiting.count > count ? Array(waiting.dropFirst(count)) : nil
        try connection.receive(Array(waiting.prefix(count)))
    }

    /// Sends a request, and delivers what the server sends.
    public mutating func send(
        _ connection: inout SimulatedConnection, _ method: String, _ target: String, _ body: [UInt8] = []
    ) throws {
        handle(.received(connection.id, try connection.request(method, target, body)))
        try deliver(&connection)
    }

    /// Sends a request and returns its answer. Throws ``ControllerFault/closed`` if there is none.
    public mutating func ask(
        _ connection: inout SimulatedConnection, _ method: String, _ target: String, _ body: [UInt8] = []
    ) throws -> SimulatedConnection.Answer {
        try send(&connection, method, target, body)
        guard let answer = connection.takeAnswer() else { throw ControllerFault.closed }
        return answer
    }

    /// Sends a request with a JSON body and returns its answer.
    public mutating func ask(
        _ connection: inout SimulatedConnection, _ method: String, _ target: String, json: String
    ) throws -> SimulatedConnection.Answer { try ask(&connection, method, target, Array(json.utf8)) }

    /// Sends a POST request and returns the items of its answer.
    ///
    /// - Throws: ``ControllerFault``, for example ``ControllerFault/refused(_:retryDelay:)`` if the answer contains an
    ///   error.
    public mutating func exchange(
        _ connection: inout SimulatedConnection, _ target: String, _ body: [UInt8]
    ) throws -> TLV8 { try Self.items(try ask(&connection, "POST", target, body)) }

    /// Returns the items of an answer. Throws ``ControllerFault`` for a status other than 200 and for an error item.
    public static func items(_ answer: SimulatedConnection.Answer) throws -> TLV8 {
        guard answer.status == 200 else { throw ControllerFault.status(answer.status) }
        let items = try TLV8(decoding: answer.body)
        if let error = items[7]?.first.flatMap(PairingError.init) {
            throw ControllerFault.refused(error, retryDelay: items[8]?.first)
        }
        return items
    }

    /// Pairs a controller by pair-setup.
    public mutating func pair(
        _ controller: inout SimulatedController, _ connection: inout SimulatedConnection, code: String = code
    ) throws {
        var attempt = try SetupAttempt(controller, code: code)
        let second = try exchange(&connection, "/pair-setup", SetupAttempt.first())
        let fourth = try exchange(&connection, "/pair-setup", try attempt.second(second))
        try attempt.finish(try exchange(&connection, "/pair-setup", try attempt.third(fourth)))
        if let (key, id) = attempt.accessory { controller.learn(key, id) }
    }

    /// Verifies a paired controller, and encrypts its connection.
    public mutating func verify(
        _ controller: SimulatedController, _ connection: inout SimulatedConnection
    ) throws {
        var attempt = VerifyAttempt(controller)
        let second = try exchange(&connection, "/pair-verify", try attempt.first())
        _ = try exchange(&connection, "/pair-verify", try attempt.second(second))
        connection.encrypt(attempt.shared)
    }

    /// Opens an encrypted session of a paired controller.
    public mutating func session(_ controller: SimulatedController) throws -> SimulatedConnection {
        var connection = open()
        try verify(controller, &connection)
        return connection
    }

    /// Pairs a new controller, and returns it with its encrypted session.
    public mutating func pairedSession(_ name: String = "owner") throws -> (SimulatedController, SimulatedConnection) {
        var controller = SimulatedController(name)
        var connection = open()
        try pair(&controller, &connection)
        try verify(controller, &connection)
        return (controller, connection)
    }

    /// Adds a controller by an administrator's request.
    public mutating func add(
        _ controller: inout SimulatedController, isAdmin: Bool, by connection: inout SimulatedConnection,
        _ admin: SimulatedController
    ) throws {
        let body = TLV8([
            TLV8.Item(6, [1]), TLV8.Item(0, [3]), TLV8.Item(1, Array(controller.name.utf8)),
            TLV8.Item(3, controller.publicKey), TLV8.Item(11, [isAdmin ? 1 : 0]),
        ])
        _ = try exchange(&connection, "/pairings", body.encoded)
        if let key = admin.accessoryKey, let id = admin.accessoryID { controller.learn(key, id) }
    }

    /// Returns the body of a request that removes a controller.
    public static func removal(of name: String) -> [UInt8] {
        TLV8([TLV8.Item(6, [1]), TLV8.Item(0, [4]), TLV8.Item(1, Array(name.utf8))]).encoded
    }

    /// The body of a request that lists the controllers.
    public static let listing = TLV8([TLV8.Item(6, [1]), TLV8.Item(0, [5])]).encoded
}
