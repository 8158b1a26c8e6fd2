import DNSWire
import Testing

@testable import UnicastDNS

/// Tests of signatures against messages of dnspython 2.8.
struct TransactionKeyTests {
    private let key = TransactionKey(name: "Plugs.example", secret: Array(0..<32))!
    private let time: UInt64 = 1_700_000_000
    private let query = hex("123400000001000000000000076578616d706c65036f72670000060001")
    /// The record of a key with the name `Plugs.example`, up to its code.
    private let record =
        "05506c756773076578616d706c650000fa00ff00000000003d0b686d61632d7368613235360000006553f100012c0020"

    private var request: TransactionKey.Request {
        get throws { try #require(key.sign(query, at: time)) }
    }

    private func response(code: String, header: String = "123480000001000000000001", end: String = "123400000000")
        -> [UInt8]
    {
        hex(header + "076578616d706c65036f72670000060001" + record + code + end)
    }

    private let validCode = "b83b7887b1c2d4077cea6a5930c6fe12a0755cb4f901981f7e472f428565cd43"

    @Test("A request has the signature that dnspython computes") func signature() throws {
        let expected = response(
            code: "2596e10473be89869ef3a60db598b6abde3d8e21f9409f12a8a0df193786925d",
            header: "123400000001000000000001")
        #expect(try request.bytes == expected)
    }

    @Test("A response of dnspython is accepted, and its signature removed") func validResponse() throws {
        let message = try request.verify(response(code: validCode), at: time + 300)
        #expect(message.id == 0x1234 && message.additionals.isEmpty)
    }

    @Test("A response with any changed byte is rejected") func changedResponses() throws {
        let valid = response(code: validCode)
        // The letter case of the key's name is not signed.
        let unsigned = Set(0..<valid.count).filter { index in
            var changed = valid
            changed[index] ^= 0x20
            return (try? request.verify(changed, at: time)) != nil
        }
        for index in unsigned { #expect((UInt8(ascii: "A")...UInt8(ascii: "z")).contains(valid[index])) }
        for count in valid.indices {
            #expect(throws: TransactionKey.Rejection.self) { try request.verify(Array(valid[..<count]), at: time) }
        }
    }

    @Test("A response is valid only for its request, its key and its time") func otherRequests() throws {
        let valid = response(code: validCode)
        let later = try #require(key.sign(query, at: time + 1))
        #expect(throws: TransactionKey.Rejection.unsigned) { try later.verify(valid, at: time) }
        let other = try #require(TransactionKey(name: "Plugs.example", secret: Array(1..<33)))
        let request = try #require(other.sign(query, at: time))
        #expect(throws: TransactionKey.Rejection.unsigned) { try request.verify(valid, at: time) }
        #expect(throws: TransactionKey.Rejection.wrongTime(server: time)) {
            try self.request.verify(valid, at: time + 301)
        }
    }

    @Test("The server reports its time, an unknown key and a wrong secret") func reportedErrors() throws {
        var late = hex(
            "123480090001000000000001076578616d706c65036f72670000060001" + record.replacing("3d0b", with: "430b"))
        late += hex("4ac9448070381181fb3175c331d48b3abfa242a70cc883400880f08425fb3812" + "12340012000600006553f4e8")
        #expect(throws: TransactionKey.Rejection.wrongTime(server: 1_700_001_000)) {
            try request.verify(late, at: time)
        }
        let uncoded = "05506c756773076578616d706c650000fa00ff00000000001d0b686d61632d7368613235360000006553f100012c0000"
        for (error, rejection) in [
            ("11", TransactionKey.Rejection.unknownKey), ("10", .wrongSecret), ("00", .unsigned),
        ] {
            let bytes = hex(
                "123480090001000000000001076578616d706c65036f72670000060001" + uncoded + "123400\(error)0000")
            #expect(throws: rejection) { try request.verify(bytes, at: time) }
        }
    }

    @Test("A response without a signature is rejected") func unsignedResponse() throws {
        let bytes = hex("123480000001000000000000076578616d706c65036f72670000060001")
        #expect(throws: TransactionKey.Rejection.unsigned) { try request.verify(bytes, at: time) }
    }

