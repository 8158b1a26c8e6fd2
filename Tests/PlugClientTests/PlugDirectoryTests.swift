import PlugClient
import ServiceDiscovery
import Testing

@Suite struct PlugDirectoryTests {
    private func plug(_ name: String, on interface: UInt32 = 2) -> ServiceIdentity {
        ServiceIdentity(name: name, type: PlugClient.serviceType, interface: interface)
    }

    @Test func aPlugOnSeveralInterfacesIsOne() {
        var directory = PlugDirectory()
        #expect(directory.take(.found(plug("Lamp"), txt: TXTRecord())) == .appeared("Lamp"))
        #expect(directory.take(.found(plug("Lamp", on: 3), txt: TXTRecord())) == .renewed("Lamp"))
        #expect(directory.take(.changed(plug("Lamp", on: 3), txt: TXTRecord())) == .renewed("Lamp"))
        #expect(directory.names == ["Lamp"])
        #expect(directory.take(.lost(plug("Lamp"))) == nil)
        #expect(directory.take(.lost(plug("Lamp"))) == nil)
        #expect(directory.take(.lost(plug("Lamp", on: 3))) == .disappeared("Lamp"))
        #expect(directory.take(.lost(plug("Lamp", on: 3))) == nil)
        #expect(directory.names.isEmpty)
    }

    @Test func capitalsMatterOnlyWhereTheyTellTwoPlugsApart() {
        var directory = PlugDirectory()
        for name in ["Living Room Lamp", "HEATER", "Heater", "Büro"] {
            _ = directory.take(.found(plug(name), txt: TXTRecord()))
        }
        #expect(directory.match("living room lamp") == "Living Room Lamp")
        #expect(directory.match("BÜRO") == "Büro")
        #expect(directory.match("Heater") == "Heater")
        #expect(directory.match("HEATER") == "HEATER")
        #expect(directory.match("heater") == nil)
        #expect(directory.match("Lamp") == nil)
        _ = directory.take(.lost(plug("HEATER")))
        #expect(directory.match("heater") == "Heater")
    }

    @Test func ofEverNewNamesOnlySoManyAreKept() {
        var directory = PlugDirectory()
        for number in 0..<1024 { _ = directory.take(.found(plug("Plug \(number)"), txt: TXTRecord())) }
        #expect(directory.take(.found(plug("One more"), txt: TXTRecord())) == nil)
        #expect(directory.names.count == 1024)
        #expect(directory.take(.found(plug("Plug 7", on: 9), txt: TXTRecord())) == .renewed("Plug 7"))
        _ = directory.take(.lost(plug("Plug 8")))
        #expect(directory.take(.found(plug("One more"), txt: TXTRecord())) == .appeared("One more"))
    }

    @Test(arguments: [
        (
            [String](),
            "no plug named \"Lamp\" answers, and no other plug either\nhint: `plugctl browse` shows plugs as they appear"
        ),
        (
            ["Kettle", "Television"],
            "no plug named \"Lamp\" answers\nhint: these plugs do: \"Kettle\", \"Television\""
        ),
        (
            ["Kettle", "Lapm"],
            "no plug named \"Lamp\" answers\nhint: did you mean \"Lapm\"? These plugs answer: \"Kettle\", \"Lapm\""
        ),
    ])
    func whoIsNotFoundIsToldWhatIsThere(known: [String], text: String) {
        #expect("\(PlugNotFound(name: "Lamp", known: known))" == text)
    }
}
