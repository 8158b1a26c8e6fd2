import DNSWire
import MulticastDNS
import ProtocolCore
import TestSupport
import Testing

struct FuzzTests {
    @Test("A seed always gives the same packets")
    func theSameSeedRunsTheSame() throws {
        func run() -> [[UInt8]] {
            var test = Harness.responder(seed: 5)
            test.run(for: .seconds(3))
            return test.sent.map(\.datagram.bytes)
        }
        #expect(run() == run())
    }

    /// Mutates valid packets about our names. Both machines must continue, send within bounds and keep their deadlines
    /// in the future.
    @Test("Mutated packets do not stop the machines or exceed their limits", arguments: 0..<4)
    func mutatedPacketsDoNoHarm(seed: UInt64) throws {
        var random = Fuzzing.random(seed)
        let corpus = try [
            ask(type, .ptr, known: [pointer()]), ask(instance, .any, wantsUnicast: true),
            Message(questions: [Question(name: instance, type: .any)], authorities: [srv(99), txt()]),
            response([pointer(), srv(), txt(), address()], [hostNSEC, serviceNSEC]),
            response([pointer(ttl: 0), srv(81, ttl: 0)]),
        ].map { try $0.encoded() }
        var responder = Harness.announced(seed: seed)
        var querier = Harness.querier(seed: seed)
        querier.send(.ask(QuestionKey(name: type, type: .ptr), on: nil))
        var decoded = 0
        for _ in FuzzRounds(3000, sharedBy: 4) {
            var bytes = try #require(corpus.randomElement(using: &random))
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let datagram = InboundDatagram(
                bytes: bytes, interface: 2, source: .v4(10, 0, 0, UInt8.random(in: 2...9, using: &random)),
                sourcePort: random.chance(0.9) ? 5353 : 999, wasMulticast: random.chance(0.9))
            guard let message = try? InboundMessage(datagram) else { continue }
            decoded += 1
            responder.send(.received(message))
            querier.send(.received(message))
            // After a conflict, the owner withdraws the name and publishes it again without a change.
            if !responder.conflicts.isEmpty {
                responder.send(.withdraw(serviceID))
                responder.send(.publish(serviceID, serviceGroup))
            }
            #expect(responder.log.count < 20 && querier.log.count < 20)
            responder.clear()
            querier.clear()
            let pause = Duration.milliseconds(Int.random(in: 0...30, using: &random))
            responder.run(for: pause)
            querier.run(for: pause)
        }
        #expect(decoded > 1000)
    }
}
