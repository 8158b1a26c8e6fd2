import ProtocolCore
import Testing

@testable import HomeKit

@Suite struct HTTPTests {
    private static let requests = Array(
        """
        GET /accessories HTTP/1.1\r\nHost: plug.local\r\n\r\n\
        PUT /characteristics HTTP/1.1\r\nHost: a\r\ncontent-length:  5 \r\nX: y\r\n\r\nhello\
        GET /characteristics?id=1.9,1.10&meta=1 HTTP/1.1\r\n\r\n
        """.utf8)

    private static let expected = [
        HTTPRequest(method: "GET", path: "/accessories", query: nil, body: []),
        HTTPRequest(method: "PUT", path: "/characteristics", query: nil, body: Array("hello".utf8)),
        HTTPRequest(method: "GET", path: "/characteristics", query: "id=1.9,1.10&meta=1", body: []),
    ]

    @Test("Requests are parsed correctly when the input is split at any byte")
    func requestsAreTheSameHoweverTheyAreCut() throws {
        for cut in 0...Self.requests.count {
            var reader = HTTPRequestReader()
            var found: [HTTPRequest] = []
            for part in [Self.requests[..<cut], Self.requests[cut...]] {
                reader.append(Array(part))
                while let request = try reader.next() { found.append(request) }
            }
            #expect(found == Self.expected)
            #expect(reader.count == 0)
        }
    }

    @Test("Requests are parsed when they arrive byte by byte") func requestsComeByteByByte() throws {
        var reader = HTTPRequestReader()
        var found: [HTTPRequest] = []
        for byte in Self.requests {
            reader.append([byte])
            while let request = try reader.next() { found.append(request) }
        }
        #expect(found == Self.expected)
    }

    @Test(
        "An invalid request is an error with its reason",
        arguments: [
            ("GET / HTTP/1.0\r\n\r\n", HomeKitError.notARequest), ("GET /\r\n\r\n", .notARequest),
            ("GET a HTTP/1.1\r\n\r\n", .notARequest), ("\r\n\r\n", .notARequest),
            ("PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", .chunked),
            ("PUT /a HTTP/1.1\r\nContent-Length: -1\r\n\r\n", .invalidLength),
            ("PUT /a HTTP/1.1\r\nContent-Length: 9999999999999999999999\r\n\r\n", .invalidLength),
            ("PUT /a HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", .invalidLength),
            ("PUT /a HTTP/1.1\r\nContent-Length: 16385\r\n\r\n", .bodyTooLong),
            ("PUT /a HTTP/1.1\r\nno colon\r\n\r\n", .invalidHeader),
            ("PUT /a HTTP/1.1\r\nA: b\r\n folded: c\r\n\r\n", .invalidHeader),
        ])
    func whatIsNoRequestIsAnError(_ text: String, _ fault: HomeKitError) {
        var reader = HTTPRequestReader()
        reader.append(Array(text.utf8))
        #expect(throws: fault) { try reader.next() }
    }

    @Test("A request head above the size limit is an error") func aHeadThatNeverEndsIsAnError() throws {
        var reader = HTTPRequestReader()
        reader.append(Array("GET / HTTP/1.1\r\n".utf8))
        #expect(throws: HomeKitError.headTooLong) {
            for _ in 0..<5000 {
                reader.append([0x41])
                _ = try reader.next()
            }
        }
    }
}

@Suite struct SessionCipherTests {
    private let secret = Array(repeating: UInt8(3), count: 32)

    @Test(
        "Encrypted messages of any length are decrypted from pieces of any size",
        arguments: [1, 1023, 1024, 1025, 5000])
    func framesComeBackHoweverTheyAreCut(_ count: Int) throws {
        let message = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        for part in [1, 7, 1042, 6000] {
            var accessory = SessionCipher(accessory: secret)
            var controller = SessionCipher.controller(secret)
            let sealed = accessory.seal(message) ?? []
            #expect(sealed.count == count + 18 * ((count + 1023) / 1024))
            var opened: [UInt8] = []
            for start in stride(from: 0, to: sealed.count, by: part) {
                opened += try controller.open(Array(sealed[start..<min(start + part, sealed.count)]))
            }
            #expect(opened == message)
        }
    }

    @Test("Modified, replayed and too long frames are errors") func changedRepeatedAndLongFramesAreErrors() throws {
        var controller = SessionCipher.controller(secret)
        let frame = controller.seal([1, 2, 3]) ?? []
        #expect(frame.count == 21)
        for index in 2..<frame.count {
            var accessory = SessionCipher(accessory: secret)
            var changed = frame
            changed[index] ^= 1
            #expect(throws: SessionCipher.Fault.notAuthentic) { try accessory.open(changed) }
        }
        var accessory = SessionCipher(accessory: secret)
        #expect(try accessory.open(frame) == [1, 2, 3])
        #expect(throws: SessionCipher.Fault.notAuthentic) { try accessory.open(frame) }
        #expect(throws: SessionCipher.Fault.tooLong(1025)) { try accessory.open([1, 4]) }
    }
}

