import PlugModel
import ProtocolCore
import ServiceDiscovery
import Testing

@testable import PlugClient

@Suite struct PlugDirectoryTests {
    private func plug(_ name: String, on interface: UInt32 = 2) -> ServiceIdentity {
        ServiceIdentity(name: name, type: PlugClient.serviceType, interface: interface)
    }

    @Test("A plug on several interfaces is one plug") func aPlugOnSeveralInterfacesIsOne() {
        var directory = PlugDirectory()
        #expect(directory.handle(.found(plug("Lamp"), txt: TXTRecord()), now: .zero) == [.appeared("Lamp")])
        #expect(directory.handle(.found(plug("Lamp", on: 3), txt: TXTRecord()), now: .zero) == [.renewed("Lamp")])
        #expect(directory.handle(.changed(plug("Lamp", on: 3), txt: TXTRecord()), now: .zero) == [.renewed("Lamp")])
        #expect(directory.names == ["Lamp"])
        #expect(directory.handle(.lost(plug("Lamp")), now: .zero) == [])
        #expect(directory.handle(.lost(plug("Lamp")), now: .zero) == [])
        #expect(directory.handle(.lost(plug("Lamp", on: 3)), now: .zero) == [.disappeared("Lamp")])
        #expect(directory.handle(.lost(plug("Lamp", on: 3)), now: .zero) == [])
        #expect(directory.names.isEmpty)
    }

    @Test("Capitalization matters only if two names differ only in capitals")
    func capitalsMatterOnlyWhereTheyTellTwoPlugsApart() {
        var directory = PlugDirectory()
        for name in ["Living Room Lamp", "HEATER", "Heater", "Büro"] {
            _ = directory.handle(.found(plug(name), txt: TXTRecord()), now: .zero)
        }
        #expect(directory.match("living room lamp") == "Living Room Lamp")
        #expect(directory.match("BÜRO") == "Büro")
        #expect(directory.match("Heater") == "Heater")
        #expect(directory.match("HEATER") == "HEATER")
        #expect(directory.match("heater") == nil)
        #expect(directory.match("Lamp") == nil)
        _ = directory.handle(.lost(plug("HEATER")), now: .zero)
        #expect(directory.match("heater") == "Heater")
    }

    @Test("The number of unpaired plugs is limited, and a new one replaces the oldest")
    func ofStrangersOnlySoManyAreToldAndTheOldestGoesFirst() {
        var directory = PlugDirectory()
        for number in 0..<256 {
            #expect(directory.handle(found("Plug \(number)"), now: .zero) == [.appeared("Plug \(number)")])
        }
        // At most every 100 ms a waiting name replaces the oldest one, in the order of arrival.
        #expect(directory.handle(found("A"), now: .zero) == [.disappeared("Plug 0"), .appeared("A")])
        #expect(directory.handle(found("B"), now: .zero) == [])
        #expect(directory.handle(found("C"), now: at(99)) == [])
        #expect(directory.names.count == 256 && !directory.names.contains("B"))
        #expect(directory.handle(found("D"), now: at(100)) == [.disappeared("Plug 1"), .appeared("B")])
        #expect(directory.handle(.found(plug("Plug 7", on: 9), txt: nil), now: at(101)) == [.renewed("Plug 7")])
        // A lost name makes room immediately.
        #expect(directory.handle(.lost(plug("Plug 8")), now: at(102)) == [.disappeared("Plug 8"), .appeared("C")])
        // A waiting name may be lost before it is reported.
        #expect(directory.handle(.lost(plug("D")), now: at(103)) == [])
        #expect(directory.handle(.lost(plug("Plug 9")), now: at(104)) == [.disappeared("Plug 9")])
    }

    private let heater = PlugID(rawValue: "aaaaaaaaaaaa")!

    @Test("The name of a paired plug refers to no other plug, in any capitalization", arguments: [true, false])
    func pairedName(isOtherPaired: Bool) {
        let other = PlugID(rawValue: "bbbbbbbbbbbb")!
        var directory = PlugDirectory()
        _ = directory.prioritize(isOtherPaired ? [heater: "Heater", other: "heater"] : [heater: "Heater"], now: .zero)
        _ = directory.handle(found("heater", id: other), now: .zero)
        #expect(directory.match("Heater") == nil, "the paired plug with this name is away")
        #expect(directory.match("HEATER") == nil)
        #expect(directory.match("heater") == (isOtherPaired ? "heater" : nil))
        _ = directory.handle(found("Radiator", id: heater), now: .zero)
        #expect(directory.match("Heater") == "Radiator")
        #expect(directory.match("HEATER") == (isOtherPaired ? nil : "Radiator"))
    }

    @Test("A paired plug does not get the name of a different paired plug by announcing it") func takenName() {
        let other = PlugID(rawValue: "bbbbbbbbbbbb")!
        var directory = PlugDirectory()
        _ = directory.prioritize([heater: "Heater", other: "Kettle"], now: .zero)
        _ = directory.handle(found("Heater", id: other), now: .zero)
        #expect(directory.match("Heater") == nil)
        #expect(directory.match("Kettle") == "Heater")
    }

