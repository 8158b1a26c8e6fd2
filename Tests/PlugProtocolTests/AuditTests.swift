import PlugModel
import ProtocolCore
import Testing

@testable import PlugProtocol

/// The audit log in the protocol, at the plug and at the controller.
@Suite struct AuditTests {
    private func entry(_ number: UInt64, boot id: BootID = boot, _ actor: AuditActor = .button) -> AuditEntry {
        AuditEntry(number: number, boot: id, time: at(2), AuditNote(.renamed, by: actor, "a to b"), count: 3)
    }

    private func ask(
        _ bench: inout Bench, after: UInt64 = 0, limit: UInt32 = 0
    ) -> [PlugServer.Action] {
        bench.say {
            $0.fetchAudit.after = after
            $0.fetchAudit.limit = limit
        }
    }

    // MARK: Plug

    @Test("The plug reads the requested page of its log and sends it")
    func whatIsAskedForIsAskedOfTheLogAndAnswered() {
        var bench = Bench()
        bench.greet()
        #expect(ask(&bench, after: 7, limit: 20) == [.fetchAudit(first, after: 7, limit: 20)])
        bench.handle(.audit(first, AuditPage([entry(8), entry(9, boot: otherBoot)], isLast: true)))
        guard case .audit(let wire) = bench.take().first else { return #expect(Bool(false), "no audit page") }
        #expect(wire.entries.map(\.bootID.count) == [0, 16], "the session's own boot id is omitted")
        #expect(throws: Never.self) {
            let page = try wire.model(session: boot, after: 7)
            #expect(page == AuditPage([entry(8), entry(9, boot: otherBoot)], isLast: true))
        }
        #expect(ask(&bench) == [.fetchAudit(first, after: 0, limit: nil)])
        bench.handle(.closed(first))
        bench.handle(.audit(first, AuditPage([entry(8)], isLast: true)))
        #expect(bench.take().isEmpty)
    }

    @Test("Each kind of entry is sent, and a kind of a later version is unknown") func kinds() throws {
        for kind in AuditNote.Kind.allCases {
            var wire = WireAuditEntry(
                AuditEntry(number: 1, boot: boot, time: at(2), AuditNote(kind, by: .plug)), session: boot)
            #expect(try wire.model(session: boot, after: 0).note.kind == kind)
            wire.kind = .UNRECOGNIZED(99)
            #expect(try wire.model(session: boot, after: 0).note.kind == .unknown)
        }
    }

    @Test("A second request before the answer ends the session")
    func aSecondQuestionBeforeTheAnswerEndsTheSession() {
        var bench = Bench()
        bench.greet()
        _ = ask(&bench)
        _ = ask(&bench)
        #expect(bench.take().compactMap(\.goodbyeReason) == [.limit], "a second request must hit the limit")
    }

    @Test("A request for entries after a number that no entry can have ends the session")
    func aNumberThatNoEntryHasEndsTheSession() {
        var bench = Bench()
        bench.greet()
        #expect(ask(&bench, after: AuditEntry.highestNumber).count == 1)
        var other = Bench()
        other.greet()
        _ = ask(&other, after: AuditEntry.highestNumber + 1)
        #expect(other.take().compactMap(\.goodbyeReason) == [.malformed])
    }

    @Test("An unpaired controller cannot read the audit log")
    func aStrangerReadsNothing() {
        var bench = Bench()
        bench.handle(opening(first, key: strangerKey))
        #expect(!ask(&bench).contains { if case .fetchAudit = $0 { true } else { false } })
        #expect(bench.take().compactMap(\.goodbyeReason) == [.outOfOrder])
    }

    @Test("A page of the longest entries fits into a frame")
    func aPageOfTheLongestEntriesFitsAFrame() {
        let actor = AuditActor.controller(
            name: String(repeating: "n", count: 63), key: String(repeating: "f", count: 64))
        let note = AuditNote(.pairingFailed, by: actor, isRefused: true, String(repeating: "d", count: 999))
        let entries = (0..<UInt64(PlugWire.auditEntriesAtOnce)).map { index in
            AuditEntry(
                number: AuditEntry.highestNumber - 100 + index, boot: otherBoot, time: PlugWire.latestTime, note,
                count: .max)
        }
        let wire = WireAuditEntries(AuditPage(entries, isLast: false), session: boot)
        #expect(plugFrame { $0.audit = wire }.count < PlugWire.maximumMessage / 2 + 1024)
    }

