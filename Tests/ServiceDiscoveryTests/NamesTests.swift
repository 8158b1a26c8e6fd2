import DNSWire
import MulticastDNS
import ProtocolCore
@testable import ServiceDiscovery
import Testing

struct ServiceTypeTests {
    @Test("The constants have the values of RFC 6763") func constants() {
        #expect(RFC6763.serviceNameLimit == 15)
        #expect(RFC6763.instanceNameLimit == 63)
        #expect(RFC6763.textLimit == 1300)
        #expect(RFC6763.attributeLimit == 255)
    }

    @Test("Types and subtypes are parsed and converted to names") func typesAndSubtypes() throws {
        let text = "_smartplug._tcp"
        let type = try ServiceType(text)
        #expect(type.description == "_smartplug._tcp")
        #expect(try type.name(in: "local") == "_smartplug._tcp.local")
        let subtype: ServiceType = "_dimmer._sub._smartplug._tcp"
        #expect(subtype.subtype == "_dimmer")
        #expect(subtype.base == type)
        #expect(try subtype.name(in: "local") == "_dimmer._sub._smartplug._tcp.local")
    }

    @Test(
        "An invalid service type is rejected with its reason",
        arguments: [
            ("_smartplug", ServiceDiscoveryError.notAType("_smartplug")),
            ("_smartplug._sctp", .notAType("_smartplug._sctp")),
            ("smartplug._tcp", .missingUnderscore("smartplug")),
            ("_abcdefghijklmnop._tcp", .serviceNameLength(16)),
            ("_._tcp", .serviceNameLength(0)),
            ("_-a._tcp", .serviceNameCharacters("_-a")),
            ("_12._tcp", .serviceNameCharacters("_12")),
            ("_a b._tcp", .serviceNameCharacters("_a b")),
            ("_sub._smartplug._tcp", .subtypeLength),
        ])
    func whatIsNoType(text: String, error: ServiceDiscoveryError) {
        #expect(throws: error) { try ServiceType(text) }
    }
}

struct InstanceNameTests {
    @Test("Any UTF-8 is a valid instance name, and other bytes are not") func anyUTF8IsAName() throws {
        let identity = ServiceIdentity(name: "Café „Zur Lampe“. 💡\\", type: "_smartplug._tcp")
        let name = try identity.instanceName()
        #expect(name.description == "Café „Zur Lampe“\\. 💡\\\\._smartplug._tcp.local")
        #expect(
            ServiceIdentity(instance: name, type: "_smartplug._tcp", domain: "local", interface: 2)?.name
                == identity.name)
        let broken = try Name(labels: [[0xFF, 0xFE]])
        #expect(ServiceIdentity(instance: broken, type: "_smartplug._tcp", domain: "local", interface: 2) == nil)
    }

    @Test("A number is added to a name, and a numbered name is split into name and number") func numbering() {
        #expect(InstanceName.numbered("Lamp", 2) == "Lamp (2)")
        #expect(InstanceName.numberedHost("plug-1a2b3c", 2) == "plug-1a2b3c-2")
        #expect(InstanceName.split("Lamp (2)") == ("Lamp", 2))
        #expect(InstanceName.split("Lamp(2)") == ("Lamp(2)", 1))
        #expect(InstanceName.split("Lamp (1)") == ("Lamp (1)", 1))
        #expect(InstanceName.split("Lamp (x)") == ("Lamp (x)", 1))
        #expect(InstanceName.split("(2)") == ("(2)", 1))
        #expect(InstanceName.split("Lamp (2000000)") == ("Lamp (2000000)", 1))
        // Only whole characters are removed.
        let long = String(repeating: "ä", count: 31)
        #expect(InstanceName.numbered(long, 2) == String(repeating: "ä", count: 29) + " (2)")
    }

    @Test("The numbers of the first new names are consecutive, and later numbers grow by random steps")
    func theFirstTriesCountAndLaterOnesSpread() {
        var random = SeededRandom(seed: 1)
        var naming = Renaming(base: "Lamp")
        var numbers: [Int] = []
        for _ in 0..<40 {
            naming.next(&random)
            numbers.append(naming.number)
        }
        #expect(numbers.prefix(3) == [2, 3, 4])
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
        #expect(numbers[39] < 10_000_000)
    }

    @Test("Invalid registrations are rejected with their reason") func registrationsAreChecked() throws {
        let type: ServiceType = "_smartplug._tcp"
        #expect(throws: ServiceDiscoveryError.nameLength(0)) {
            try ServiceRegistration(name: "", type: type, hostName: "h", port: 1)
        }
        #expect(throws: ServiceDiscoveryError.nameLength(64)) {
            try ServiceRegistration(name: String(repeating: "x", count: 64), type: type, hostName: "h", port: 1)
        }
        #expect(throws: ServiceDiscoveryError.controlCharacter("a\n")) {
            try ServiceRegistration(name: "a\n", type: type, hostName: "h", port: 1)
        }
        #expect(throws: ServiceDiscoveryError.hostName("a.b")) {
            try ServiceRegistration(name: "a", type: type, hostName: "a.b", port: 1)
        }
        #expect(throws: ServiceDiscoveryError.subtypeLength) {
            try ServiceRegistration(name: "a", type: type, subtypes: [""], hostName: "h", port: 1)
        }
    }
}

