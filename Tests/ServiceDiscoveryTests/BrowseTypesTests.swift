import DNSWire
import MulticastDNS
import ProtocolCore
import ServiceDiscovery
import Testing

struct BrowseTypesTests {
    private let id = BrowseID(rawValue: 3)

    private func types(_ link: TestLink) -> [[String]] {
        link.reports.compactMap { report in
            guard case .types(id, let types) = report.action else { return nil }
            return types.map(\.description)
        }
    }

    @Test("Each service type is reported once, and a cancelled browse sends no queries")
    func everyTypeIsReportedOnceHoweverManyOfferIt() throws {
        var link = TestLink(nodes: 3)
        link.send(.register(RegistrationID(rawValue: 1), try lamp()), to: 0)
        link.send(.register(RegistrationID(rawValue: 1), try lamp("Other", host: "plug-2")), to: 1)
        let printer = try ServiceRegistration(name: "P", type: "_ipp._tcp", hostName: "p", port: 631)
        link.send(.register(RegistrationID(rawValue: 2), printer), to: 1)
        link.run(for: .seconds(5))
        link.send(.browseTypes(id), to: 2)
        link.run(for: .seconds(2))
        #expect(types(link).last == ["_ipp._tcp", "_smartplug._tcp"])
        #expect(types(link).count <= 2)
        link.send(.cancelBrowse(id), to: 2)
        let asked = link.packets.count
        link.run(for: .seconds(4000))
        #expect(link.packets.dropFirst(asked).allSatisfy { $0.sender != 2 })
    }

    @Test("Names that are not service types are ignored") func namesThatAreNoTypesAreLeftOut() throws {
        var link = TestLink(nodes: 2)
        link.send(.browseTypes(id), to: 0)
        let enumeration: Name = "_services._dns-sd._udp.local"
        let names: [Name] = ["_ok._udp.local", "_ok._udp.example.org", "http._tcp.local", "_x.local", "local"]
        let bytes = try Message(
            flags: [.response, .authoritative],
            answers: names.map { Record(name: enumeration, timeToLive: 4500, data: .ptr($0)) }
        ).encoded()
        let datagram = InboundDatagram(
            bytes: bytes, interface: 2, source: TestLink.address(of: 1), sourcePort: 5353, wasMulticast: true)
        link.send(.received(datagram), to: 0)
        #expect(types(link) == [["_ok._udp"]])
    }
}

struct NetUnicodeTests {
    private let decomposed = "Lampe u\u{308}ber A\u{30A}"
    private let composed = "Lampe \u{FC}ber \u{C5}"

    @Test("Names are sent in normalization form C") func namesAreSentInFormC() throws {
        let registration = try ServiceRegistration(
            name: decomposed, type: "_smartplug._tcp", subtypes: ["_u\u{308}"], hostName: "plug", port: 1)
        #expect(Array(registration.name.utf8) == Array(composed.utf8))
        #expect(Array(registration.subtypes[0].utf8) == Array("_\u{FC}".utf8))
        let identity = ServiceIdentity(name: decomposed, type: "_smartplug._tcp")
        let instance = try identity.instanceName()
        #expect(instance.firstLabel.elementsEqual(composed.utf8))
        let type: ServiceType = "_u\u{308}._sub._smartplug._tcp"
        #expect(type.subtype.map { Array($0.utf8) } == Array("_\u{FC}".utf8))
        // The texts have Hangul letters, combining marks in the wrong order, and a character that is replaced by a
        // different single character.
        for (text, expected) in [
            ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"), ("a\u{301}\u{323}", "\u{1EA1}\u{301}"), ("\u{212B}", "\u{C5}"),
        ] {
            let name = ServiceIdentity(name: text, type: "_smartplug._tcp").name
            #expect(Array(name.utf8) == Array(expected.utf8))
        }
    }

    @Test("The length limit applies to the normalized name") func aLongNameIsMeasuredAfterwards() throws {
        // The name has 64 bytes decomposed and 43 composed.
        let name = String(repeating: "u\u{308}", count: 21) + "x"
        #expect(name.utf8.count == 64)
        _ = try ServiceRegistration(name: name, type: "_smartplug._tcp", hostName: "plug", port: 1)
    }

    @Test("A decomposed name of a peer is used byte for byte")
    func aPeerThatSendsAnotherFormIsFoundUnderItsBytes() throws {
        var link = TestLink(nodes: 1)
        link.send(.browse(BrowseID(rawValue: 1), "_smartplug._tcp"), to: 0)
        let type: Name = "_smartplug._tcp.local"
        let instance = try type.prepending(label: Array(decomposed.utf8))
        let bytes = try Message(
            flags: [.response, .authoritative], answers: [Record(name: type, timeToLive: 4500, data: .ptr(instance))]
        ).encoded()
        let datagram = InboundDatagram(
            bytes: bytes, interface: 2, source: TestLink.address(of: 1), sourcePort: 5353, wasMulticast: true)
        link.send(.received(datagram), to: 0)
        guard case .found(let identity, txt: _) = link.changes(at: 0).first?.change else {
            Issue.record("the service was not found")
            return
        }
        let asked = try identity.instanceName()
        #expect(asked == instance)
    }
}
