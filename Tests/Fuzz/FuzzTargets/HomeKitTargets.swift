import HomeKit
import ProtocolCore
import TestSupport

extension FuzzTarget {
    /// Decodes the items of pairing messages. Valid items are unchanged when written and read again.
    static let homeKitItems = FuzzTarget(
        name: "homekit-tlv",
        seeds: {
            [
                SetupAttempt.first(), SetupAttempt.first(flags: 0x10), SimulatedAccessory.listing,
                SimulatedAccessory.removal(of: "owner"), HomeKitRecords(seed: Array(0..<32)).encoded,
                TLV8([TLV8.Item(6, [3]), TLV8.Item(3, Array(repeating: 7, count: 384))]).encoded,
            ]
        },
        check: { bytes in
            guard let items = try? TLV8(decoding: bytes) else { return false }
            try require((try? TLV8(decoding: items.encoded)) == items, "items change when they are written")
            if let records = try? HomeKitRecords(decoding: bytes) {
                try require((try? HomeKitRecords(decoding: records.encoded)) == records, "records change")
            }
            return true
        })

    /// Sends bytes of a stranger, or of a controller over its encrypted session. The first byte selects the sender, and
    /// the behaviour of flash and plug. The second byte selects the size of the pieces, and the third the time between
    /// them. All responses are valid. Strangers cannot switch or store anything, and their sessions end.
    static let homeKitServer = FuzzTarget(
        name: "homekit-server",
        seeds: { FuzzedAccessory.seeds },
        check: { bytes in
            guard bytes.count > 3 else { return false }
            var accessory = try FuzzedAccessory(bytes[0])
            let size = Int(bytes[1]) * 4 + 1
            for start in stride(from: 3, to: min(bytes.count, 20_000), by: size) {
                try accessory.take(Array(bytes[start..<min(start + size, bytes.count)]))
                try accessory.wait(.milliseconds(10 * Int64(bytes[2])))
            }
            return try accessory.rest()
        })
}

/// A paired or new accessory, with a connection of a stranger or a controller.
private struct FuzzedAccessory {
    private struct Prepared {
        var plug: SimulatedAccessory
        var controller: SimulatedConnection
        var stranger: SimulatedConnection
    }

    /// Pairing is slow, so it is done only once.
    private static let paired = prepared(isPaired: true)
    private static let new = prepared(isPaired: false)

    private static func prepared(isPaired: Bool) -> Result<Prepared, any Error> {
        Result {
            var plug = try SimulatedAccessory()
            let stranger = plug.open()
            guard isPaired else { return Prepared(plug: plug, controller: stranger, stranger: stranger) }
            let session = try plug.pairedSession().1
            return Prepared(plug: plug, controller: session, stranger: stranger)
        }
    }

    private var plug: SimulatedAccessory
    private var connection: SimulatedConnection
    private let isController: Bool
    private let disk: HomeKitRecords
    private var understood = false

    init(_ mode: UInt8) throws {
        let prepared = try (mode & 1 != 0 ? Self.paired : Self.new).get()
        isController = mode & 3 == 3
        plug = prepared.plug
        connection = isController ? prepared.controller : prepared.stranger
        disk = plug.disk
        plug.obeys = mode & 4 == 0
        plug.flashWorks = mode & 8 != 0 ? nil : mode & 16 == 0
        if mode & 32 != 0 { plug.deaf.insert(connection.id) }
    }

    mutating func take(_ bytes: [UInt8]) throws {
        guard plug.isOpen(connection) else { return }
        plug.handle(.received(connection.id, try connection.seal(bytes)))
        plug.handle(.changed([SimulatedAccessory.Key.power: .number(Double(bytes.count))], by: nil))
        plug.handle(.pressed(SimulatedAccessory.Key.button, .whole(1)))
        try hear()
    }

    private mutating func hear() throws {
        try require((plug.output[connection.id] ?? []).count < 100_000, "the output grows without a limit")
        do { try plug.deliver(&connection) } catch { throw FuzzFailure("an invalid response was sent: \(error)") }
        while let answer = connection.takeAnswer() {
            try require((200...503).contains(answer.status), "invalid status \(answer.status)")
            if answer.status < 400 { understood = true }
        }
        if !isController {
            try require(plug.writes.isEmpty, "a stranger wrote a characteristic")
            try require(plug.disk == disk, "a stranger changed the pairings")
            try require(connection.takeEvents().isEmpty, "a stranger received values")
        }
        _ = connection.takeEvents()
    }

    mutating func wait(_ time: Duration) throws {
        let end = plug.now + time
        plug.wait(time)
        if let next = plug.server.nextDeadline {
            try require(next > end - .seconds(1), "a deadline was ignored")
        }
        try hear()
    }

    /// Checks that a stranger's session ends within 200 s. Returns true if any request was accepted.
    mutating func rest() throws -> Bool {
        plug.flashWorks = true
        plug.flashAnswers(true)
        try wait(.seconds(200))
        if !isController { try require(!plug.isOpen(connection), "a stranger's session does not end") }
        try require(
            (try? HomeKitRecords(decoding: plug.disk.encoded)) == plug.disk, "the records cannot be read again")
        return understood
    }

    static let seeds: [[UInt8]] = {
        func request(_ line: String, _ body: [UInt8] = []) -> [UInt8] {
            Array("\(line) HTTP/1.1\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
        }
        let write = Array("{\"characteristics\":[{\"aid\":1,\"iid\":9,\"value\":true,\"ev\":true}]}".utf8)
        let subscribe = Array(
            "{\"characteristics\":[{\"aid\":1,\"iid\":21,\"ev\":true},{\"aid\":1,\"iid\":11,\"ev\":true}]}".utf8)
        let timed = Array("{\"characteristics\":[{\"aid\":1,\"iid\":13,\"value\":1}],\"pid\":7}".utf8)
        return [
            [3, 255, 1] + request("GET /accessories") + request("GET /characteristics?id=1.9,1.11&meta=1&ev=1"),
            [3, 3, 10] + request("PUT /characteristics", write) + request("GET /characteristics?id=1.9"),
            [3, 40, 200] + request("PUT /characteristics", subscribe) + request("GET /characteristics?id=1.21"),
            [7, 255, 100] + request("PUT /characteristics", write) + request("GET /accessories"),
            [3, 255, 1] + request("PUT /prepare", Array("{\"ttl\":2000,\"pid\":7}".utf8))
                + request("PUT /characteristics", timed),
            [3, 255, 1] + request("POST /pairings", SimulatedAccessory.listing),
            [11, 255, 1] + request("POST /pairings", SimulatedAccessory.removal(of: "owner")),
            [0, 255, 1] + request("POST /identify") + request("POST /pair-setup", SetupAttempt.first()),
            [1, 10, 1] + request("POST /pair-verify", TLV8([TLV8.Item(6, [1]), TLV8.Item(3, Array(1...32))]).encoded),
        ]
    }()
}
