import DNSWire
import ServiceDiscovery
import Testing

@Suite("Values of sleep proxies")
struct SleepTests {
    private let card = MACAddress(2, 0, 0, 0, 0, 9)

    @Test("A name with four metrics and features is parsed and written again") func name() throws {
        let name = try #require(SleepProxyName("70-35-60-71.1 Living Room"))
        #expect(name.metrics == .init(type: 70, portability: 35, marginalPower: 60, totalPower: 71))
        #expect(name.features == 1 && name.name == "Living Room" && "\(name)" == "70-35-60-71.1 Living Room")
        let old = try #require(SleepProxyName("70-35-60-71 Base. Station"))
        #expect(old.features == nil && old.name == "Base. Station" && "\(old)" == "70-35-60-71 Base. Station")
    }

    @Test(
        "Text without four numbers of two digits is not a name",
        arguments: [
            "", " ", "Printer", "70-35-60 A", "70-35-60-7 A", "70-35-60-700 A", "07-35-60-70 A", "70-35-60-70-10 A",
            "70-35-60-70A", "70-35-60-70.x A", "70-35-60-70.999 A", "+7-35-60-70 A", "٧٠-35-60-70 A", "70-35-60-70. A",
        ])
    func noName(_ text: String) { #expect(SleepProxyName(text) == nil) }

    @Test("The first metric that differs decides, and lower is better") func order() throws {
        func name(_ text: String) throws -> SleepProxyName { try #require(SleepProxyName(text)) }
        #expect(try name("30-99-99-99 A").isBetter(than: name("31-10-10-10 B")))
        #expect(try name("30-20-10-10 A").isBetter(than: name("30-20-10-11 B")))
        #expect(try !name("30-20-10-10 A").isBetter(than: name("30-20-10-10.5 B")))
    }

    @Test("A name that is too long for a label is shortened, and metrics are clamped") func longName() {
        let metrics = SleepProxyName.Metrics(type: 0, portability: 200, marginalPower: 50, totalPower: 50)
        let name = SleepProxyName(metrics: metrics, name: String(repeating: "ü", count: 40))
        #expect("\(name)".hasPrefix("10-99-50-50.0 ü") && "\(name)".utf8.count <= 63)
    }

    @Test("A magic packet has six bytes 0xFF, sixteen addresses and the password") func magicPacket() {
        let payload = MagicPacket(card: card, password: WakePassword(bytes: [1, 2, 3, 4])).payload
        #expect(payload.count == 106)
        #expect(Array(payload[..<6]) == [UInt8](repeating: 0xFF, count: 6))
        #expect((0..<16).allSatisfy { Array(payload[(6 + 6 * $0)..<(12 + 6 * $0)]) == card.bytes })
        #expect(Array(payload.suffix(4)) == [1, 2, 3, 4])
        let frame = MagicPacket(card: card).frame(from: MACAddress(2, 0, 0, 0, 0, 1))
        #expect(frame.count == 14 + 102 && Array(frame[12..<14]) == [0x08, 0x42])
    }

    @Test("A registration survives encoding and decoding") func registration() throws {
        let registration = SleepRegistration(
            id: 9,
            records: [Record(name: "a.local", isCacheFlush: true, timeToLive: 120, data: .a(IPv4Address(1, 2, 3, 4)))],
            owner: OwnerOption(sequence: 3, primary: card), lease: 60)
        #expect(try SleepRegistration(decoding: registration.encoded()) == registration)
        let answer = SleepRegistrationAnswer(id: 9, code: .success, lease: 60)
        #expect(try SleepRegistrationAnswer(decoding: answer.encoded) == answer)
        #expect(throws: SleepRegistrationError.notAnUpdate) { try SleepRegistration(decoding: answer.encoded) }
    }

    @Test("A long registration is split into messages that contain every record once") func split() throws {
        let records = (0..<100).map { number in
            Record(
                name: try! Name(presentation: "host\(number).local"), isCacheFlush: true, timeToLive: 120,
                data: .a(IPv4Address(1, 2, 3, UInt8(number))))
        }
        let registration = SleepRegistration(
            id: .max, records: records, owner: OwnerOption(sequence: 3, primary: card))
        let messages = try registration.messages(limit: 500)
        #expect(messages.count > 3 && messages.allSatisfy { $0.bytes.count <= 500 })
        #expect(Set(messages.map(\.id)).count == messages.count)
        let decoded = try messages.map { try SleepRegistration(decoding: $0.bytes) }
        #expect(decoded.flatMap(\.records) == records && decoded.map(\.id) == messages.map(\.id))
        #expect(throws: MessageTooLong.self) { try registration.messages(limit: 30) }
    }
}