@Suite struct CharacteristicTests {
    private func characteristic(
        _ format: CharacteristicFormat, _ limits: CharacteristicLimits = .none
    ) -> Characteristic { Characteristic(1, AccessoryType(1), [.pairedWrite], format, limits: limits) }

    @Test("Written values must have the format and the limits of the characteristic")
    func writtenValuesAreOfTheFormat() {
        #expect(characteristic(.boolean).written(.whole(1)) == .boolean(true))
        #expect(characteristic(.boolean).written(.whole(2)) == nil)
        #expect(characteristic(.uint8).written(.whole(256)) == nil)
        #expect(characteristic(.uint8).written(.number(7)) == .whole(7))
        #expect(characteristic(.uint8).written(.number(7.5)) == nil)
        #expect(characteristic(.uint8).written(.boolean(true)) == .whole(1))
        #expect(characteristic(.uint64).written(.whole(-1)) == nil)
        #expect(characteristic(.uint64).written(.number(1e300)) == nil)
        #expect(characteristic(.integer).written(.whole(.max)) == nil)
        #expect(characteristic(.float).written(.whole(3)) == .number(3))
        #expect(characteristic(.float).written(.number(.nan)) == nil)
        #expect(characteristic(.string).written(.text(String(repeating: "a", count: 65))) == nil)
        #expect(characteristic(.string).written(.whole(1)) == nil)
        #expect(characteristic(.tlv8).written(.text("AQID")) == .bytes([1, 2, 3]))
        #expect(characteristic(.data).written(.text("AQI")) == nil)
        let limits = CharacteristicLimits(minimum: 0, maximum: 100)
        #expect(characteristic(.integer, limits).written(.whole(101)) == nil)
        #expect(characteristic(.integer, limits).written(.whole(-1)) == nil)
        #expect(characteristic(.float, limits).written(.number(100.5)) == nil)
        #expect(characteristic(.uint8, CharacteristicLimits(validValues: [0, 2])).written(.whole(1)) == nil)
    }

    @Test("Reported values are clamped to the limits, and impossible values are left out")
    func toldValuesAreMovedIntoTheirLimits() {
        let limits = CharacteristicLimits(minimum: 0, maximum: 100)
        #expect(characteristic(.float, limits).told(.number(-3.5)) == .number(0))
        #expect(characteristic(.integer, limits).told(.whole(.max)) == .whole(100))
        #expect(characteristic(.uint64).told(.whole(.max)) == .whole(.max))
        #expect(characteristic(.uint64).told(.whole(.min)) == .whole(0))
        #expect(characteristic(.float).told(.number(.infinity)) == nil)
        #expect(characteristic(.boolean).told(.text("on")) == nil)
        #expect(
            characteristic(.string).told(.text(String(repeating: "é", count: 40)))
                == .text(String(repeating: "é", count: 32)))
        let before = String(repeating: "a", count: 63)
        #expect(characteristic(.string).told(.text(before + "éb")) == .text(before))
    }

    @Test("Base64 text is decoded to the encoded bytes, and invalid text is rejected") func base64ComesBack() {
        for count in 0..<20 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 89 + 200) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
        #expect(Base64.encode(Array("Man".utf8)) == "TWFu")
        #expect(Base64.encode(Array("M".utf8)) == "TQ==")
        for text in ["T", "TQ=", "====", "T===", "TQ=Q", "T$=="] { #expect(Base64.decode(text) == nil, "\(text)") }
    }

    /// Test vectors of Apple's development kit.
    @Test("The setup hash matches Apple's test vectors") func theSetupHashNamesTheAccessory() throws {
        let id = try #require(HomeKitSetupID("7OSX"))
        #expect(HomeKitAnnouncement.setupHash(id, "E1:91:1A:70:85:AA") == Base64.encode([0xC9, 0xFE, 0x1B, 0xCF]))
        #expect(HomeKitAnnouncement.setupHash(id, "C8:D8:58:C6:63:F5") == Base64.encode([0xEF, 0x5D, 0x8E, 0x9B]))
    }

    @Test("Duplicate accessory and instance ids are errors") func idsThatRepeatAreMistakes() {
        let one = Characteristic(2, AccessoryType(1), [.pairedRead], .boolean)
        #expect(throws: HomeKitError.invalidInstance(CharacteristicKey(1, 2))) {
            try AccessoryTable([Accessory(1, [AccessoryService(1, AccessoryType(1), [one, one])])])
        }
        #expect(throws: HomeKitError.invalidAccessoryID(1)) {
            try AccessoryTable([Accessory(1, []), Accessory(1, [])])
        }
    }

    @Test("The configuration number changes with the accessory's shape and wraps to 1")
    func theConfigurationNumberFollowsTheShape() {
        var records = HomeKitRecords(seed: Array(repeating: 1, count: 32))
        records.adopt(shape: [1])
        #expect(records.configurationNumber == 1)
        records.adopt(shape: [1])
        #expect(records.configurationNumber == 1)
        for number in 2...65_535 { records.adopt(shape: [UInt8(number & 1), 2]) }
        #expect(records.configurationNumber == 65_535)
        records.adopt(shape: [9])
        #expect(records.configurationNumber == 1)
    }
}