struct TXTRecordTests {
    @Test("A TXT record has the expected bytes, and its keys ignore case") func exactBytes() throws {
        var txt = try TXTRecord(["txtvers": "1", "id": "ab"])
        try txt.set("flag", nil)
        try txt.set("empty", [])
        #expect(
            txt.encoded == [9] + Array("txtvers=1".utf8) + [5] + Array("id=ab".utf8) + [4] + Array("flag".utf8) + [6]
                + Array("empty=".utf8))
        #expect(TXTRecord(decoding: txt.encoded) == txt)
        #expect(TXTRecord().encoded == [0])
        #expect(txt["TXTVERS"] == "1")
        #expect(txt.contains("flag") && txt["flag"] == nil)
        #expect(txt.bytes("empty") == [])
        try txt.set("ID", [0x63])
        #expect(txt["id"] == "c")
        txt.remove("Id")
        #expect(!txt.contains("id"))
    }

    @Test("Malformed TXT strings of a peer are ignored") func whatPeersMaySend() {
        let strings: [[UInt8]] = [
            Array("=ignored".utf8), [], Array("a=1".utf8), Array("A=2".utf8), [0x62, 0x3D, 0xFF, 0x3D],
        ]
        let txt = TXTRecord(decoding: strings.flatMap { [UInt8($0.count)] + $0 } + [200, 0x63])
        #expect(txt.attributes.map(\.key) == ["a", "b"])
        #expect(txt["a"] == "1")
        #expect(txt["b"] == nil)
        #expect(txt.bytes("b") == [0xFF, 0x3D])
    }

    /// Each invalid byte would become a replacement character of three bytes, and the key would be longer than 255
    /// bytes.
    @Test("TXT keys that are not printable ASCII are ignored") func keysThatAreNoASCIIAreIgnored() {
        let bad = [UInt8](repeating: 0xFF, count: 200)
        let txt = TXTRecord(decoding: [200] + bad + [2, 0x07, 0x61] + [3] + Array("a=1".utf8))
        #expect(txt.encoded == [3] + Array("a=1".utf8))
    }

    @Test("The number of TXT attributes is limited") func aPacketFullOfKeysCostsLittle() {
        let keys = (0..<4000).flatMap { [2, 0x21 + UInt8($0 / 64), 0x40 + UInt8($0 % 64)] as [UInt8] }
        #expect(TXTRecord(decoding: keys).attributes.count == 128)
    }

    @Test("TXT attributes beyond the limits are rejected") func limits() throws {
        var txt = TXTRecord()
        #expect(throws: ServiceDiscoveryError.badKey("a=b")) { try txt.set("a=b", []) }
        #expect(throws: ServiceDiscoveryError.badKey("")) { try txt.set("", []) }
        #expect(throws: ServiceDiscoveryError.badKey("ä")) { try txt.set("ä", []) }
        #expect(throws: ServiceDiscoveryError.attributeTooLong("k", count: 256)) {
            try txt.set("k", [UInt8](repeating: 0, count: 254))
        }
        for key in ["a", "b", "c", "d", "e"] { try txt.set(key, [UInt8](repeating: 0, count: 253)) }
        #expect(throws: ServiceDiscoveryError.recordTooLong(count: 1303)) {
            try txt.set("f", [UInt8](repeating: 0, count: 20))
        }
        #expect(txt.attributes.count == 5)
    }
}
