import DNSWire
import Testing

@Suite("Stateful messages")
struct StatefulMessageTests {
    private let lamp: Name = "Lamp._smartplug._tcp.example.org"
    private let host: Name = "plug.example.org"

    /// A message of DNS Stateful Operations without response, with these bytes after the header.
    private func notice(_ items: [UInt8]) -> [UInt8] { [0, 0, 0x30, 0, 0, 0, 0, 0, 0, 0, 0, 0] + items }

    private func reason(_ bytes: [UInt8]) -> WireError.Reason? {
        do throws(WireError) {
            _ = try StatefulMessage(decoding: bytes)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("Each item is decoded as it was encoded") func roundTrip() throws {
        let location = Record(name: lamp, timeToLive: 120, data: .srv(priority: 1, weight: 2, port: 3, target: host))
        var removed = location
        removed.timeToLive = 0
        let items: [StatefulItem] = [
            .keepalive(inactivity: 15_000, interval: StatefulItem.forever), .retryDelay(60_000), .padding(count: 7),
            .subscribe(Question(name: lamp, type: .srv)), .unsubscribe(0xABCD), .other(type: 0xF800, [1, 2, 3]),
            .push([
                .add(location), .remove(removed), .removeAll(Question(name: lamp, type: .any, recordClass: .any)),
                .add(Record(name: host, timeToLive: 0, data: .a(IPv4Address(192, 0, 2, 7)))),
            ]),
        ]
        for item in items {
            let message = StatefulMessage(id: 7, isResponse: true, code: 11, items: [item, .padding(count: 0)])
            #expect(try StatefulMessage(decoding: message.encoded()) == message)
        }
        let message = StatefulMessage(items: items)
        #expect(try StatefulMessage(decoding: message.encoded()) == message)
    }

    @Test("The layout is that of the specifications") func layout() throws {
        let keepalive = StatefulMessage(id: 1, items: [.keepalive(inactivity: 1, interval: 2)])
        let header: [UInt8] = [0, 1, 0x30, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(try keepalive.encoded() == header + [0, 1, 0, 8, 0, 0, 0, 1, 0, 0, 0, 2])
        let subscribe = StatefulMessage(id: 1, items: [.subscribe(Question(name: "a.b", type: .ptr))])
        #expect(try subscribe.encoded() == header + [0, 0x40, 0, 9, 1, 0x61, 1, 0x62, 0, 0, 12, 0, 1])
        #expect(try StatefulMessage(items: [.unsubscribe(5)]).encoded() == notice([0, 0x42, 0, 2, 0, 5]))
        let refused = StatefulMessage(id: 1, isResponse: true, code: 5)
        #expect(try refused.encoded() == [0, 1, 0xB0, 5, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test("The names of pushed records may be compressed") func compression() throws {
        // The name a.b, whose record is a pointer to b.
        let record: [UInt8] = [1, 0x61, 1, 0x62, 0, 0, 12, 0, 1, 0, 0, 0, 60, 0, 2, 0xC0, 18]
        let message = try StatefulMessage(decoding: notice([0, 0x41, 0, UInt8(record.count)] + record))
        #expect(message.items == [.push([.add(Record(name: "a.b", timeToLive: 60, data: .ptr("b")))])])
    }

    @Test("The time to live of a pushed record marks a removal, and a value without meaning is ignored")
    func timesToLive() throws {
        func changes(_ timeToLive: [UInt8]) throws -> [StatefulItem] {
            let record = [1, 0x61, 0, 0, 1, 0, 1] + timeToLive + [0, 4, 192, 0, 2, 7]
            return try StatefulMessage(decoding: notice([0, 0x41, 0, UInt8(record.count)] + record)).items
        }
        let record = Record(name: "a", timeToLive: 0, data: .a(IPv4Address(192, 0, 2, 7)))
        #expect(try changes([0, 0, 0, 0]) == [.push([.add(record)])])
        #expect(try changes([0xFF, 0xFF, 0xFF, 0xFF]) == [.push([.remove(record)])])
        #expect(try changes([0x80, 0, 0, 0]) == [.push([])] && changes([0xFF, 0xFF, 0xFF, 0xFD]) == [.push([])])
        #expect(throws: WireError.self) { try changes([0xFF, 0xFF, 0xFF, 0xFE]) }
    }

    @Test(
        "An item with a wrong length is rejected",
        arguments: [
            (1, 7), (1, 9), (2, 3), (2, 5), (0x40, 4), (0x40, 6), (0x41, 0), (0x42, 1), (0x42, 3),
        ] as [(UInt16, Int)])
    func lengths(type: UInt16, length: Int) {
        let item = [0, UInt8(type), 0, UInt8(length)] + [UInt8](repeating: 0, count: length)
        // The bytes after the item must not make it valid.
        let found = reason(notice(item + [0, 3, 0, 8] + [UInt8](repeating: 0, count: 8)))
        #expect(found == .itemLength(type: type, actual: length))
    }

    @Test("A truncated message is rejected at each length") func truncation() throws {
        let record = Record(name: lamp, timeToLive: 60, data: .ptr(host))
        let bytes = try StatefulMessage(items: [.push([.add(record), .remove(record)])]).encoded()
        for count in 0..<bytes.count where count != 12 { #expect(reason(Array(bytes.prefix(count))) != nil) }
    }

    @Test("A message of another operation, or with records, is rejected") func otherOperations() {
        for offset in 4..<12 {
            var bytes = notice([])
            bytes[offset] = 1
            #expect(reason(bytes) == .notStateful)
        }
        var query = notice([])
        query[2] = 0
        #expect(reason(query) == .notStateful)
    }

    @Test("A message of more than 65,535 bytes is not encoded") func limit() {
        #expect(throws: MessageTooLong.self) { try StatefulMessage(items: [.padding(count: 65_520)]).encoded() }
        #expect(throws: Never.self) { try StatefulMessage(items: [.padding(count: 65_519)]).encoded() }
    }
}
