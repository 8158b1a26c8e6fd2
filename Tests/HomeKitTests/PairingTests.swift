import HomeKit
import ProtocolCore
import TestSupport
import Testing

@Suite struct PairSetupTests {
    @Test("The correct setup code pairs, and the accessory announces that it is paired")
    func theRightCodePairs() throws {
        var plug = try SimulatedAccessory()
        #expect(plug.server.announcement.attributes.first { $0.key == "sf" }?.value == "1")
        let (owner, _) = try plug.pairedSession()
        #expect(plug.server.pairings.map(\.name) == ["owner"])
        #expect(plug.server.pairings.first?.isAdmin == true)
        #expect(plug.disk.pairings == plug.server.pairings)
        #expect(plug.announced == [true])
        #expect(plug.server.announcement.attributes.first { $0.key == "sf" }?.value == "0")
        #expect(owner.accessoryID == Array(plug.disk.deviceID.utf8))
        #expect(plug.notices.contains(.paired(controller: "owner")))
    }

    @Test("A wrong code is rejected, and the next attempt of any session is delayed")
    func theWrongCodeDoesNot() throws {
        var plug = try SimulatedAccessory()
        var guesser = SimulatedController("guesser")
        var connection = plug.open()
        #expect(throws: ControllerFault.refused(.authentication, retryDelay: nil)) {
            try plug.pair(&guesser, &connection, code: "518-08-583")
        }
        #expect(!plug.server.isPaired)
        #expect(plug.storesAsked == 1)
        // The delay applies to all sessions.
        var other = plug.open()
        #expect(throws: ControllerFault.refused(.backoff, retryDelay: 1)) {
            try plug.pair(&guesser, &other)
        }
        plug.wait(.seconds(1))
        try plug.pair(&guesser, &connection)
        #expect(plug.server.isPaired)
    }

    @Test("The delay after a wrong code doubles up to 60 s") func delaysDoubleUpToAMinute() throws {
        var plug = try SimulatedAccessory()
        var delays: [UInt8] = []
        for _ in 0..<9 {
            var (guesser, connection) = (SimulatedController("guesser"), plug.open())
            #expect(throws: ControllerFault.refused(.authentication, retryDelay: nil)) {
                try plug.pair(&guesser, &connection, code: "518-08-583")
            }
            do {
                try plug.pair(&guesser, &connection)
            } catch ControllerFault.refused(.backoff, let delay) {
                delays.append(delay ?? 0)
            }
            plug.close(connection)
            plug.wait(.seconds(60))
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60, 60])
    }

    @Test("After 100 failed attempts pairing is rejected until a restart")
    func afterAHundredTriesNobodyPairsBeforeTheNextStart() throws {
        var plug = try SimulatedAccessory()
        for _ in 0..<100 {
            let (guesser, connection) = (SimulatedController("guesser"), plug.open())
            var (setup, link) = (try SetupAttempt(guesser, code: "000-00-000"), connection)
            _ = try plug.exchange(&link, "/pair-setup", SetupAttempt.first())
            let proof = TLV8([TLV8.Item(6, [3]), TLV8.Item(3, [2]), TLV8.Item(4, Array(repeating: 0, count: 64))])
            #expect(throws: ControllerFault.refused(.authentication, retryDelay: nil)) {
                try plug.exchange(&link, "/pair-setup", proof.encoded)
            }
            _ = try? setup.second(TLV8())
            plug.close(link)
            plug.wait(.seconds(60))
        }
        var (owner, connection) = (SimulatedController("owner"), plug.open())
        #expect(throws: ControllerFault.refused(.maxTries, retryDelay: nil)) { try plug.pair(&owner, &connection) }
        var restarted = try SimulatedAccessory(plug.disk)
        _ = try restarted.pairedSession()
    }

    @Test("A session that starts pair-setup is refused as busy while another session is in pair-setup")
    func oneSetsUpAtATime() throws {
        var plug = try SimulatedAccessory()
        var (first, second) = (plug.open(), plug.open())
        _ = try plug.exchange(&first, "/pair-setup", SetupAttempt.first())
        #expect(throws: ControllerFault.refused(.busy, retryDelay: nil)) {
            try plug.exchange(&second, "/pair-setup", SetupAttempt.first())
        }
        // The first session may start pair-setup again. After it has closed, the second session may start.
        _ = try plug.exchange(&first, "/pair-setup", SetupAttempt.first())
        plug.close(first)
        var owner = SimulatedController("owner")
        try plug.pair(&owner, &second)
    }

    @Test("Repeated starts of pair-setup do not keep a session open for longer than two minutes")
    func toBeginOverAndOverHoldsNobodyUp() throws {
        var plug = try SimulatedAccessory()
        var stranger = plug.open()
        for _ in 0..<12 {
            _ = try plug.exchange(&stranger, "/pair-setup", SetupAttempt.first())
            plug.wait(.seconds(10))
        }
        #expect(!plug.isOpen(stranger))
        _ = try plug.pairedSession()
    }

    @Test("A modified exchange of keys is rejected") func aChangedExchangeOfKeysPairsNobody() throws {
        var plug = try SimulatedAccessory()
        let owner = SimulatedController("owner")
        for place in [8, 20, 100] {
            var connection = plug.open()
            var attempt = try SetupAttempt(owner, code: SimulatedAccessory.code)
            let second = try plug.exchange(&connection, "/pair-setup", SetupAttempt.first())
            let fourth = try plug.exchange(&connection, "/pair-setup", try attempt.second(second))
            var body = try attempt.third(fourth)
            body[place] ^= 1
            #expect(throws: ControllerFault.refused(.authentication, retryDelay: nil)) {
                try plug.exchange(&connection, "/pair-setup", body)
            }
            plug.close(connection)
        }
        #expect(!plug.server.isPaired)
        #expect(plug.storesAsked == 1)
    }

    @Test("The SRP key stays the same until a proof has been checked against it")
    func aKeyIsShownUntilSomebodyAnswersIt() throws {
        var plug = try SimulatedAccessory()
        let guesser = SimulatedController("guesser")
        var keys: [[UInt8]?] = []
        for _ in 0..<3 {
            var connection = plug.open()
            let challenge = try plug.exchange(&connection, "/pair-setup", SetupAttempt.first())
            keys.append(challenge[3])
            if keys.count == 2 {
                var attempt = try SetupAttempt(guesser, code: "518-08-583")
                let proof = try attempt.second(challenge)
                #expect(throws: ControllerFault.refused(.authentication, retryDelay: nil)) {
                    try plug.exchange(&connection, "/pair-setup", proof)
                }
            }
            plug.close(connection)
            plug.wait(.seconds(1))
        }
        #expect(keys[0] == keys[1])
        #expect(keys[1] != keys[2])
    }

    @Test("A session in pair-setup stays open for two minutes") func aPersonHasTwoMinutesToTypeTheCode() throws {
        var plug = try SimulatedAccessory()
        let owner = SimulatedController("owner")
        var (first, second) = (plug.open(), plug.open())
        var attempt = try SetupAttempt(owner, code: SimulatedAccessory.code)
        let challenge = try plug.exchange(&first, "/pair-setup", SetupAttempt.first())
        plug.wait(.seconds(119))
        #expect(plug.isOpen(first))
        #expect(!plug.isOpen(second))
        let fourth = try plug.exchange(&first, "/pair-setup", try attempt.second(challenge))
        _ = try attempt.third(fourth)
        plug.wait(.seconds(11))
        #expect(!plug.isOpen(first))
        second = plug.open()
        _ = try plug.exchange(&second, "/pair-setup", SetupAttempt.first())
    }

    @Test("A paired accessory rejects pair-setup as unavailable") func aPairedAccessoryIsUnavailable() throws {
        var plug = try SimulatedAccessory()
        _ = try plug.pairedSession()
        var connection = plug.open()
        #expect(throws: ControllerFault.refused(.unavailable, retryDelay: nil)) {
            try plug.exchange(&connection, "/pair-setup", SetupAttempt.first())
        }
    }

    @Test("A controller in another network cannot pair, and can use a pairing")
    func pairingStaysInTheNetwork() throws {
        var plug = try SimulatedAccessory()
        var distant = plug.open(isLocal: false)
        #expect(throws: ControllerFault.refused(.unavailable, retryDelay: nil)) {
            try plug.exchange(&distant, "/pair-setup", SetupAttempt.first())
        }
        #expect(plug.notices.contains(.distantSetupRefused(distant.id)))
        let (owner, _) = try plug.pairedSession()
        try plug.verify(owner, &distant)
        #expect(plug.server.sessionsOfControllers.values.reduce(0, +) == 2)
    }

    @Test("Transient pairing and pairing methods other than pair-setup are rejected")
    func transientPairingAndOtherMethodsAreRefused() throws {
        var plug = try SimulatedAccessory()
        var connection = plug.open()
        for body in [SetupAttempt.first(flags: 0x10), SetupAttempt.first(method: 1)] {
            #expect(throws: ControllerFault.refused(.unknown, retryDelay: nil)) {
                try plug.exchange(&connection, "/pair-setup", body)
            }
        }
    }

    @Test("Pair-setup messages out of order are rejected") func messagesOutOfOrderPairNobody() throws {
        var plug = try SimulatedAccessory()
        var connection = plug.open()
        for state in [2, 3, 4, 5, 6, 7, 255] as [UInt8] {
            #expect(throws: ControllerFault.refused(.unknown, retryDelay: nil)) {
                try plug.exchange(&connection, "/pair-setup", TLV8([TLV8.Item(6, [state])]).encoded)
            }
        }
        _ = try plug.exchange(&connection, "/pair-setup", SetupAttempt.first())
        #expect(throws: ControllerFault.refused(.unknown, retryDelay: nil)) {
            try plug.exchange(&connection, "/pair-setup", TLV8([TLV8.Item(6, [5])]).encoded)
        }
        #expect(try plug.ask(&connection, "POST", "/pair-setup", [6]).status == 400)
        #expect(!plug.server.isPaired)
    }

    /// Closes the connection after the controller's first, second or third message. A different controller then pairs.
    @Test(
        "A disconnection during pair-setup leaves no pairing, and a different controller can pair", arguments: 0..<3)
    func aSetupThatIsCutLeavesNothing(_ messages: Int) throws {
        var plug = try SimulatedAccessory()
        let lost = SimulatedController("lost")
        var connection = plug.open()
        var attempt = try SetupAttempt(lost, code: SimulatedAccessory.code)
        let second = try plug.exchange(&connection, "/pair-setup", SetupAttempt.first())
        if messages > 0 {
            let fourth = try plug.exchange(&connection, "/pair-setup", try attempt.second(second))
            if messages > 1 {
                // The controller disconnects before flash answers.
                plug.flashWorks = nil
                try plug.send(&connection, "POST", "/pair-setup", try attempt.third(fourth))
                plug.close(connection)
                plug.flashAnswers(true)
                plug.flashAnswers(true)
                plug.flashWorks = true
            }
        }
        plug.close(connection)
        #expect(!plug.server.isPaired)
        #expect(plug.disk.pairings.isEmpty)
        _ = try plug.pairedSession("owner")
        #expect(plug.server.pairings.map(\.name) == ["owner"])
    }

    @Test("Pair-setup is answered only after flash has the pairing, and a failed write pairs no controller")
    func theLastAnswerWaitsForFlash() throws {
        var plug = try SimulatedAccessory()
        plug.flashWorks = nil
        let owner = SimulatedController("owner")
        var connection = plug.open()
        var attempt = try SetupAttempt(owner, code: SimulatedAccessory.code)
        let second = try plug.exchange(&connection, "/pair-setup", SetupAttempt.first())
        let fourth = try plug.exchange(&connection, "/pair-setup", try attempt.second(second))
        try plug.send(&connection, "POST", "/pair-setup", try attempt.third(fourth))
        #expect(connection.takeAnswer() == nil)
        #expect(!plug.server.isPaired)
        // After a loss of power at this point the accessory has the old records.
        let old = try SimulatedAccessory(plug.disk)
        #expect(!old.server.isPaired)
        plug.flashAnswers(false)
        try plug.deliver(&connection)
        let answer = connection.takeAnswer()
        #expect(throws: ControllerFault.refused(.unknown, retryDelay: nil)) {
            try SimulatedAccessory.items(try #require(answer))
        }
        #expect(!plug.server.isPaired)
        #expect(plug.notices.contains(.notStored))
    }

    @Test("Any connection can identify the accessory while the accessory has no pairing")
    func anybodyIdentifiesBeforePairingOnly() throws {
        var plug = try SimulatedAccessory()
        var stranger = plug.open()
        #expect(try plug.ask(&stranger, "POST", "/identify").status == 204)
        #expect(plug.identified == 1)
        _ = try plug.pairedSession()
        let answer = try plug.ask(&stranger, "POST", "/identify")
        #expect((answer.status, answer.text) == (400, "{\"status\":-70401}"))
        #expect(plug.identified == 1)
    }
}

