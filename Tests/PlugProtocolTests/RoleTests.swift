import PlugModel
import ProtocolCore
import Testing

@testable import PlugProtocol

@Suite struct RoleTests {
    private let guestKey = PublicKey(bytes: [7, 7])!
    private let invited = try! SetupCode(text: "QRST-UVWX-YZ23-4567")

    /// A plug with an owner on the first connection and a controller with this role on the second.
    private func bench(_ role: Role, secondsLeft: UInt32? = nil) -> Bench {
        let controllers = PairedControllers([
            PairedControllers.Controller(key: deskKey, name: "Desk"),
            PairedControllers.Controller(key: guestKey, name: "Tablet", role: role, secondsLeft: secondsLeft),
        ])
        var bench = Bench(access: PlugServer.Access(key: plugKey, code: setupCode, controllers: controllers))
        bench.greet(first)
        bench.greet(second, key: guestKey)
        return bench
    }

    private func turnOn(_ bench: inout Bench, _ number: UInt8, on connection: ConnectionID) -> [PlugServer.Action] {
        bench.say(on: connection) {
            $0.command = WireCommand(.setRelay(on: true, autoOff: nil), request: request(number), within: .seconds(2))
        }
    }

    private func refusals(_ bench: inout Bench, _ connection: ConnectionID) -> [Refusal] {
        bench.take(connection).compactMap { kind in
            switch kind {
            case .refused(let wire): return Refusal(wire.code.model, wire.detail)
            case .result(let wire):
                guard case .refused(let refusal) = try? wire.model().1 else { return nil }
                return refusal
            default: return nil
            }
        }
    }

