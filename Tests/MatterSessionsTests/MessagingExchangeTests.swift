import MatterSessions
import MatterWire
import ProtocolCore
import Testing

@Suite struct MessagingExchangeTests {
    @Test("An answer acknowledges the request, and the exchange ends when the answer is acknowledged")
    func requestAndAnswer() throws {
        var pair = MessagingPair()
        let (exchange, sent) = try pair.request([1, 2])
        let received = pair.deviceReceives(sent)
        let message = try #require(received.messages.first)
        #expect(received.count == 1)
        #expect(message.isFirst && message.payload == [1, 2] && message.opcode == 8)
        #expect(message.session.peer == MessagingPair.controllerPeer)
        let answer = pair.device.send([3], on: message.exchange, isLast: true, now: pair.now)
        #expect(answer.datagrams.count == 1)
        let result = pair.controllerReceives(answer)
        #expect(result.acknowledged == [exchange])
        #expect(result.messages.map(\.payload) == [[3]])
        #expect(result.messages.first?.isFirst == false)
        let closing = pair.controller.close(exchange, now: pair.now)
        #expect(pair.deviceReceives(closing) == [.acknowledged(message.exchange)])
        for layer in [pair.controller, pair.device] {
            #expect(layer.exchangeCount == 0 && layer.nextDeadline == nil)
        }
    }

    @Test("A message without an answer is acknowledged alone after 200 ms")
    func standaloneAcknowledgement() throws {
        var pair = MessagingPair()
        let (exchange, sent) = try pair.request()
        _ = pair.deviceReceives(sent)
        #expect(pair.device.nextDeadline == pair.now + .milliseconds(200))
        #expect(pair.device.expire(now: pair.now + .milliseconds(199)).isEmpty)
        pair.now = pair.now + .milliseconds(200)
        let acknowledgement = pair.device.expire(now: pair.now)
        #expect(pair.controllerReceives(acknowledgement) == [.acknowledged(exchange)])
        #expect(pair.device.expire(now: pair.now + .seconds(1)).isEmpty)
    }

    @Test("A duplicate is acknowledged again and not delivered again, even after its exchange has ended")
    func duplicates() throws {
        var pair = MessagingPair()
        let (_, sent) = try pair.request()
        let message = try #require(pair.deviceReceives(sent).messages.first)
        let first = pair.deviceReceives(sent)
        #expect(first.datagrams.count == 1 && first.count == 1)
        #expect(pair.controllerReceives(first).acknowledged.count == 1)
        // The acknowledgement is not sent a second time after 200 ms.
        #expect(pair.device.expire(now: pair.now + .milliseconds(200)).isEmpty)
        _ = pair.device.send([1], on: message.exchange, isReliable: false, isLast: true, now: pair.now)
        #expect(pair.device.exchangeCount == 0)
        let second = pair.deviceReceives(sent)
        #expect(second.datagrams.count == 1 && second.count == 1)
        #expect(pair.device.exchangeCount == 0)
    }

    @Test("Later messages of an exchange acknowledge the last message again, because an acknowledgement can be lost")
    func repeatedAcknowledgement() throws {
        var pair = MessagingPair()
        let (exchange, sent) = try pair.request()
        let message = try #require(pair.deviceReceives(sent).messages.first)
        pair.now = pair.now + .milliseconds(200)
        #expect(pair.device.expire(now: pair.now).datagrams.count == 1)
        let answer = pair.device.send([1], on: message.exchange, now: pair.now)
        #expect(pair.controllerReceives(answer).acknowledged == [exchange])
    }

    @Test("A second message of an exchange waits until the first one is acknowledged") func waitingMessages() throws {
        var pair = MessagingPair()
        let (exchange, sent) = try pair.request([1])
        for number in 2...5 as ClosedRange<UInt8> {
            #expect(pair.controller.send([number], on: exchange, now: pair.now).isEmpty)
        }
        var (outputs, payloads) = (sent, [[UInt8]]())
        while !outputs.datagrams.isEmpty {
            payloads += pair.deviceReceives(outputs).messages.map(\.payload)
            pair.now = pair.now + .milliseconds(200)
            outputs = pair.controllerReceives(pair.device.expire(now: pair.now))
        }
        #expect(payloads == [[1], [2], [3], [4], [5]])
    }

    @Test("A message after the limit of waiting messages fails the exchange") func tooManyWaitingMessages() throws {
        var pair = MessagingPair()
        let (exchange, _) = try pair.request()
        for _ in 0..<MessageLayer.Limits.waitingMessages {
            #expect(pair.controller.send([1], on: exchange, now: pair.now).isEmpty)
        }
        #expect(pair.controller.send([1], on: exchange, now: pair.now) == [.failed(exchange)])
        #expect(pair.controller.send([1], on: exchange, now: pair.now).isEmpty)
        #expect(pair.controller.exchangeCount == 0)
    }