    @Test("Names that are equal in full case mapping and canonical Unicode form are one name")
    func spellings() {
        var directory = PlugDirectory()
        _ = directory.prioritize([heater: "Straße Caf\u{E9}"], now: .zero)
        _ = directory.handle(found("STRASSE CAFE\u{301}", id: PlugID(rawValue: "bbbbbbbbbbbb")), now: .zero)
        #expect(directory.match("straße cafe\u{301}") == nil)
        #expect(directory.match("STRASSE CAF\u{C9}") == nil)
        _ = directory.handle(found("Straße Caf\u{E9}", id: heater), now: .zero)
        #expect(directory.match("STRASSE CAF\u{C9}") == "Straße Caf\u{E9}")
    }

    private func found(_ name: String, id: PlugID? = nil) -> ServiceChange {
        .found(plug(name), txt: id.flatMap { try? TXTRecord(["id": $0.rawValue]) })
    }

    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    /// - Parameter place: The position of the paired plug among the other announcements: first, between them, or last.
    @Test(
        "A paired plug is reported despite many other announcements",
        arguments: [0, 750, 1500, 100_000], [false, true])
    func aPlugThatMattersIsTold(place: Int, othersClaimIt: Bool) {
        var directory = PlugDirectory()
        _ = directory.prioritize([heater: "Heater"], now: .zero)
        var told: Set<String> = []
        for number in 0...max(1500, place) {
            let name = number == place ? "heater" : "False \(number)"
            let id = number == place || othersClaimIt ? heater : PlugID(rawValue: "bbbbbbbbbbbb")
            for change in directory.handle(found(name, id: id), now: at(Int64(number))) {
                switch change {
                case .appeared(let name): told.insert(name)
                case .disappeared(let name): told.remove(name)
                case .renewed: break
                }
            }
        }
        #expect(told.contains("heater") && directory.names.contains("heater"))
        #expect(directory.names == told.sorted() && told.count <= 256 + 1 + 8)
        #expect(directory.favoured.contains("Heater") && directory.favoured.count <= 1 + 8)
    }

    @Test("A renamed paired plug is found among many names that claim its id")
    func aPlugThatWasRenamedIsFoundAmongManyThatClaimToBeIt() {
        var directory = PlugDirectory()
        _ = directory.prioritize([heater: "Heater"], now: .zero)
        var tried: [String] = []
        func note(_ changes: [PlugDirectory.Change]) {
            for case .appeared(let name) in changes { tried.append(name) }
        }
        for number in 0..<1500 {
            note(directory.handle(found(number == 700 ? "Radiator" : "False \(number)", id: heater), now: .zero))
        }
        // Each name that was tried without success makes room for the next one.
        var doubted = 0
        while doubted < tried.count, tried[doubted] != "Radiator" {
            note(directory.doubt(tried[doubted]))
            doubted += 1
        }
        #expect(tried.contains("Radiator"))
        #expect(Set(tried).count == tried.count)
    }

    @Test("A plug that becomes paired is reported immediately, even if the directory is full")
    func whatIsPairedNowHasRoomAtOnce() {
        var directory = PlugDirectory()
        for number in 0..<300 { _ = directory.handle(found("False \(number)"), now: .zero) }
        #expect(directory.handle(found("Lamp"), now: .zero) == [])
        #expect(directory.prioritize([heater: "Lamp"], now: .zero) == [.appeared("Lamp")])
        #expect(directory.prioritize([heater: "Lamp"], now: .zero) == [])
        #expect(directory.prioritize([:], now: .zero) == [])
        #expect(directory.favoured.isEmpty)
    }

    @Test(
        "The error for a missing plug lists the announced plugs",
        arguments: [
            (
                [String](),
                "no plug with the name \"Lamp\" was found, and no other plugs either\nhint: `plugctl browse` shows plugs as they appear"
            ),
            (
                ["Kettle", "Television"],
                "no plug with the name \"Lamp\" was found\nhint: these plugs were found: \"Kettle\", \"Television\""
            ),
            (
                ["Kettle", "Lapm"],
                "no plug with the name \"Lamp\" was found\nhint: did you mean \"Lapm\"? These plugs were found: \"Kettle\", \"Lapm\""
            ),
        ])
    func whoIsNotFoundIsToldWhatIsThere(known: [String], text: String) {
        #expect("\(PlugNotFound(name: "Lamp", known: known))" == text)
    }

    @Test("The error for a paired plug states that it is away")
    func whoIsPairedIsAway() {
        let text = "\(PlugNotFound(name: "Lamp", isPaired: true, known: ["Kettle"]))"
        #expect(text.hasPrefix("\"Lamp\" is paired, but it is away"))
        #expect(text.contains("hint: `plugctl doctor`") && !text.contains("Kettle"))
    }
}
