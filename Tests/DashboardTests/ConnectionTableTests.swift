import PlugModel
import ProtocolCore
import Testing

@testable import Dashboard

@Suite struct ConnectionTableTests {
    private var table = ConnectionTable<Int>(DoorLimits())
    private var now = Instant.zero
    private var last = 0

    /// - Returns: the number of the connection, or nil if it was refused; and the number of the connection that was
    ///   closed to make room, or nil.
    @discardableResult
    private mutating func admit(_ address: String?) -> (id: Int?, closing: Int?) {
        last += 1
        now = now + .milliseconds(1)
        switch table.admit(last, address: address, now: now) {
        case .admitted(closing: let victim): return (last, victim)
        case .refused: return (nil, nil)
        }
    }

    @Test("Silent connections from four addresses make room for one that sends a request")
    mutating func silentMakesRoom() throws {
        for address in 0..<4 { for _ in 0..<32 { admit("10.0.0.\(address)") } }
        #expect(table.count == 128)
        for _ in 0..<74 {
            let one = try #require(admit("10.0.0.99").id)
            // The attacker reconnects at once, before the request arrives.
            for address in 0..<4 {
                let closing = admit("10.0.0.\(address)").closing
                #expect(closing != nil && closing != one)
            }
            table.note(one, .busy, now: now)
            table.remove(one)
        }
        #expect(table.count <= 128)
    }

    @Test("The address with the most silent connections loses one first")
    mutating func mostSilentFirst() throws {
        let first = try #require(admit("10.0.0.1").id)
        for address in 2..<6 { for _ in 0..<32 { admit("10.0.0.\(address)") } }
        let closing = (0..<20).compactMap { _ in admit("10.0.0.6").closing }
        #expect(closing.count == 20 && !closing.contains(first))
    }

    @Test("At the limit of an address, a new connection replaces the oldest silent connection of this address")
    mutating func ownSilentMakesRoom() throws {
        let oldest = try #require(admit("10.0.0.1").id)
        for _ in 1..<32 { admit("10.0.0.1") }
        let (id, closing) = admit("10.0.0.1")
        #expect(id != nil && closing == oldest)
        #expect(table.count == 32)
    }

    @Test("Connections with a running request stay open, and a table with only such connections refuses new ones")
    mutating func busyStays() throws {
        for number in 0..<128 {
            let id = try #require(admit("10.0.1.\(number)").id)
            table.note(id, .busy, now: now)
        }
        #expect(admit("10.0.0.1").id == nil)
        table.note(5, .waiting, now: now)
        #expect(admit("10.0.0.1").closing == 5)
    }

    @Test("The connections of a password that is not an owner's are limited, and those of owners are not")
    mutating func passwordsHaveSeats() {
        var seated = 0
        for number in 0..<64 {
            let id = admit("10.0.1.\(number)").id ?? 0
            if table.seat(id, .other(password: "v")) { seated += 1 }
            let again = table.seat(id, .other(password: "v"))
            #expect(again == (seated > number), "a connection that has a seat must keep it")
        }
        #expect(seated == DoorLimits().connectionsOfPassword)
        let isOwnerSeated = table.seat(admit("10.0.2.1").id ?? 0, .owner)
        #expect(isOwnerSeated)
    }
}

@Suite struct RequestPhaseTests {
    private var deadlines = RequestDeadlines(DoorLimits(), now: .zero)

    @Test("A connection is busy only while a complete request has no answer")
    mutating func phases() {
        #expect(deadlines.phase == .silent)
        deadlines.receivedBytes(now: .zero)
        #expect(deadlines.phase == .silent, "an incomplete request must not count as busy")
        deadlines.receivedHead(now: .zero)
        #expect(deadlines.phase == .silent, "a request without its body must not count as busy")
        deadlines.receivedEnd(now: .zero)
        #expect(deadlines.phase == .busy)
        deadlines.answered(now: .zero)
        #expect(deadlines.phase == .waiting)
        deadlines.receivedHead(now: .zero)
        #expect(deadlines.phase == .waiting)
        // The answer is sent before the request's body has arrived.
        deadlines.answered(now: .zero)
        deadlines.receivedEnd(now: .zero)
        #expect(deadlines.phase == .waiting)
    }
}
