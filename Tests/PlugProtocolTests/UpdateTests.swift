import PlugModel
import ProtocolCore
import Testing

@testable import PlugProtocol

/// Requests of owners about updates of the plug's system.
@Suite struct UpdateTests {
    private static let bundle = BundleID(bytes: 1...16)!
    private static let largest = PlugWire.largestBundle

    private func ask(_ bench: inout Bench, _ order: UpdateRequest) -> [PlugServer.Action] {
        bench.say { $0.manageUpdate = WireManageUpdate(order) }
    }

    @Test(
        "A request is passed to the plug, and the plug's answer to the session that sent the request",
        arguments: [
            UpdateRequest.ask, .begin(bundle, size: 1, allowsOlder: false),
            .begin(bundle, size: largest, allowsOlder: true), .part(offset: 0, [1]),
            .part(offset: largest, [UInt8](repeating: 7, count: PlugWire.largestBundlePart)),
            .restart(whenOff: true), .restart(whenOff: false), .cancel,
        ])
    func answered(_ order: UpdateRequest) throws {
        let report = UpdateReport(system: "1", phase: .receiving(5, of: 9))
        var bench = Bench()
        bench.greet(first)
        #expect(ask(&bench, order) == [.shell(.manageUpdate(first, order))])
        bench.handle(.update(first, .success(report)))
        let answers = bench.take().compactMap { if case .update(let wire) = $0 { wire } else { nil } }
        #expect(try answers.map { try $0.model() } == [report])
        // An answer without a waiting session is not sent.
        bench.handle(.update(first, .success(report)))
        #expect(bench.take().isEmpty)
    }

    @Test(
        "Each phase survives the conversion",
        arguments: [
            UpdateReport.Phase.idle, .receiving(3, of: 4), .installing(percent: 100), .installed, .trying,
            .returned("no address"), .failed("foreign signature"), .unknown,
        ])
    func phases(_ phase: UpdateReport.Phase) throws {
        let report = UpdateReport(
            board: "smartplug-arm64", system: "1.0", newSystem: "1.1", phase: phase, restartsWhenOff: true)
        #expect(try WireUpdateStatus(report).model() == report)
    }

    @Test("If the plug is not updated over the network, the refusal has the reason") func refusalHasTheReason() {
        var bench = Bench()
        bench.greet(first)
        _ = ask(&bench, .ask)
        bench.handle(.update(first, .failure(Refusal(.unsupported, "install the package"))))
        let refused = bench.take().compactMap { if case .refused(let wire) = $0 { wire } else { nil } }
        #expect(refused.map(\.request) == ["manage_update"] && refused.map(\.detail) == ["install the package"])
    }

    @Test("Only an owner may update the plug") func onlyAnOwnerUpdates() {
        for role in [Role.user, .viewer, .guest] { #expect(!role.may(.manage_update)) }
        #expect(Role.owner.may(.manage_update))
    }

    @Test("A second request before the answer ends the session") func aSecondRequestEndsTheSession() {
        var bench = Bench()
        bench.greet(first)
        _ = ask(&bench, .ask)
        _ = ask(&bench, .ask)
        #expect(bench.take().compactMap(\.goodbyeReason) == [.limit])
    }

    @Test("The audit log has the bundle and the restart, but not the parts") func audited() {
        var bench = Bench()
        bench.greet(first)
        let orders: [UpdateRequest] = [
            .begin(Self.bundle, size: 4, allowsOlder: false), .part(offset: 0, [1]), .restart(whenOff: true),
        ]
        var notes: [AuditNote] = []
        for order in orders {
            _ = ask(&bench, order)
            notes += bench.server.notes
            bench.handle(.update(first, .success(UpdateReport(phase: .idle))))
        }
        #expect(notes.map(\.kind) == [.firmware, .firmware])
        #expect(notes.map(\.detail) == ["a bundle of 4 bytes", "a restart with a new system"])
    }

    @Test("An id, a size, an offset or a part beyond its limit is rejected") func limits() {
        let changes: [(inout WireManageUpdate) -> Void] = [
            { $0.begin.size = 5 },
            { $0.begin.bundle = .init(repeating: 1, count: 15) },
            { (wire: inout WireManageUpdate) in
                wire.begin.bundle = .init(repeating: 1, count: 16)
                wire.begin.size = 0
            },
            { (wire: inout WireManageUpdate) in
                wire.begin.bundle = .init(repeating: 1, count: 16)
                wire.begin.size = .max
            },
            { $0.part.offset = 1 },
            { $0.part.data = .init(repeating: 1, count: PlugWire.largestBundlePart + 1) },
            { (wire: inout WireManageUpdate) in
                wire.part.data = .init(repeating: 1, count: 1)
                wire.part.offset = Self.largest + 1
            },
        ]
        for change in changes {
            var bench = Bench()
            bench.greet(first)
            var wire = WireManageUpdate()
            change(&wire)
            _ = bench.say { $0.manageUpdate = wire }
            #expect(bench.take().compactMap(\.goodbyeReason) == [.malformed])
        }
        let wrong: [(inout WireUpdateStatus) -> Void] = [
            { $0.board = String(repeating: "x", count: 64) }, { $0.system = String(repeating: "x", count: 64) },
            { $0.newSystem = String(repeating: "x", count: 64) },
            { $0.detail = String(repeating: "x", count: 256) }, { $0.percent = 101 },
            { (wire: inout WireUpdateStatus) in
                wire.phase = .receiving
                wire.received = .max
            },
        ]
        for change in wrong {
            var wire = WireUpdateStatus(UpdateReport(phase: .installing(percent: 1)))
            change(&wire)
            #expect(throws: MessageFault.self) { try wire.model() }
        }
    }
}