    @Test("A message that is shorter than a header is not signed") func shortMessage() {
        #expect(key.sign([1, 2, 3], at: time) == nil)
    }
}

/// Tests of the keys of RFC 9665. The data of the record and its tag were computed with dnspython 2.9.
struct RegistrationKeyTests {
    @Test("A key is restored from its bytes, and has the data of a host's KEY record") func recordData() throws {
        let key = try #require(RegistrationKey(bytes: Array(1...32)))
        let expected = hex(
            "0201030d515c3d6eb9e396b904d3feca7f54fdcd0cc1e997bf375dca515ad0a6c3b4035f"
                + "4536be3a50f318fbf9a5475902a221502bef0d57e08c53b2cc0a56f17d9f9354")
        #expect(key.recordData == expected && key.bytes == Array(1...32))
        #expect(RegistrationKey(bytes: []) == nil && RegistrationKey(bytes: Array(repeating: 0, count: 32)) == nil)
    }

    @Test("A signed message has one more record, with the fields of RFC 2931") func signature() throws {
        let key = try #require(RegistrationKey(bytes: Array(1...32)))
        let message = hex("123428000001000000000000076578616d706c65036f72670000060001")
        let signed = try #require(key.sign(message, as: "plug.example.org", at: 1000))
        #expect(signed.starts(with: hex("123428000001000000000001")))
        let decoded = try Message(decoding: signed)
        guard case .other(RecordType(rawValue: 24), let data)? = decoded.additionals.last?.data else {
            Issue.record("no signature")
            return
        }
        // Type covered, algorithm, labels, original time to live, expiration, inception and tag.
        #expect(Array(data.prefix(18)) == hex("00000d0000000000") + hex("00000514") + hex("000002bc") + hex("d56c"))
        #expect(Array(data.dropFirst(18).prefix(18)) == ("plug.example.org" as Name).bytes)
        #expect(data.count == 18 + 18 + 64)
        #expect(key.sign([1], as: "plug.example.org", at: 1000) == nil)
    }
}

/// Tests of key files.
struct KeyFileTests {
    private let secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    @Test("A file of tsig-keygen is read, also with comments") func validFiles() throws {
        let plain = "key \"plugs.example\" {\n\talgorithm hmac-sha256;\n\tsecret \"\(secret)\";\n};\n"
        let commented = "# one\nkey plugs.example { // two\n secret /* three */ \(secret);algorithm HMAC-SHA256; } ;"
        for text in [plain, commented] {
            let key = try TransactionKey(file: text)
            #expect(key.name == "plugs.example")
            let expected = TransactionKey(name: key.name, secret: Array(0..<32))?.sign(
                [UInt8](repeating: 0, count: 12), at: 5)
            #expect(key.sign([UInt8](repeating: 0, count: 12), at: 5)?.bytes == expected?.bytes)
        }
    }

    @Test(
        "Each mistake has its error",
        arguments: [
            ("", KeyFileError.notAKey), ("key", .notAKey), ("key \"a", .notAKey), ("/*", .notAKey),
            ("key a { algorithm hmac-sha256; };", .notAKey),
            ("key a { algorithm hmac-sha256; secret AAECAwQFBgcICQoLDA0ODw==; } x;", .notAKey),
            ("key a { secret A==; secret A==; };", .notAKey),
            ("key .. { algorithm hmac-sha256; secret AAECAwQFBgcICQoLDA0ODw==; };", .wrongName),
            ("key a { algorithm hmac-md5; secret AAECAwQFBgcICQoLDA0ODw==; };", .algorithm("hmac-md5")),
            ("key a { algorithm hmac-sha256; secret AAECAwQF; };", .wrongSecret),
            ("key a { algorithm hmac-sha256; secret AAECAw; };", .wrongSecret),
        ])
    func mistakes(text: String, error: KeyFileError) {
        #expect(throws: error) { try TransactionKey(file: text) }
        #expect(!error.description.isEmpty)
    }
}

private func hex(_ text: some StringProtocol) -> [UInt8] {
    let digits = text.utf8.map { UInt8($0 < 0x40 ? $0 - 0x30 : $0 - 0x57) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
