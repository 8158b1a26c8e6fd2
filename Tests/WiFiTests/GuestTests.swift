import AddressConfiguration
import DNSWire
import ProtocolCore
import Testing

@testable import WiFi

/// The addresses and names of the guests in the plug's own network.
@Suite struct GuestTests {
    private let own = IPv4Address(192, 168, 73, 1)

    private func message(
        _ type: DHCPMessageType, from guest: UInt8, wanted: IPv4Address? = nil, server: IPv4Address? = nil
    ) -> DHCPMessage {
        var message = DHCPMessage(
            operation: .request, transaction: 7, clientHardware: MACAddress(bytes: [2, 0, 0, 0, 0, guest])!)
        message.options.messageType = type
        message.options.requestedAddress = wanted
        message.options.serverIdentifier = server
        return message
    }

    @Test("Each guest gets its own address, and the same one again") func addresses() throws {
        var leases = AccessPointLeases(address: own)
        var given: Set<IPv4Address> = []
        for guest in UInt8(0)..<16 {
            let offered = leases.answer(message(.discover, from: guest), now: .zero)
            let offer = try #require(offered)
            #expect(offer.options.messageType == .offer && offer.options.serverIdentifier == own)
            #expect(offer.options.routers == [own] && offer.options.domainNameServers == [own])
            #expect(offer.options.subnetMask == IPv4Address(255, 255, 255, 0) && offer.transaction == 7)
            let request = message(.request, from: guest, wanted: offer.yourAddress, server: own)
            let answered = leases.answer(request, now: .zero)
            let acknowledgement = try #require(answered)
            #expect(acknowledgement.options.messageType == .ack && acknowledgement.options.leaseTime == 300)
            let isNew = given.insert(acknowledgement.yourAddress).inserted
            #expect(isNew)
            let again = leases.answer(message(.discover, from: guest), now: .zero)
            #expect(again?.yourAddress == offer.yourAddress)
        }
        #expect(!given.contains(own))
        let full = leases.answer(message(.discover, from: 99), now: .zero)
        #expect(full == nil, "all addresses are taken")
        let later = leases.answer(message(.discover, from: 99), now: .zero + .seconds(301))
        #expect(later != nil)
    }

    @Test("A guest that wants a foreign address is refused, and messages for other servers are ignored") func refused()
    {
        var leases = AccessPointLeases(address: own)
        var answers: [DHCPMessageType?] = []
        func ask(_ message: DHCPMessage) { answers.append(leases.answer(message, now: .zero)?.options.messageType) }
        ask(message(.request, from: 1, wanted: IPv4Address(10, 0, 0, 5)))
        #expect(answers == [.nak])
        ask(message(.request, from: 1, wanted: IPv4Address(10, 0, 0, 5), server: IPv4Address(10, 0, 0, 1)))
        for type in [DHCPMessageType.offer, .ack, .nak, .release, .decline] { ask(message(type, from: 2)) }
        var reply = message(.discover, from: 1)
        reply.operation = .reply
        ask(reply)
        #expect(answers.dropFirst().allSatisfy { $0 == nil })
    }

    @Test("Every name has the plug's address, and no other record") func names() throws {
        func ask(_ type: RecordType) throws -> Message? {
            var encoder = MessageEncoder(limit: 512)
            _ = encoder.append(Question(name: Name("captive.apple.com"), type: type))
            let query = encoder.finish(id: 9, flags: .recursionDesired)
            return try CaptiveNames.answer(query, address: own).map { try Message(decoding: $0) }
        }
        let answer = try #require(try ask(.a))
        #expect(answer.id == 9 && answer.answers.map(\.data) == [.a(own)] && answer.flags.contains(.response))
        #expect(try ask(.aaaa)?.answers.isEmpty == true)
        #expect(CaptiveNames.answer([1, 2, 3], address: own) == nil)
        #expect(CaptiveNames.answer(MessageEncoder(limit: 512).finish(id: 1, flags: .response), address: own) == nil)
    }
}
