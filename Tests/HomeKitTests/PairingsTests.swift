import HomeKit
import TestSupport
import Testing

@Suite struct PairingsTests {
    @Test("Only administrators add, list and remove pairings") func administratorsAddListAndRemove() throws {
        var plug = try SimulatedAccessory()
        var (owner, session) = try plug.pairedSession()
        var guest = SimulatedController("guest")
        try plug.add(&guest, isAdmin: false, by: &session, owner)
        var guestSession = try plug.session(guest)
        for body in [SimulatedAccessory.listing, SimulatedAccessory.removal(of: "owner")] {
            #expect(throws: ControllerFault.refused(.authentication, retryDelay: nil)) {
                try plug.exchange(&guestSession, "/pairings", body)
            }
        }
        let list = try plug.exchange(&session, "/pairings", SimulatedAccessory.listing)
        #expect(
            list.items.filter { $0.type == 1 }.map { String(decoding: $0.value, as: UTF8.self) } == ["owner", "guest"])
        #expect(list.items.filter { $0.type == 11 }.map(\.value) == [[1], [0]])
        _ = try plug.exchange(&session, "/pairings", SimulatedAccessory.removal(of: "guest"))
        #expect(!plug.isOpen(guestSession))
        #expect(plug.isOpen(session))
        #expect(throws: ControllerFault.refused(.authentication, retryDelay: nil)) { try plug.session(guest) }
        // Removing a pairing again succeeds.
        _ = try plug.exchange(&session, "/pairings", SimulatedAccessory.removal(of: "guest"))
    }

    @Test("Removing the last administrator removes all pairings and closes their sessions")
    func theLastAdministratorTakesAllAlong() throws {
        var plug = try SimulatedAccessory()
        var (owner, session) = try plug.pairedSession()
        var guest = SimulatedController("guest")
        try plug.add(&guest, isAdmin: false, by: &session, owner)
        let guestSession = try plug.session(guest)
        let answer = try plug.exchange(&session, "/pairings", SimulatedAccessory.removal(of: "owner"))
        #expect(answer[6] == [2])
        #expect(!plug.isOpen(session))
        #expect(!plug.isOpen(guestSession))
        #expect(plug.disk.pairings.isEmpty)
        #expect(plug.announced == [true, false])
        var (next, connection) = (SimulatedController("next"), plug.open())
        try plug.pair(&next, &connection)
    }

    @Test("The last administrator cannot lose the administrator permission")
    func theLastAdministratorStaysOne() throws {
        var plug = try SimulatedAccessory()
        var (owner, session) = try plug.pairedSession()
        let before = plug.server.pairings
        var same = owner
        #expect(throws: ControllerFault.refused(.unknown, retryDelay: nil)) {
            try plug.add(&same, isAdmin: false, by: &session, owner)
        }
        #expect(plug.server.pairings == before)
    }

    @Test("A seventeenth controller is rejected") func sixteenControllersAreTheMost() throws {
        var plug = try SimulatedAccessory()
        var (owner, session) = try plug.pairedSession()
        for number in 1..<16 {
            var other = SimulatedController("other \(number)")
            try plug.add(&other, isAdmin: false, by: &session, owner)
        }
        var last = SimulatedController("last")
        #expect(throws: ControllerFault.refused(.maxPeers, retryDelay: nil)) {
            try plug.add(&last, isAdmin: false, by: &session, owner)
        }
        #expect(try HomeKitRecords(decoding: plug.disk.encoded) == plug.disk)
        #expect(plug.disk.pairings.count == 16)
    }

    @Test("A removal that cannot be stored is rejected and has no effect")
    func aRemovalThatIsNotStoredHasNotHappened() throws {
        var plug = try SimulatedAccessory()
        var (owner, session) = try plug.pairedSession()
        var guest = SimulatedController("guest")
        try plug.add(&guest, isAdmin: false, by: &session, owner)
        plug.flashWorks = false
        #expect(throws: ControllerFault.refused(.unknown, retryDelay: nil)) {
            try plug.exchange(&session, "/pairings", SimulatedAccessory.removal(of: "guest"))
        }
        #expect(throws: ControllerFault.refused(.unknown, retryDelay: nil)) {
            try plug.add(&owner, isAdmin: false, by: &session, owner)
        }
        let restarted = try SimulatedAccessory(plug.disk)
        #expect(restarted.server.pairings.map(\.name) == ["owner", "guest"])
        _ = try plug.session(guest)
    }

    @Test("If the user removes all controllers at the accessory, their sessions are closed")
    func somebodyAtThePlugRemovesAll() throws {
        var plug = try SimulatedAccessory()
        let (owner, session) = try plug.pairedSession()
        plug.handle(.dismissed(nil))
        #expect(!plug.isOpen(session))
        #expect(!plug.server.isPaired)
        #expect(throws: ControllerFault.refused(.authentication, retryDelay: nil)) { try plug.session(owner) }
    }

    @Test("Concurrent changes of pairings are stored in order, and the second is checked again after the first")
    func changesAreStoredOneAfterTheOther() throws {
        var plug = try SimulatedAccessory()
        var (owner, session) = try plug.pairedSession()
        var second = SimulatedController("second")
        try plug.add(&second, isAdmin: true, by: &session, owner)
        var other = try plug.session(second)
        let stores = plug.storesAsked
        plug.flashWorks = nil
        // Both administrators remove each other. The first removal is stored, and the second is then rejected.
        try plug.send(&session, "POST", "/pairings", SimulatedAccessory.removal(of: "second"))
        try plug.send(&other, "POST", "/pairings", SimulatedAccessory.removal(of: "owner"))
        #expect(plug.storesAsked == stores + 1)
        plug.flashAnswers(true)
        plug.flashAnswers(true)
        #expect(plug.server.pairings.map(\.name) == ["owner"])
        #expect(plug.isOpen(session))
        #expect(!plug.isOpen(other))
    }
}
