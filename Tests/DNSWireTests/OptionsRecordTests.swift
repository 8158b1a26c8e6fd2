@testable import DNSWire
import Testing

@Suite("OPT records")
struct OptionsRecordTests {
    private let card = MACAddress(2, 0, 0, 0, 0, 9)
    private let second = MACAddress(2, 0, 0, 0, 0, 10)

    private func decoded(_ options: [EDNSOption]) throws -> [EDNSOption]? {
        let message = Message(additionals: [OptionsRecord(options: options).record])
        return try Message(decoding: try message.encoded()).optionsRecord()?.options
    }

    private func record(_ data: [UInt8]) -> Record {
        Record(name: .root, timeToLive: 0, data: .other(.opt, data))
    }

    @Test(
        "The payload size, extended response code, version and flags keep all bits in an encoded message",
        arguments: [
            0, 1440, 0x7FFF, 0x8000, 0xFFFF,
        ] as [UInt16])
    func header(_ size: UInt16) throws {
        let options = OptionsRecord(
            payloadSize: size, extendedResponseCode: 0xAB, version: 0xCD, flags: 0x8001, options: [])
        let bytes = try Message(additionals: [options.record]).encoded()
        #expect(Array(bytes[12..<23]) == [0, 0, 41, UInt8(size >> 8), UInt8(size & 0xFF), 0xAB, 0xCD, 0x80, 1, 0, 0])
        #expect(try Message(decoding: bytes).optionsRecord() == options)
    }

    @Test("An Owner option has 8, 14, 18 or 20 bytes of data and is decoded unchanged") func owner() throws {
        let cases: [(OwnerOption, Int)] = [
            (OwnerOption(sequence: 7, primary: card), 8),
            (OwnerOption(sequence: 7, primary: card, wakeup: second), 14),
            (OwnerOption(sequence: 7, primary: card, wakeup: second, password: WakePassword(bytes: [1, 2, 3, 4])), 18),
            (
                OwnerOption(
                    sequence: 255, primary: card, wakeup: second, password: WakePassword(bytes: [1, 2, 3, 4, 5, 6])), 20
            ),
        ]
        for (owner, length) in cases {
            guard case .other(_, let data) = OptionsRecord(options: [.owner(owner)]).record.data else { continue }
            #expect(data.count == 4 + length && data[0..<4] == [0, 4, 0, UInt8(length)])
            #expect(data[4] == 0 && data[5] == owner.sequence)
            #expect(try decoded([.owner(owner)]) == [.owner(owner)])
        }
    }

    @Test(
        "If an Owner option has a password but no wakeup address, the primary address is written as the wakeup address")
    func passwordOnly() throws {
        let owner = OwnerOption(sequence: 1, primary: card, password: WakePassword(bytes: [1, 2, 3, 4]))
        var expected = owner
        expected.wakeup = card
        #expect(try decoded([.owner(owner)]) == [.owner(expected)])
    }

    @Test("Owner options of other lengths and truncated options are rejected") func wrongLengths() {
        for length in 0..<24 as Range<UInt8> where ![8, 14, 18, 20].contains(length) {
            let data = [0, 4, 0, length] + [UInt8](repeating: 0, count: Int(length))
            #expect(
                throws: WireError(offset: 4, reason: .optionLength(code: 4, actual: Int(length)))
            ) { try OptionsRecord(record(data)) }
        }
        #expect(throws: WireError(offset: 4, reason: .truncated(needed: 9))) {
            try OptionsRecord(record([0, 4, 0, 9, 0]))
        }
        #expect(throws: WireError.self) { try OptionsRecord(record([0, 4, 0])) }
    }

    @Test("An Owner option of a later version is kept as bytes") func laterVersion() throws {
        let data: [UInt8] = [0, 4, 0, 3, 1, 2, 3]
        #expect(try OptionsRecord(record(data))?.options == [.other(code: 4, [1, 2, 3])])
    }

    @Test("An Update Lease option has 4 or 8 bytes") func lease() throws {
        let short = EDNSOption.updateLease(UpdateLeaseOption(lease: 7200))
        let long = EDNSOption.updateLease(UpdateLeaseOption(lease: 1, keyLease: .max))
        #expect(try decoded([short, long]) == [short, long])
        #expect(throws: WireError.self) { try OptionsRecord(record([0, 2, 0, 5, 0, 0, 0, 0, 0])) }
    }

    @Test("A sequence number is newer if it is 1 to 127 steps ahead, modulo 256") func sequence() {
        func isNewer(_ sequence: UInt8, than other: UInt8) -> Bool {
            OwnerOption(sequence: sequence, primary: card).isNewer(than: other)
        }
        #expect(isNewer(1, than: 0) && isNewer(0, than: 255) && isNewer(127, than: 0))
        #expect(!isNewer(0, than: 0) && !isNewer(128, than: 0) && !isNewer(255, than: 0))
    }

    @Test("A record of another type is not an OPT record") func otherType() throws {
        #expect(try OptionsRecord(Record(name: .root, timeToLive: 0, data: .txt([0]))) == nil)
        #expect(try Message().optionsRecord() == nil)
    }
}
