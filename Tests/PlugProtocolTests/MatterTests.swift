import PlugModel
import ProtocolCore
import Testing

@testable import PlugProtocol

/// Requests of owners to the plug's Matter door.
@Suite struct MatterTests {
    private static let fabric = MatterReport.Fabric(
        index: 254, fabricID: .max, nodeID: 0x1_B669, vendor: 0xFFF1, label: "Home", sessions: 2)
    private let report = MatterReport(
        setupPayload: "MT:Y.K9042C00KA0648G00", manualCode: "34970112332", windowOpenFor: .seconds(899),
        isEnhanced: true, fabrics: [fabric])

    private func ask(_ bench: inout Bench, _ order: MatterRequest) -> [PlugServer.Action] {
        bench.say { $0.manageMatter = WireManageMatter(order) }
    }

    @Test(
        "A request is passed to the door, and the door's answer to the session that sent the request",
        arguments: [
            MatterRequest.ask, .remove(254), .removeAll, .openWindow(.zero), .openWindow(PlugWire.longestMatterWindow),
        ])
    func answered(_ order: MatterRequest) throws {
        var bench = Bench()
        bench.greet(first)
        #expect(ask(&bench, order) == [.shell(.manageMatter(first, order))])
        bench.handle(.matter(first, .success(report)))
        let answers = bench.take().compactMap { if case .matter(let wire) = $0 { wire } else { nil } }
        #expect(try answers.map { try $0.model() } == [report])
        // An answer without a waiting session is not sent.
        bench.handle(.matter(first, .success(report)))
        #expect(bench.take().isEmpty)
    }

    @Test("A closed window is absent in the answer") func closedWindow() throws {
        var closed = report
        (closed.windowOpenFor, closed.isEnhanced, closed.fabrics) = (nil, false, [])
        let wire = WireMatterStatus(closed)
        #expect(!wire.hasWindowSeconds)
        #expect(try wire.model() == closed)
    }

    @Test("If Matter is off, the refusal has the reason") func refusalHasTheReason() {
        var bench = Bench()
        bench.greet(first)
        _ = ask(&bench, .ask)
        bench.handle(.matter(first, .failure(Refusal(.unsupported, "Matter is off"))))
        let refused = bench.take().compactMap { if case .refused(let wire) = $0 { wire } else { nil } }
        #expect(refused.map(\.request) == ["manage_matter"] && refused.map(\.detail) == ["Matter is off"])
    }

    @Test("Only an owner may manage Matter") func onlyAnOwnerManagesMatter() {
        for role in [Role.user, .viewer, .guest] { #expect(!role.may(.manage_matter)) }
        #expect(Role.owner.may(.manage_matter))
    }

    @Test("A second request before the answer ends the session") func aSecondRequestEndsTheSession() {
        var bench = Bench()
        bench.greet(first)
        _ = ask(&bench, .ask)
        _ = ask(&bench, .ask)
        #expect(bench.take().compactMap(\.goodbyeReason) == [.limit])
    }

    @Test("An index, a duration or a list beyond its limit is rejected") func limits() {
        let changes: [(inout WireManageMatter) -> Void] = [
            { $0.remove = 255 }, { $0.remove = 257 }, { $0.openWindow = 901 },
        ]
        for change in changes {
            var bench = Bench()
            bench.greet(first)
            var wire = WireManageMatter()
            change(&wire)
            _ = bench.say { $0.manageMatter = wire }
            #expect(bench.take().compactMap(\.goodbyeReason) == [.malformed])
        }
        let wrong: [(inout WireMatterStatus) -> Void] = [
            { $0.fabrics = Array(repeating: $0.fabrics[0], count: PlugWire.matterFabrics + 1) },
            { $0.fabrics[0].index = 0 }, { $0.fabrics[0].vendor = 65_536 }, { $0.windowSeconds = 901 },
            { $0.fabrics[0].label = String(repeating: "x", count: PlugWire.longestMatterLabel + 1) },
        ]
        for change in wrong {
            var wire = WireMatterStatus(report)
            change(&wire)
            #expect(throws: MessageFault.self) { try wire.model() }
        }
    }
}
