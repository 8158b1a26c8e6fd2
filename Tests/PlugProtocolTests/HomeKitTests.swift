import PlugModel
import ProtocolCore
import Testing

@testable import PlugProtocol

/// Requests of owners to the plug's HomeKit door.
@Suite struct HomeKitTests {
    private let report = HomeKitReport(
        setupCode: "518-08-582", setupPayload: "X-HM://0023ISYWY7OSX", deviceID: "11:22:33:44:55:66",
        controllers: [.init(identifier: Array("5C2E81A0".utf8), isAdmin: true, sessions: 2)])

    private func ask(_ bench: inout Bench, _ order: HomeKitRequest) -> [PlugServer.Action] {
        bench.say { $0.manageHomekit = WireManageHomeKit(order) }
    }

    @Test(
        "A request is passed to the door, and the door's answer to the session that sent the request",
        arguments: [HomeKitRequest.ask, .remove(Array("5C2E81A0".utf8)), .removeAll])
    func answered(_ order: HomeKitRequest) throws {
        var bench = Bench()
        bench.greet(first)
        #expect(ask(&bench, order) == [.shell(.manageHomeKit(first, order))])
        bench.handle(.homeKit(first, .success(report)))
        let answers = bench.take().compactMap { if case .homekit(let wire) = $0 { wire } else { nil } }
        #expect(try answers.map { try $0.model() } == [report])
        // An answer without a waiting session is not sent.
        bench.handle(.homeKit(first, .success(report)))
        #expect(bench.take().isEmpty)
    }

    @Test("If HomeKit is off, the refusal has the reason")
    func whereItIsOffTheReasonIsTold() {
        var bench = Bench()
        bench.greet(first)
        _ = ask(&bench, .ask)
        bench.handle(.homeKit(first, .failure(Refusal(.unsupported, "HomeKit is off"))))
        let refused = bench.take().compactMap { if case .refused(let wire) = $0 { wire } else { nil } }
        #expect(refused.map(\.request) == ["manage_homekit"] && refused.map(\.detail) == ["HomeKit is off"])
    }

    @Test("Only an owner may manage HomeKit")
    func onlyAnOwnerAsks() {
        for role in [Role.user, .viewer, .guest] { #expect(!role.may(.manage_homekit)) }
        #expect(Role.owner.may(.manage_homekit))
    }

    @Test("A second request before the answer ends the session")
    func aSecondQuestionBeforeTheAnswerEndsTheSession() {
        var bench = Bench()
        bench.greet(first)
        _ = ask(&bench, .ask)
        _ = ask(&bench, .ask)
        #expect(bench.take().compactMap(\.goodbyeReason) == [.limit])
    }

    @Test("Identifiers and lists beyond their limits are rejected")
    func identifiersAndListsHaveLimits() {
        var bench = Bench()
        bench.greet(first)
        _ = ask(&bench, .remove([UInt8](repeating: 65, count: PlugWire.longestHomeKitIdentifier + 1)))
        #expect(bench.take().compactMap(\.goodbyeReason) == [.malformed])
        var long = report
        long.controllers = Array(repeating: report.controllers[0], count: PlugWire.homeKitControllers + 1)
        #expect(throws: MessageFault.self) { try WireHomeKitStatus(long).model() }
    }
}
