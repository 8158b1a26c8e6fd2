import Matter
import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@Suite struct DeviceTests {
    private static let everything = AttributePath()
    private static let onOff: UInt32 = 6
    private static let switchCluster: UInt32 = 0x3B

    @Test("A controller commissions the plug, reads everything, switches it, and receives changes and presses")
    func commissioning() throws {
        var link = try DeviceLink()
        #expect(link.device.announcements.map(\.type) == ["_matterc._udp"])
        let (session, fabric) = try link.commission()
        #expect(link.device.fabrics.map(\.nodeID) == [DeviceLink.deviceNode])
        #expect(link.device.fabrics.map(\.sessions) == [1])
        #expect(link.device.window.opensUntil == nil)
        #expect(link.device.announcements.map(\.type) == ["_matter._tcp"])
        #expect(link.stored.last.map { !$0.encoded.isEmpty } == true)

        let (chunks, _) = try link.reports(.read(ReadRequest(attributes: [Self.everything])), session)
        #expect(chunks.count > 1 && chunks.last?.hasMore == false)
        let data = chunks.flatMap(\.attributes).compactMap { report -> AttributeData? in
            guard case .data(let data) = report else { return nil }
            return data
        }
        #expect(data.count == chunks.flatMap(\.attributes).count && data.count > 100)
        func value(_ endpoint: UInt16, _ cluster: UInt32, _ attribute: UInt32) -> TLVValue? {
            data.first { $0.path == AttributePath(endpoint: endpoint, cluster: cluster, attribute: attribute) }?.value
        }
        #expect(value(1, Self.onOff, 0) == .boolean(false))
        #expect(value(0, 0x28, 5)?.asText == "Lamp")
        #expect(value(0, 0x3E, 3)?.asUnsigned == 1)

        let reply = try link.invoke(1, Self.onOff, 1, session)
        guard case .status(_, .success, reference: _) = reply else {
            Issue.record("the plug was not switched on: \(reply)")
            return
        }
        #expect(link.commands == [.on(true)])

        let request = SubscribeRequest(
            keepsSubscriptions: false, minInterval: 0, maxInterval: 30,
            read: ReadRequest(
                attributes: [AttributePath(endpoint: 1, cluster: Self.onOff)],
                events: [EventPath(endpoint: 2, cluster: Self.switchCluster, isUrgent: true)]))
        let (priming, last) = try link.reports(.subscribe(request), session)
        let id = try #require(priming.first?.subscription)
        #expect(last == .subscribed(id: id, maxInterval: 30))
        link.handle(.looked(PlugValues(isOn: false)))
        let change = try link.subscriptionReport()
        #expect(
            change.flatMap(\.attributes).contains {
                guard case .data(let data) = $0 else { return false }
                return data.path.attribute == 0 && data.value == .boolean(false)
            })
        link.handle(.pressed(.single, number: 77))
        let press = try link.subscriptionReport().flatMap(\.events)
        #expect(!press.isEmpty)
        // The next report keeps the subscription alive.
        link.wait(.seconds(31))
        #expect(try link.subscriptionReport().first?.subscription == id)

        // A second session with the same fabric is possible.
        let second = try link.openOperationalSession(fabric)
        #expect(second.id != session.id)
        #expect(link.device.fabrics.map(\.sessions) == [2])
    }

    @Test("A subscriber receives an event when the process ends") func stopping() throws {
        var link = try DeviceLink()
        let (session, _) = try link.commission()
        let shutDown = EventPath(endpoint: 0, cluster: 0x28, event: 1, isUrgent: true)
        let request = SubscribeRequest(
            keepsSubscriptions: false, minInterval: 0, maxInterval: 30, read: ReadRequest(events: [shutDown]))
        #expect(try link.reports(.subscribe(request), session).reports.count == 1)
        link.handle(.stopping)
        #expect(try link.subscriptionReport().flatMap(\.events).count == 1)
    }

    @Test("Twenty attempts with a wrong passcode close the commissioning window")
    func wrongPasscodes() throws {
        var link = try DeviceLink()
        for tries in 1...20 {
            #expect(throws: DeviceLink.LinkError.self) {
                try link.openCommissioningSession(passcode: 11_111_119)
            }
            link.wait(.seconds(11))
            #expect(link.notices.contains(.wrongPasscode(tries: tries, limit: 20)))
        }
        #expect(link.device.window.opensUntil == nil)
        #expect(throws: DeviceLink.LinkError.self) { try link.openCommissioningSession() }
        link.wait(.seconds(11))
        link.handle(.opened(.seconds(180)))
        link.wait(.seconds(11))
        _ = try link.openCommissioningSession()
    }

    @Test("An answer that promises a store is sent after the store, and is a failure if the store fails")
    func answersWaitForStores() throws {
        var link = try DeviceLink()
        let (session, _) = try link.commission()
        let stores = link.stored.count
        let label = InteractionMessage.write(
            WriteRequest(writes: [
                AttributeData(
                    path: AttributePath(endpoint: 0, cluster: 0x28, attribute: 5), value: .text("Renamed"))
            ]))
        link.storeResult = nil
        let exchange = try link.begin(label, session)
        #expect(link.stored.count == stores + 1)
        #expect(throws: DeviceLink.LinkError.self) { try link.answer(on: exchange) }
        link.wait(.seconds(1))
        #expect(throws: DeviceLink.LinkError.self) { try link.answer(on: exchange) }
        link.handle(.stored(true))
        guard case .written(let statuses) = try link.answer(on: exchange) else {
            Issue.record("no write response")
            return
        }
        #expect(statuses.map(\.status) == [.success])

        let failing = try link.begin(
            .write(
                WriteRequest(writes: [
                    AttributeData(
                        path: AttributePath(endpoint: 0, cluster: 0x28, attribute: 5), value: .text("Lost"))
                ])), session)
        link.handle(.stored(false))
        #expect(try link.answer(on: failing) == .status(.failure))
        #expect(link.notices.contains(.notStored))
        // The records are stored again later.
        let failed = link.stored.count
        link.wait(.seconds(61))
        #expect(link.stored.count == failed + 1)
        link.handle(.stored(true))
        link.wait(.seconds(300))
        #expect(link.stored.count == failed + 1)
    }

    @Test("A flood of unpaired peers costs few handshakes, and a paired controller still gets answers")
    func floods() throws {
        var link = try DeviceLink()
        let (session, _) = try link.commission()
        link.handle(.opened(.seconds(180)))
        var random = SeededRandom(seed: 5)
        var sent = 0
        var reports = 0
        for number in 0..<1000 {
            let opcode: SecureChannelOpcode = number % 2 == 0 ? .pbkdfParamRequest : .sigma1
            let header = MessageHeader(
                sessionID: 0, counter: UInt32.random(in: 1...0xFFFF, using: &random),
                source: UInt64.random(in: 1...UInt64.max / 2, using: &random))
            let protocolHeader = ProtocolHeader(
                isInitiator: true, needsAcknowledgement: true, opcode: opcode.rawValue,
                exchange: UInt16.random(in: 0...0xFFFF, using: &random), protocolID: MatterProtocol.secureChannel)
            let peer = MatterPeer(address: [10, 0, 1, UInt8(number % 250)], port: UInt16(1000 + number))
            let payload = (0..<80).map { _ in UInt8.random(in: 0...255, using: &random) }
            let actions = link.device.handle(
                .received(header.encoded + protocolHeader.encoded + payload, from: peer), now: link.now)
            for action in actions {
                if case .send = action { sent += 1 }
                if case .notice(.handshakeFailed) = action { reports += 1 }
            }
            link.now = link.now + .milliseconds(1)
            if number % 100 == 0 {
                guard case .status(_, .success, reference: _) = try link.invoke(1, Self.onOff, 2, session) else {
                    Issue.record("the controller got no answer")
                    return
                }
            }
        }
        // Attempts are limited by the buckets and by the message layer.
        #expect(reports <= 24 && sent <= 120)
        #expect(link.commands.count == 10)
    }

    @Test("A plug without subscriptions and handshakes has no deadline")
    func idleCost() throws {
        var link = try DeviceLink()
        _ = try link.commission()
        link.wait(.seconds(120))
        #expect(link.device.nextDeadline == nil)
    }

    @Test("Removing the own fabric is answered before the session ends")
    func removingTheOwnFabric() throws {
        var link = try DeviceLink()
        let (session, _) = try link.commission()
        let response = try link.respond(0x3E, 0x0A, .fields((0, .unsigned(1))), session)
        #expect(response[0]?.asUnsigned == 0)
        link.wait(.seconds(6))
        #expect(link.device.fabrics.isEmpty)
        #expect(throws: DeviceLink.LinkError.self) { try link.invoke(1, Self.onOff, 1, session) }
    }
}