@Suite struct PairVerifyTests {
    @Test("Only a paired key passes pair-verify, and a failed attempt does not end the session")
    func onlyThePairedKeyVerifies() throws {
        var plug = try SimulatedAccessory()
        let (owner, _) = try plug.pairedSession()
        var stranger = SimulatedController("stranger")
        if let key = owner.accessoryKey, let id = owner.accessoryID { stranger.learn(key, id) }
        var connection = plug.open()
        #expect(throws: ControllerFault.refused(.authentication, retryDelay: nil)) {
            try plug.verify(stranger, &connection)
        }
        // The session is still unverified, and the owner can use it.
        #expect(try plug.ask(&connection, "GET", "/accessories").status == 470)
        try plug.verify(owner, &connection)
        #expect(try plug.ask(&connection, "GET", "/accessories").status == 200)
        #expect(try plug.ask(&connection, "POST", "/pair-verify", try VerifyAttempt(owner).first()).status == 400)
    }

    @Test("Pair-verify rejects invalid keys and messages out of order") func invalidKeysAndOrdersAreRefused() throws {
        var plug = try SimulatedAccessory()
        _ = try plug.pairedSession()
        var connection = plug.open()
        for key in [[], [1], Array(repeating: 0, count: 32), Array(repeating: 0, count: 33)] as [[UInt8]] {
            #expect(throws: ControllerFault.refused(.authentication, retryDelay: nil)) {
                try plug.exchange(&connection, "/pair-verify", TLV8([TLV8.Item(6, [1]), TLV8.Item(3, key)]).encoded)
            }
        }
        for state in [2, 3, 5, 255] as [UInt8] {
            #expect(throws: ControllerFault.refused(.unknown, retryDelay: nil)) {
                try plug.exchange(&connection, "/pair-verify", TLV8([TLV8.Item(6, [state])]).encoded)
            }
        }
    }

    @Test("An encrypted request directly behind the last pair-verify message is answered")
    func aRequestBehindTheLastMessageIsDecrypted() throws {
        var plug = try SimulatedAccessory()
        let (owner, _) = try plug.pairedSession()
        var connection = plug.open()
        var attempt = VerifyAttempt(owner)
        let second = try plug.exchange(&connection, "/pair-verify", try attempt.first())
        var bytes = try connection.request("POST", "/pair-verify", try attempt.second(second))
        var encrypted = connection
        encrypted.encrypt(attempt.shared)
        bytes += try encrypted.request("GET", "/characteristics?id=1.9")
        plug.handle(.received(connection.id, bytes))
        // The first answer is not encrypted yet.
        let output = plug.output[connection.id] ?? []
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/pairing+tlv8\r\nContent-Length: 3\r\n\r\n".utf8.count + 3
        try connection.receive(Array(output.prefix(head)))
        #expect(connection.takeAnswer()?.body == [6, 1, 4])
        try encrypted.receive(Array(output.dropFirst(head)))
        #expect(encrypted.takeAnswer()?.status == 200)
    }

    @Test("A modified frame closes the session") func aChangedFrameEndsTheSession() throws {
        var plug = try SimulatedAccessory()
        var (_, session) = try plug.pairedSession()
        var bytes = try session.request("GET", "/accessories")
        bytes[10] ^= 1
        plug.handle(.received(session.id, bytes))
        #expect(!plug.isOpen(session))
        #expect(plug.notices.contains(.closed(session.id, .notAuthentic)))
    }
}
