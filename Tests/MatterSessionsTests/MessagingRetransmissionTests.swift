import MatterSessions
import ProtocolCore
import Testing

@Suite struct MessagingRetransmissionTests {
    /// Returns the times between the transmissions of a message that is never acknowledged, up to its failure.
    private func waits(
        _ parameters: SessionParameters, startingAt start: Instant = .zero, seed: UInt8
    ) throws -> [Duration] {
        var layer = MessageLayer(seed: seed)
        let session = MessagingPair.sessions(parameters: parameters).responder
        _ = layer.add(session, peer: MessagingPair.controllerPeer, now: .zero)
        let exchange = try layer.opened(on: .secure(session.localID))
        var now = start
        let sent = layer.send([1], on: exchange, isLast: true, now: now)
        var waits: [Duration] = []
        while let deadline = layer.nextDeadline {
            #expect(layer.expire(now: deadline - .nanoseconds(1)).isEmpty)
            let outputs = layer.expire(now: deadline)
            waits.append(deadline - now)
            now = deadline
            #expect(outputs == (waits.count < 5 ? sent : [.failed(exchange)]))
        }
        #expect(layer.exchangeCount == 0)
        return waits
    }

    @Test(
        "A message is sent 5 times at growing intervals with jitter, and then fails",
        arguments: 1...20 as ClosedRange<UInt8>)
    func transmissions(_ seed: UInt8) throws {
        let waits = try waits(.standard, seed: seed)
        #expect(waits.count == 5)
        for (wait, factor) in zip(waits, [1, 1, 1.6, 2.56, 4.096]) {
            let least = Duration.milliseconds(300) * 1.1 * factor
            #expect(wait >= least - .microseconds(1) && wait <= least * 1.25 + .microseconds(1))
        }
        #expect(waits[0] != waits[1])
    }

    @Test("The idle interval applies to a peer that has been silent for longer than its threshold")
    func idlePeer() throws {
        let wait = try waits(.standard, startingAt: .zero + .seconds(5), seed: 1)[0]
        #expect(wait >= .milliseconds(550) && wait <= .milliseconds(688))
    }

    @Test("An extreme interval of a peer is limited") func extremeInterval() throws {
        let extreme = Duration.milliseconds(Int64(UInt32.max))
        let parameters = SessionParameters(idleInterval: extreme, activeInterval: extreme, activeThreshold: extreme)
        let total = try waits(parameters, seed: 1).reduce(Duration.zero, +)
        #expect(total < .seconds(20 * 60))
        let negative = SessionParameters(
            idleInterval: .zero - extreme, activeInterval: .zero - extreme, activeThreshold: .zero)
        #expect(try waits(negative, seed: 1).count == 5)
    }

    @Test("A retransmission goes to the latest address of the peer") func addressOfRetransmission() throws {
        var pair = MessagingPair()
        let exchange = try pair.device.opened(on: .secure(MessagingPair.deviceSession))
        let first = pair.device.send([1], on: exchange, isLast: true, now: pair.now)
        #expect(first.receivers == [MessagingPair.controllerPeer])
        let moved = MatterPeer(address: [192, 0, 2, 77], port: 5541)
        let (_, sent) = try pair.request()
        _ = pair.deviceReceives(sent, from: moved)
        let later = pair.device.expire(now: pair.now + .milliseconds(600))
        #expect(later.datagrams.contains(first.datagrams[0]))
        #expect(later.receivers.allSatisfy { $0 == moved })
    }
}