    @Test("The server returns only the audit notes of the last event")
    func notesAreThoseOfTheLastEvent() {
        var bench = Bench()
        bench.handle(opening(first, key: strangerKey))
        bench.say {
            $0.hello.version = 1
            $0.hello.controller = "Desk"
        }
        let key = String(strangerKey.fingerprint.prefix(12))
        #expect(
            bench.server.notes == [AuditNote(.refused, by: .stranger(key: key), isRefused: true, "hello: not paired")])
        bench.handle(.deadlineReached)
        #expect(bench.server.notes.isEmpty)
    }

    @Test("The controller of a command is known until the command ends")
    func whoAskedIsKnownWhileACommandIsCarriedOut() {
        var bench = Bench()
        bench.greet()
        bench.say {
            $0.command.requestID = .init(request(1).bytes)
            $0.command.identify = WireIdentify()
        }
        let desk = AuditActor.controller(name: "Desk", key: String(deskKey.fingerprint.prefix(12)))
        #expect(bench.server.asker(of: command(1)) == desk)
        bench.handle(.closed(first))
        bench.handle(.commandOutcome(command(1), .refused(Refusal(.unsupported, "There is no light."))))
        #expect(bench.server.notes == [AuditNote(.refused, by: desk, isRefused: true, "identify: unsupported")])
        #expect(bench.server.asker(of: command(1)) == nil, "an ended command has no controller")
    }

    // MARK: Controller

    private func seat() -> ControllerSessionTests.Seat {
        var seat = ControllerSessionTests.Seat()
        seat.handle(.connected)
        welcome(&seat)
        seat.sent = []
        seat.updates = []
        return seat
    }

    private func welcome(_ seat: inout ControllerSessionTests.Seat) {
        var plug = lamp
        plug.capabilities.insert(.audit)
        seat.hear { $0.welcome = WireWelcome(plug, now: .zero) }
    }

    @Test("A request that is made before Welcome arrives is sent after Welcome")
    func aQuestionBeforeWelcomeWaitsForIt() {
        var seat = ControllerSessionTests.Seat()
        seat.handle(.connected)
        seat.handle(.request(.fetchAudit(after: 4, limit: nil)))
        #expect(seat.sent.count == 1, "only Hello is sent")
        welcome(&seat)
        guard case .fetchAudit(let wire) = seat.sent.last else { return #expect(Bool(false), "\(seat.sent)") }
        #expect(wire.after == 4 && wire.limit == 0)
    }

    private func page(_ entries: [AuditEntry], isLast: Bool = true) -> WireAuditEntries {
        WireAuditEntries(AuditPage(entries, isLast: isLast), session: boot)
    }

    @Test("A requested page is delivered, and an unrequested one ends the session")
    func anAnswerIsDelivered() {
        var seat = seat()
        seat.handle(.request(.fetchAudit(after: 4, limit: 9)))
        guard case .fetchAudit(let wire) = seat.sent.last else { return #expect(Bool(false), "\(seat.sent)") }
        #expect(wire.after == 4 && wire.limit == 9)
        let stranger = entry(5, .stranger(key: "ffffffffffff"))
        seat.hear { $0.audit = page([stranger, entry(7)]) }
        #expect(seat.updates == [.answer(.audit(.success(AuditPage([stranger, entry(7)], isLast: true))))])
        seat.hear { $0.audit = page([]) }
        #expect(seat.closed != nil, "an unrequested page ends the session")
    }

    @Test("A plug without the audit capability is not asked")
    func aPlugThatDoesNotKnowTheQuestionIsNotAsked() {
        var seat = ControllerSessionTests.Seat.welcomed()
        seat.handle(.request(.fetchAudit(after: 0, limit: nil)))
        #expect(seat.sent.isEmpty)
        let words = "This plug keeps no audit log; its firmware may be too old."
        #expect(seat.updates == [.answer(.audit(.failure(Refusal(.unsupported, words))))])
    }

    @Test("Invalid audit pages end the session")
    func whatNoPlugMaySayEndsTheSession() {
        func ends(
            _ entries: [AuditEntry], isLast: Bool = true, _ spoil: (inout WireAuditEntries) -> Void
        ) -> Bool {
            var seat = seat()
            seat.handle(.request(.fetchAudit(after: 4, limit: nil)))
            var wire = page(entries, isLast: isLast)
            spoil(&wire)
            seat.hear { $0.audit = wire }
            return seat.closed != nil
        }
        #expect(!ends([entry(5)]) { _ in })
        #expect(ends([entry(4)]) { _ in }, "the entry is not after the requested number")
        #expect(ends([entry(6), entry(6)]) { _ in })
        #expect(ends([], isLast: false) { _ in }, "an empty page that is not the last one would loop forever")
        #expect(ends((5...105).map { entry($0) }) { _ in })
        #expect(ends([entry(5)]) { $0.entries[0].number = .max })
        #expect(ends([entry(5)]) { $0.entries[0].number = 0 })
        #expect(ends([entry(5)]) { $0.entries[0].plugTime = .max })
        #expect(ends([entry(5)]) { $0.entries[0].bootID = .init([1, 2]) })
        #expect(ends([entry(5)]) { $0.entries[0].count = 0 })
        #expect(ends([entry(5)]) { $0.entries[0].detail = String(repeating: "x", count: 161) })
        #expect(ends([entry(5)]) { $0.entries[0].controller = String(repeating: "x", count: 64) })
        #expect(!ends([entry(5)]) { $0.entries[0].kind = .UNRECOGNIZED(99) }, "a kind of a later version is valid")
    }
}
