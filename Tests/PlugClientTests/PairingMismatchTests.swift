import NIOCore
import PlugModel
import PlugProtocol
import ProtocolCore
import TestSupport
import Testing

@testable import PlugClient
@testable import PlugTransport

/// The texts for a plug that is not trusted, and the effects on waiting commands.
@Suite struct DistrustTests {
    private let id = PlugID(rawValue: "0123456789ab")!

    @Test("Each reason for distrust has a hint") func eachReasonSaysWhatToDo() {
        #expect(
            "\(PairingMismatch.notPaired(name: "Lamp"))"
                == "the plug is not paired with this controller\nhint: run plugctl pair \"Lamp\" with the code on its label"
        )
        #expect(
            "\(PairingMismatch.another(name: "Lamp", id: id))" == """
                a different plug was paired under this name (the id of this one is 0123456789ab)
                hint: if you trust this one, run plugctl pair "Lamp" with the code on its label
                """)
        #expect(
            "\(PairingMismatch.anonymous(name: "Lamp"))"
                == "its announcement has no plug id\nhint: check that it is a smart plug of this kind")
    }

    private func failed(_ failures: DialError.Failure...) throws -> DialError {
        var error = DialError(attempts: [])
        for failure in failures {
            let address = try SocketAddress(ipAddress: "192.0.2.7", port: 9)
            error.attempts.append(DialError.Attempt(address: address, failure))
        }
        return error
    }

    @Test("A different key is reported as distrust, and an unreachable plug as away")
    func anotherKeyBehindTheNameIsDistrustAndAPlugThatIsAwayIsNot() throws {
        let otherKey = try failed(.unreachable("No route to host"), .otherKey(.stranger))
        #expect(
            Disconnection(otherKey)
                == .distrusted(
                    """
                    the device has a different key than the paired plug
                    hint: if the plug was reset to factory state, run `plugctl pair --replace`; if not, another device pretends to be it
                    """))
        let away = try failed(.unreachable("No route to host"), .handshake("it closed the connection"))
        #expect(
            Disconnection(away)
                == .away(
                    "cannot connect to 192.0.2.7 port 9: No route to host; 192.0.2.7 port 9: it closed the connection"))
        #expect(
            Disconnection(PairingMismatch.notPaired(name: "Lamp"))
                == .distrusted("\(PairingMismatch.notPaired(name: "Lamp"))"))
        let damaged = PairedPlugsError.damaged(path: "/plugs", line: 2)
        #expect(Disconnection(damaged) == .distrusted("\(damaged)"))
    }

    @Test("The plug's Goodbye determines the kind of disconnection") func whatThePlugSaidAtTheEndDecidesToo() {
        let words = "Bye."
        for reason in Goodbye.Reason.allCases {
            let expected: Disconnection =
                switch reason {
                case .version: .incompatible(words)
                case .notPaired:
                    .distrusted(
                        "the plug is no longer paired with this controller\nhint: pair again with `plugctl pair`")
                case .factoryReset: .factoryReset
                case .stopping, .malformed, .outOfOrder, .limit, .silent, .pairingClosed, .wrongCode, .resetFailed,
                    .unknown:
                    .away("the plug closed the connection: \(words)")
                }
            #expect(Disconnection(.endedByPeer(Goodbye(reason, words))) == expected)
        }
        // A Goodbye with the reason `factoryReset` is a reset only if the plug sent it, not if this side ended the
        // session.
        #expect(Disconnection(.ended(Goodbye(.factoryReset, words))) == .away(words))
    }

    @Test("If the plug is distrusted, waiting requests are refused, and the follower continues to retry")
    func whoWaitsForAnAnswerIsToldAndTheFollowerGoesOnTrying() {
        var bench = FollowedBench()
        bench.feed(.located)
        bench.feed(.command(request(1), turnOn))
        bench.feed(.command(request(2), turnOn))
        bench.feed(.fetch(1, from: .zero, to: .zero))
        bench.feed(.failed(.distrusted("it is another")))
        let refusal = Refusal(.notPaired, "it is another")
        #expect(bench.outcomes == [request(1): .refused(refusal), request(2): .refused(refusal)])
        #expect(bench.refusedFetches == [1: refusal])
        #expect(bench.reasons == ["it is another"])
        bench.run(for: .seconds(1))
        #expect(bench.attempts.count == 2, "the follower retries, because the plug may be paired later")
        bench.connect()
        bench.feed(.command(request(3), turnOn))
        #expect(bench.performed == [request(3)], "the refused commands are not sent")
    }

    /// Event numbers belong to a plug, so a paired plug must not state the id of a different paired plug.
    @Test("A plug that states a different id than the one to which its key belongs is distrusted")
    func aPlugThatCallsItselfAnotherIsDistrusted() {
        var bench = FollowedBench(cursor: .after(3))
        bench.feed(.command(request(1), turnOn))
        bench.feed(.dialling(PlugID(rawValue: "ba9876543210")!))
        bench.locateAndConnect()
        let words = """
            the plug has the key of plug ba9876543210 but reports the id 0123456789ab
            hint: pair it again with `plugctl pair`
            """
        #expect(bench.updates.count == 1, "the distrust is the only update")
        #expect(ends(bench) == [.distrusted(words)])
        #expect(bench.outcomes == [request(1): .refused(Refusal(.notPaired, words))])
        #expect(bench.performed.isEmpty)
        #expect(bench.connection == nil)
        // The expected plug is accepted.
        bench.feed(.dialling(lamp.id))
        bench.run(for: .seconds(1))
        bench.connect()
        #expect(bench.updates.contains { if case .connected = $0 { true } else { false } })
    }

    @Test("A removed controller receives the reason and continues to retry")
    func aRemovedControllerIsToldAndGoesOnTrying() {
        var bench = FollowedBench()
        bench.server = PlugServer(
            identity: lamp, access: .knowing([]), journal: EventJournal(), state: PlugState(relayOn: false))
        bench.feed(.command(request(1), turnOn))
        bench.locateAndConnect()
        let words = "the plug is no longer paired with this controller\nhint: pair again with `plugctl pair`"
        #expect(bench.outcomes == [request(1): .refused(Refusal(.notPaired, words))])
        bench.run(for: .seconds(1))
        #expect(bench.attempts.count > 1)
    }

    // MARK: Factory reset

    private func ends(_ bench: FollowedBench) -> [Disconnection] {
        bench.updates.compactMap { if case .disconnected(let reason, _) = $0 { reason } else { nil } }
    }

    @Test("A factory reset is reported, and the plug is tried again") func aPlugThatIsResetSaysSoAndIsTriedAgain() {
        var bench = FollowedBench()
        bench.locateAndConnect()
        bench.answers = false
        bench.feed(.command(request(1), turnOn))
        bench.feed(.request(.factoryReset))
        #expect(ends(bench) == [.factoryReset])
        #expect(bench.outcomes == [request(1): .refused(Refusal(.notPaired, "\(Disconnection.factoryReset)"))])
        bench.run(for: .seconds(1))
        #expect(bench.attempts.count > 1)
    }

    @Test("A plug that cannot be reset disconnects and can be reached again")
    func aPlugThatCannotBeResetIsAwayForAMoment() {
        var bench = FollowedBench()
        bench.isFlashWritable = false
        bench.locateAndConnect()
        bench.feed(.request(.factoryReset))
        let words = "The plug was not reset, because its flash cannot be written."
        #expect(ends(bench) == [.away("the plug closed the connection: \(words)")])
        bench.locateAndConnect()
        #expect(bench.updates.count { if case .connected = $0 { true } else { false } } == 2)
    }
}