    @Test("The largest payload fits a datagram of the minimum MTU, and a larger one fails")
    func payloadLimit() throws {
        var pair = MessagingPair()
        let full = Array(repeating: UInt8(7), count: MessageLayer.payloadLimit)
        let (_, sent) = try pair.request(full)
        let message = try #require(pair.deviceReceives(sent).messages.first)
        #expect(message.payload == full)
        let answer = pair.device.send(full, on: message.exchange, now: pair.now)
        // 40 bytes of IPv6 and 8 of UDP.
        #expect(answer.datagrams.allSatisfy { $0.count <= 1280 - 48 })
        #expect(pair.device.send(full + [1], on: message.exchange, now: pair.now) == [.failed(message.exchange)])
    }

    @Test("A message on an ended exchange is acknowledged and not delivered") func messageAfterTheEnd() throws {
        var pair = MessagingPair()
        let (exchange, sent) = try pair.request()
        let message = try #require(pair.deviceReceives(sent).messages.first)
        let answer = pair.device.send([1], on: message.exchange, isLast: true, now: pair.now)
        _ = pair.controllerReceives(answer)
        let late = pair.deviceReceives(pair.controller.send([2], on: exchange, now: pair.now))
        #expect(late.acknowledged == [message.exchange])
        #expect(late.messages.isEmpty && late.datagrams.count == 1)
        #expect(pair.controllerReceives(late).acknowledged == [exchange])
        #expect(pair.device.exchangeCount == 0)
    }

    @Test("An idle exchange fails after 70 s, on both sides") func idleExchange() throws {
        var pair = MessagingPair()
        let (exchange, sent) = try pair.request()
        let message = try #require(pair.deviceReceives(sent).messages.first)
        pair.now = pair.now + .milliseconds(200)
        _ = pair.controllerReceives(pair.device.expire(now: pair.now))
        pair.now = pair.now + MessageLayer.Limits.exchangeIdleTime
        #expect(pair.device.expire(now: pair.now) == [.failed(message.exchange)])
        #expect(pair.controller.expire(now: pair.now) == [.failed(exchange)])
        #expect(pair.controller.nextDeadline == nil && pair.device.nextDeadline == nil)
    }

    @Test("A peer can open 8 exchanges; the next message is accepted when it is repeated after one has ended")
    func exchangesOfOneSession() throws {
        var pair = MessagingPair()
        var accepted: [ExchangeID] = []
        for _ in 0..<MessageLayer.Limits.exchangesPerSession {
            let (_, sent) = try pair.request()
            accepted += pair.deviceReceives(sent).messages.map(\.exchange)
        }
        #expect(accepted.count == 8 && Set(accepted).count == 8)
        let (_, refused) = try pair.request([9])
        #expect(pair.deviceReceives(refused).isEmpty)
        #expect(pair.device.openExchange(on: .secure(MessagingPair.deviceSession)) != nil)
        _ = pair.device.close(accepted[0], now: pair.now)
        #expect(pair.deviceReceives(refused).messages.map(\.payload) == [[9]])
    }

    @Test("A node opens at most 32 exchanges, and none on a session that does not exist") func openedExchanges() {
        var pair = MessagingPair()
        let session = SessionID.secure(MessagingPair.deviceSession)
        let opened = (0..<40).compactMap { _ in pair.device.openExchange(on: session) }
        #expect(opened.count == MessageLayer.Limits.exchanges && Set(opened).count == opened.count)
        #expect(pair.controller.openExchange(on: session) == nil)
        #expect(pair.controller.openExchange(on: .unsecured(1)) == nil)
    }

    @Test("The peers of all sessions together leave 8 exchanges for reports") func exchangesForReports() throws {
        var device = MessageLayer(seed: 2)
        for number in 1...4 as ClosedRange<UInt16> {
            var (left, right) = MessagingPair.sessions()
            (left.peerID, right.localID) = (number, number)
            var controller = MessageLayer(seed: UInt8(number))
            _ = controller.add(left, peer: MessagingPair.devicePeer, now: .zero)
            _ = device.add(right, peer: MessagingPair.controllerPeer, now: .zero)
            var accepted = 0
            for _ in 0..<MessageLayer.Limits.exchangesPerSession {
                let exchange = try controller.opened(on: .secure(left.localID))
                for datagram in controller.send([1], on: exchange, now: .zero).datagrams {
                    accepted += device.receive(datagram, from: MessagingPair.controllerPeer, now: .zero).messages.count
                }
            }
            #expect(accepted == (number < 4 ? 8 : 0))
        }
        #expect(device.exchangeCount == MessageLayer.Limits.incomingExchanges)
        let opened = (0..<20).compactMap { _ in device.openExchange(on: .secure(4)) }
        #expect(opened.count == 8)
    }
}
