import ProtocolCore
import ServiceDiscovery
import Testing

@testable import PlugClient

@Suite("Plugs in several domains") struct PlugMergeTests {
    private static func lamp(in domain: String, on interface: UInt32? = nil) -> ServiceIdentity {
        ServiceIdentity(name: "Lamp", type: PlugClient.serviceType, domain: domain, interface: interface)
    }

    private static func attributes(_ id: String = "000000000001") throws -> TXTRecord { try TXTRecord(["id": id]) }

    private let home = Self.lamp(in: "local", on: 2)
    private let away = Self.lamp(in: "example.org")

    @Test("A plug is reported in local instead of its domain, and in its domain again after it left")
    func localIsPreferred() throws {
        var merge = PlugMerge()
        let attributes = try Self.attributes()
        #expect(merge.handle(.found(away, txt: attributes)) == [.found(away, txt: attributes)])
        #expect(merge.handle(.found(home, txt: attributes)) == [.found(home, txt: attributes), .lost(away)])
        #expect(merge.handle(.changed(away, txt: attributes)) == [])
        #expect(merge.handle(.lost(home)) == [.found(away, txt: attributes), .lost(home)])
        #expect(merge.handle(.lost(away)) == [.lost(away)])
    }

    @Test("A plug is the same one as soon as its attributes arrive") func attributesArriveLater() throws {
        var merge = PlugMerge()
        let attributes = try Self.attributes()
        _ = merge.handle(.found(away, txt: attributes))
        #expect(merge.handle(.found(home, txt: nil)) == [.found(home, txt: nil)])
        #expect(merge.handle(.changed(home, txt: attributes)) == [.changed(home, txt: attributes), .lost(away)])
        let other = try Self.attributes("000000000002")
        #expect(
            merge.handle(.changed(home, txt: other)) == [.changed(home, txt: other), .found(away, txt: attributes)])
    }

    @Test("A registration whose id changes appears and disappears") func changedRegistration() throws {
        var merge = PlugMerge()
        let (attributes, other) = (try Self.attributes(), try Self.attributes("000000000002"))
        _ = merge.handle(.found(home, txt: attributes))
        #expect(merge.handle(.found(away, txt: attributes)) == [])
        #expect(merge.handle(.changed(away, txt: other)) == [.found(away, txt: other)])
        #expect(merge.handle(.changed(away, txt: attributes)) == [.lost(away)])
    }

    @Test("A plug on two interfaces hides its registration until it left both") func twoInterfaces() throws {
        var merge = PlugMerge()
        let attributes = try Self.attributes()
        let second = Self.lamp(in: "local", on: 3)
        for service in [home, second, away] { _ = merge.handle(.found(service, txt: attributes)) }
        #expect(merge.handle(.lost(home)) == [.lost(home)])
        #expect(merge.handle(.lost(second)) == [.found(away, txt: attributes), .lost(second)])
    }

    @Test("Services without an id, and those of different plugs, are all reported") func differentPlugs() throws {
        var merge = PlugMerge()
        #expect(merge.handle(.found(home, txt: TXTRecord())).count == 1)
        #expect(merge.handle(.found(away, txt: TXTRecord())).count == 1)
        let other = try Self.attributes("000000000002")
        #expect(merge.handle(.found(Self.lamp(in: "example.net"), txt: other)).count == 1)
        #expect(merge.handle(.lost(Self.lamp(in: "example.com"))).isEmpty)
    }

    /// Whatever happens, a service is found before it changes or is lost, and no plug is reported both in local and
    /// elsewhere.
    @Test("Random changes keep the reports consistent", arguments: 0..<200) func randomChanges(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        var merge = PlugMerge()
        var reported: [ServiceIdentity: TXTRecord?] = [:]
        var present: [ServiceIdentity: TXTRecord] = [:]
        let services = [home, Self.lamp(in: "local", on: 3), away, Self.lamp(in: "example.net")]
        for _ in 0..<200 {
            let service = try #require(services.randomElement(using: &random))
            let txt = try Self.attributes("00000000000\(Int.random(in: 1...2, using: &random))")
            let change: ServiceChange
            if present[service] == nil {
                (change, present[service]) = (.found(service, txt: txt), txt)
            } else if Bool.random(using: &random) {
                (change, present[service]) = (.changed(service, txt: txt), txt)
            } else {
                (change, present[service]) = (.lost(service), nil)
            }
            for told in merge.handle(change) {
                switch told {
                case .found(let service, let txt): #expect(reported.updateValue(txt, forKey: service) == nil)
                case .changed(let service, let txt): #expect(reported.updateValue(txt, forKey: service) != nil)
                case .lost(let service): #expect(reported.removeValue(forKey: service) != nil)
                }
            }
            let local = Set(present.filter { $0.key.domain == "local" }.compactMap(\.value.plugID))
            let expected = present.filter { service, txt in
                service.domain == "local" || !(txt.plugID.map(local.contains) ?? false)
            }
            #expect(reported.compactMapValues(\.self) == expected)
        }
    }
}