    @Test("A viewer cannot switch, and the refusal names the owners who can change that")
    func aViewerDoesNotSwitchAndHearsWhoMayAllowIt() {
        var bench = bench(.viewer)
        #expect(turnOn(&bench, 1, on: second).isEmpty)
        #expect(
            refusals(&bench, second) == [
                Refusal(
                    .notAllowed,
                    "This controller is a viewer here and may not switch the plug. An owner can change this: Desk.")
            ])
        #expect(turnOn(&bench, 1, on: first).count == 1)
    }

    @Test("A user can switch, but cannot manage controllers")
    func aUserSwitchesAndManagesNobody() {
        var bench = bench(.user)
        #expect(turnOn(&bench, 1, on: second).count == 1)
        let asked: [(inout WireControllerMessage) -> Void] = [
            { $0.listControllers = WireListControllers() },
            { $0.removeController.fingerprint = deskKey.fingerprint },
            { $0.factoryReset = WireFactoryReset() },
            { [invited] in $0.invite = WireInvite(invited, .owner) },
            { $0.setRole = WireSetRole(deskKey.fingerprint, try! Grant(.viewer)) },
        ]
        for ask in asked { #expect(bench.say(on: second, ask).isEmpty) }
        #expect(refusals(&bench, second).map(\.code) == asked.map { _ in .notAllowed })
        #expect(bench.server.access.controllers.all.map(\.role) == [.owner, .user])
        // A user may remove itself.
        bench.say(on: second) { $0.removeController.fingerprint = guestKey.fingerprint }
        #expect(bench.server.access.controllers.all.map(\.name) == ["Desk"])
    }

    @Test("The last owner cannot be removed or demoted")
    func theLastOwnerStays() {
        var bench = bench(.user)
        bench.say { $0.removeController.fingerprint = deskKey.fingerprint }
        bench.say { $0.setRole = WireSetRole(deskKey.fingerprint, try! Grant(.user)) }
        let refused = refusals(&bench, first)
        #expect(refused.map(\.code) == [.notAllowed, .notAllowed])
        #expect(refused.first?.detail.contains("last owner") == true)
        bench.handle(.removeController(fingerprint: deskKey.fingerprint))
        #expect(bench.server.access.controllers.owners.map(\.name) == ["Desk"])
        // With a second owner the first can be demoted.
        bench.say { $0.setRole = WireSetRole(guestKey.fingerprint, .owner) }
        bench.say { $0.setRole = WireSetRole(deskKey.fingerprint, try! Grant(.user)) }
        #expect(bench.server.access.controllers.owners.map(\.name) == ["Tablet"])
    }

    @Test("A role change takes effect in open sessions")
    func anotherRoleHoldsInSessionsThatStandAlready() {
        var bench = bench(.viewer)
        #expect(turnOn(&bench, 1, on: second).isEmpty)
        bench.say { $0.setRole = WireSetRole(guestKey.fingerprint, try! Grant(.user)) }
        #expect(turnOn(&bench, 1, on: second).count == 1, "a refusal for a missing right is not stored as the outcome")
        bench.say { $0.setRole = WireSetRole(guestKey.fingerprint, try! Grant(.viewer)) }
        #expect(turnOn(&bench, 2, on: second).isEmpty)
    }

    @Test("A controller can be removed at the plug's panel")
    func somebodyAtThePlugRemovesAController() {
        var bench = bench(.user)
        let actions = bench.handle(.removeController(fingerprint: guestKey.fingerprint))
        #expect(actions.contains(.shell(.close(second, .ended(.notPaired)))))
        #expect(bench.server.access.controllers.all.map(\.name) == ["Desk"])
    }

    private func added(_ controllers: inout PairedControllers, _ controller: PairedControllers.Controller) -> Bool {
        controllers.add(controller)
    }

    // MARK: Invitations

    private func pair(
        _ bench: inout Bench, _ code: SetupCode, name: String = "Phone", key: PublicKey = strangerKey,
        at seconds: Double = 0
    ) -> Goodbye.Reason? {
        let connection = ConnectionID(rawValue: 9)
        bench.handle(opening(connection, key: key), at: seconds)
        bench.say(on: connection, at: seconds) {
            $0.pairingRequest.version = 1
            $0.pairingRequest.controller = name
            $0.pairingRequest.nonce = .init([UInt8](repeating: 5, count: 32))
        }
        let transcript = PairingTranscript(
            version: 1, plug: lamp.id, plugKey: plugKey, controllerKey: key,
            plugNonce: [UInt8](repeating: 9, count: 32), controllerNonce: [UInt8](repeating: 5, count: 32))
        bench.say(on: connection, at: seconds) {
            $0.pairingProof.proof = .init(transcript.proof(of: .controller, code: code))
        }
        let reason = bench.take(connection).compactMap(\.goodbyeReason).first
        bench.handle(.closed(connection), at: seconds)
        return reason
    }

    @Test("An invitation is valid for one pairing, which gets the role of the invitation")
    func anInvitationIsForOnePairingInItsRole() {
        var bench = bench(.user)
        #expect(pair(&bench, setupCode) == .pairingClosed)
        bench.say { $0.invite = WireInvite(invited, try! Grant(.viewer)) }
        #expect(pair(&bench, setupCode) == .wrongCode, "the plug's own code needs an open window")
        #expect(pair(&bench, invited, at: 1) == nil)
        #expect(bench.server.access.controllers[strangerKey]?.role == .viewer)
        bench.say(at: 1) { $0.removeController.fingerprint = strangerKey.fingerprint }
        #expect(pair(&bench, invited, at: 2) == .pairingClosed, "the invitation was used")
    }

    @Test("An invitation ends when it is revoked, its author is demoted or removed, or the setup code changes")
    func invitationsEndWithTheirAuthorsRight() {
        let ends: [(String, (inout Bench) -> Void)] = [
            (
                "demoted",
                { $0.say { [guestKey] in $0.setRole = WireSetRole(guestKey.fingerprint, try! Grant(.viewer)) } }
            ),
            ("removed", { $0.say { [guestKey] in $0.removeController.fingerprint = guestKey.fingerprint } }),
            ("removed at the plug", { [guestKey] in $0.handle(.removeController(fingerprint: guestKey.fingerprint)) }),
            (
                "another setup code",
                {
                    $0.say { $0.newCode.code = .init(try! SetupCode(text: "AAAA-BBBB-CCCC-DDDD").bytes) }
                    $0.handle(.codeKept(nil))
                }
            ),
            ("revoked", { $0.say { $0.revokeInvitation.number = 1 } }),
        ]
        for (name, end) in ends {
            var bench = bench(.owner)
            bench.say(on: second) { $0.invite = WireInvite(invited, .owner) }
            #expect(openInvitations(&bench).map(\.author) == ["Tablet"])
            end(&bench)
            #expect(openInvitations(&bench).isEmpty, "\(name)")
            #expect(pair(&bench, invited, at: 1) != nil, "\(name)")
            #expect(bench.server.access.controllers[strangerKey] == nil, "\(name)")
        }
    }

    @Test("An invitation remains when another controller is removed")
    func invitationsOfOthersStay() {
        var bench = bench(.owner)
        bench.say(on: first) { $0.invite = WireInvite(invited, .owner) }
        bench.say { $0.removeController.fingerprint = guestKey.fingerprint }
        #expect(openInvitations(&bench).map(\.own) == [true])
        #expect(pair(&bench, invited, at: 1) == nil)
    }

    private func openInvitations(_ bench: inout Bench) -> [WireOpenInvitation] {
        _ = bench.take()
        bench.say { $0.listInvitations = WireListInvitations() }
        for case .invitations(let wire) in bench.take() { return wire.invitations }
        return []
    }

    @Test("A demoted owner receives neither log lines nor the answer to its pending request for the audit log")
    func aRoleChangeClosesLanes() {
        var bench = bench(.owner)
        bench.say(on: second) {
            $0.followLog.level = .debug
            $0.followLog.seconds = 600
        }
        let asked = bench.say(on: second) { $0.fetchAudit.after = 0 }
        #expect(asked.contains { if case .fetchAudit = $0 { true } else { false } })
        bench.say { $0.setRole = WireSetRole(guestKey.fingerprint, try! Grant(.viewer)) }
        _ = bench.take(second)
        bench.handle(
            .logged([LogLine(number: 1, time: at(0), level: .info, part: "PlugService", message: "secret")], lost: 0))
        bench.handle(.audit(second, AuditPage([], isLast: true)))
        let heard = bench.take(second)
        #expect(!heard.contains { if case .logLines = $0 { true } else { false } })
        #expect(!heard.contains { if case .audit = $0 { true } else { false } })
        for case .refused(let wire) in heard { #expect(wire.request == "fetch_audit") }
    }

    @Test("A controller that pairs again with a lower role has this role in its open session")
    func aNewPairingChangesOpenSessions() {
        var bench = bench(.user)
        bench.say(on: first) { $0.invite = WireInvite(invited, try! Grant(.viewer)) }
        #expect(pair(&bench, invited, key: guestKey) == nil)
        #expect(bench.server.access.controllers[guestKey]?.role == .viewer)
        let actions = turnOn(&bench, 1, on: second)
        #expect(!actions.contains { if case .perform = $0 { true } else { false } })
    }

    @Test("A pairing with an announced key completes the key rotation and ends the sessions with the old key")
    func aPairingCompletesARotation() {
        var bench = bench(.user)
        let isAnnounced = bench.server.access.controllers.announce(strangerKey, of: guestKey)
        #expect(isAnnounced)
        bench.say(on: first) { $0.invite = WireInvite(invited, try! Grant(.viewer)) }
        #expect(pair(&bench, invited, key: strangerKey) == nil)
        #expect(bench.take(second).compactMap(\.goodbyeReason) == [.stopping])
        #expect(bench.server.access.controllers[guestKey] == nil)
        #expect(bench.server.access.controllers[strangerKey]?.role == .viewer)
        #expect(bench.server.sessions.all.allSatisfy { bench.server.access.controllers[$0.key] != nil })
    }

    @Test("The plug does not crash if a guest's time ends while the guest proves a second invitation")
    func aGuestsTimeEndsInTheStepOfItsOwnProof() {
        var bench = bench(.guest, secondsLeft: 60)
        bench.handle(.deadlineReached, at: 0)
        bench.say(on: first) { $0.invite = WireInvite(invited, try! Grant(.guest, seconds: 60)) }
        let connection = ConnectionID(rawValue: 9)
        bench.handle(opening(connection, key: guestKey), at: 30)
        bench.say(on: connection, at: 30) {
            $0.pairingRequest.version = 1
            $0.pairingRequest.controller = "Tablet"
            $0.pairingRequest.nonce = .init([UInt8](repeating: 5, count: 32))
        }
        let transcript = PairingTranscript(
            version: 1, plug: lamp.id, plugKey: plugKey, controllerKey: guestKey,
            plugNonce: [UInt8](repeating: 9, count: 32), controllerNonce: [UInt8](repeating: 5, count: 32))
        bench.say(on: connection, at: 3600) {
            $0.pairingProof.proof = .init(transcript.proof(of: .controller, code: invited))
        }
        bench.handle(.deadlineReached, at: 3601)
        #expect(bench.server.access.controllers[deskKey] != nil)
    }

    @Test("An invitation ends after a day")
    func anInvitationEndsAfterADay() {
        var bench = bench(.user)
        bench.say { $0.invite = WireInvite(invited, try! Grant(.viewer)) }
        #expect(pair(&bench, invited, at: 86_400) == .pairingClosed)
    }

    @Test("A fifth open invitation is refused")
    func aFifthInvitationIsRefused() {
        var bench = bench(.user)
        for number in UInt8(0)..<5 {
            bench.say {
                $0.invite = WireInvite(SetupCode(bytes: [UInt8](repeating: number, count: 10))!, try! Grant(.viewer))
            }
        }
        #expect(refusals(&bench, first).map(\.code) == [.busy])
    }

    @Test("Invalid invitations are refused")
    func whatNoInvitationCanSayIsRefused() {
        var bench = bench(.user)
        bench.say {
            $0.invite = WireInvite(invited, try! Grant(.viewer)); $0.invite.role = .guest
        }
        bench.say {
            $0.invite = WireInvite(invited, .owner); $0.invite.seconds = 3600
        }
        bench.say {
            $0.invite = WireInvite(invited, try! Grant(.viewer)); $0.invite.seconds = 59
        }
        bench.say {
            $0.invite = WireInvite(invited, try! Grant(.viewer)); $0.invite.role = .unspecified
        }
        #expect(refusals(&bench, first).map(\.code) == [.outOfRange, .outOfRange, .outOfRange, .unsupported])
        bench.say {
            $0.invite = WireInvite(invited, .owner); $0.invite.code = .init([1, 2])
        }
        #expect(bench.take().compactMap(\.goodbyeReason) == [.malformed])
    }

    @Test("A known owner that is added again with a lower role keeps its role")
    func theOwnersInvitationDoesNotMakeAnOwnerLess() {
        var bench = bench(.user)
        bench.say { $0.invite = WireInvite(invited, try! Grant(.viewer)) }
        var controllers = bench.server.access.controllers
        #expect(
            added(&controllers, PairedControllers.Controller(key: deskKey, name: "Desk", role: .viewer, secondsLeft: 9))
        )
        #expect(controllers[deskKey]?.role == .owner && controllers[deskKey]?.secondsLeft == nil)
    }

    /// Attack class: a name that a controller chooses itself is mistaken for its identity.
    @Test("Each controller of a plug gets a unique name without parentheses")
    func noTwoControllersOfAPlugHaveOneName() {
        var bench = bench(.user)
        bench.say { $0.invite = WireInvite(invited, try! Grant(.user)) }
        #expect(pair(&bench, invited, name: "Desk (the daemon)") == nil)
        #expect(bench.server.access.controllers[strangerKey]?.name == "Desk [the daemon]")
        var controllers = PairedControllers()
        for number in UInt8(0)..<3 {
            let name = String(repeating: "é", count: 31)
            #expect(added(&controllers, PairedControllers.Controller(key: PublicKey(bytes: [number])!, name: name)))
        }
        #expect(Set(controllers.all.map(\.name)).count == 3)
        #expect(controllers.all.allSatisfy { $0.name.utf8.count <= 63 })
    }

    // MARK: Time

    @Test("A guest is removed when its time ends")
    func aGuestGoesWhenItsTimeIsOver() {
        var bench = bench(.guest, secondsLeft: 7200)
        #expect(!bench.run(until: 7199).contains(.record(.controllerRemoved(name: "Tablet"))))
        // The guest's session ended because of silence.
        bench.greet(second, key: guestKey, at: 7199)
        let command = bench.say(on: second, at: 7199) {
            $0.command = WireCommand(.setRelay(on: true, autoOff: nil), request: request(1), within: .seconds(2))
        }
        #expect(command.count == 1)
        let actions = bench.run(until: 7201)
        #expect(actions.contains(.record(.controllerRemoved(name: "Tablet"))))
        #expect(actions.contains(.shell(.close(second, .ended(.timeOver)))))
        #expect(bench.server.access.controllers.all.map(\.name) == ["Desk"])
    }

    /// Attack class: a power cut restores time that was used up.
    @Test("Restarts do not extend a guest's time")
    func noRestartGivesAGuestMoreTime() {
        var left: UInt32? = 20_000
        var clock = 0.0
        var passed = 0.0
        while let known = left {
            var bench = bench(.guest, secondsLeft: known)
            // Each process runs for a different time before the power cut.
            let life = Double(known % 977) + 60
            var stored = bench.server.access.controllers[guestKey]?.secondsLeft
            for action in bench.run(until: life) {
                if case .keep(let controllers) = action { stored = controllers[guestKey]?.secondsLeft }
            }
            clock += life
            passed = clock
            left = bench.server.access.controllers[guestKey] == nil ? nil : stored
            #expect(passed < 40_000)
            if passed >= 40_000 { break }
        }
        #expect(passed <= 20_000 + 1060)
    }

    @Test("An owner has no end time, a guest has one, and every end time is within the limits")
    func aGrantIsWithinItsTimes() throws {
        #expect(throws: GrantError.ownerWithEnd) { try Grant(.owner, seconds: 100) }
        #expect(throws: GrantError.guestWithoutEnd) { try Grant(.guest) }
        #expect(throws: GrantError.time) { try Grant(.user, seconds: 59) }
        #expect(throws: GrantError.time) { try Grant(.user, seconds: 31_536_001) }
        #expect(try Grant(.user, seconds: 60).seconds == 60)
    }

    // MARK: Requests of others

    /// Attack class: a former controller makes the owner's commands ineffective.
    @Test("One request id from two controllers identifies two commands")
    func nobodyAnswersTheRequestsOfAnother() {
        var bench = bench(.user)
        #expect(turnOn(&bench, 1, on: second).count == 1)
        bench.handle(.commandOutcome(command(1, of: guestKey), .done(PlugState(relayOn: false), event: nil)))
        #expect(turnOn(&bench, 1, on: first).count == 1, "the same id of a different controller is a different command")
    }

    @Test("The stored outcomes of commands of one controller do not displace those of another")
    func nobodyPushesOutTheRequestsOfAnother() {
        var limits = PlugServer.Limits()
        limits.recentOutcomes = 10
        var bench = Bench(limits: limits, paired: [deskKey, guestKey])
        bench.greet(first)
        bench.greet(second, key: guestKey)
        for number in UInt8(0)..<3 {
            _ = turnOn(&bench, number, on: first)
            bench.handle(.commandOutcome(command(number), .done(PlugState(relayOn: true), event: nil)))
        }
        for number in UInt8(0)..<100 {
            _ = turnOn(&bench, number, on: second)
            bench.handle(.commandOutcome(command(number, of: guestKey), .done(PlugState(relayOn: true), event: nil)))
        }
        #expect(bench.server.finishedRequests.count == 10)
        for number in UInt8(0)..<3 { #expect(turnOn(&bench, number, on: first).isEmpty) }
    }

    @Test("The stored outcomes of commands of a removed controller are deleted")
    func whatARemovedControllerAskedIsForgotten() {
        var bench = bench(.user)
        _ = turnOn(&bench, 1, on: second)
        bench.handle(.commandOutcome(command(1, of: guestKey), .done(PlugState(relayOn: true), event: nil)))
        let kept = bench.server.finishedRequests
        #expect(kept.count == 1)
        bench.say { $0.removeController.fingerprint = guestKey.fingerprint }
        #expect(bench.server.finishedRequests.isEmpty)
        #expect(Bench(requests: kept).server.finishedRequests.isEmpty, "a restart does not restore the outcome")
    }
}
