@testable import Automation
import PlugProtocol
import ProtocolCore
import Testing

@Suite("Request ids")
struct RequestTests {
    @Test(
        "The hash is 128-bit FNV-1a (vectors of draft-eastlake-fnv)",
        arguments: [
            ("", "6c62272e07bb014262b821756295c58d"), ("a", "d228cb696f1a8caf78912b704e4a8964"),
            ("foobar", "343e1662793c64bf6f0d3597ba446f18"),
        ])
    func vectors(text: String, expected: String) {
        var hash = FNV1a128()
        hash.add(text.utf8)
        #expect(String(hash.value, radix: 16) == expected)
        #expect(hash.bytes.count == 16 && hash.bytes.map { UInt128($0) }.reduce(0) { $0 << 8 | $1 } == hash.value)
    }

    @Test("An id is pinned: another program version retries with the same one")
    func pinned() {
        let event = RequestID(.event(plug: "Hall", 7), rule: "By button", position: 0)
        #expect(event.hex == "053ae160a4fd3a18eaa9dc92877a14a6")
        let reading = RequestID(
            .reading(plug: "Television", boot: BootID(bytes: 0..<16), time: .at(3), trigger: 0), rule: "Movie night",
            position: 1)
        #expect(reading.hex == "29b0f451ae9514cc32f21fa538eb3ce0")
    }

    @Test("Plug, number, boot, time, trigger, rule and position each make another id, however the texts are cut")
    func different() {
        let boot = BootID(bytes: 0..<16)
        let ids: [RequestID] = [
            RequestID(.event(plug: "Hall", 7), rule: "Rule", position: 0),
            RequestID(.event(plug: "Hall", 8), rule: "Rule", position: 0),
            RequestID(.event(plug: "Lamp", 7), rule: "Rule", position: 0),
            RequestID(.event(plug: "Hall", 7), rule: "Other", position: 0),
            RequestID(.event(plug: "Hall", 7), rule: "Rule", position: 1),
            RequestID(.event(plug: "HallR", 7), rule: "ule", position: 0),
            RequestID(.reading(plug: "Hall", boot: nil, time: .at(7), trigger: 0), rule: "Rule", position: 0),
            RequestID(.reading(plug: "Hall", boot: boot, time: .at(7), trigger: 0), rule: "Rule", position: 0),
            RequestID(.reading(plug: "Hall", boot: boot, time: .at(8), trigger: 0), rule: "Rule", position: 0),
            RequestID(.reading(plug: "Hall", boot: boot, time: .at(7), trigger: 1), rule: "Rule", position: 0),
        ]
        #expect(Set(ids).count == ids.count)
    }

    @Test("Two engines that see the same edge ask with the same id, whatever else happened at either")
    func sameEdge() {
        func house(_ prepare: (inout VirtualHouse) -> Void) -> [CommandRequest] {
            var house = VirtualHouse(.television(dwell: .seconds(3)), .button(.toggle(["Amplifier"])))
            prepare(&house)
            house.appear("Amplifier", at: 100)
            house.appear("Television", watts: 1, at: 100)
            house.appear("Hall", at: 100)
            house.read("Television", 80, at: 101)
            house.press("Hall", 4, at: 102)
            house.run(to: 110)
            return house.requests
        }
        let plain = house { _ in }
        let eventful = house { house in
            house.appear("Hall", at: 1)
            house.press("Hall", 3, at: 2)
        }
        #expect(plain.count == 2 && Set(plain.map(\.id)).count == 2)
        #expect(plain.map(\.id) == eventful.suffix(2).map(\.id))
    }

    @Test("The firing by deadline and the firing by reading of one crossing have the same id")
    func deadlineOrReading() {
        var byDeadline = VirtualHouse(.television(dwell: .seconds(3)))
        var byReading = byDeadline
        for index in 0..<2 {
            var house = index == 0 ? byDeadline : byReading
            house.appear("Amplifier", at: 0)
            house.appear("Television", watts: 1, at: 0)
            house.read("Television", 80, at: 1)
            if index == 0 { byDeadline = house } else { byReading = house }
        }
        byDeadline.run(to: 5)
        byReading.at(2, .reading(plug: "Television", activePower: 80, time: .at(4.5), isSnapshot: false))
        #expect(byDeadline.requests.count == 1)
        #expect(byDeadline.requests == byReading.requests)
    }
}

extension RequestID {
    var hex: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
