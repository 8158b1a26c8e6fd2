import PlugModel
import ProtocolCore
import Testing

@testable import Automation
@testable import RuleModel

@Suite("Request ids")
struct RequestTests {
    @Test(
        "The hash equals the FNV-1a 128-bit vectors of draft-eastlake-fnv",
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

    @Test("Request ids are fixed, so that a different version of the program retries with the same ids")
    func pinned() {
        let event = FiringSeed("event", rule: "By button", trigger: 0, plug: "Hall").id(7)
        #expect(event.hex == "4f668de5e9cb4b6a59577157f81c3afd")
        #expect(event.part(action: 0).hex == "7ce9b1ae63cacdabc0b462b3f9b2f90f")
        let boot = BootID(bytes: 0..<16)
        let reading = FiringSeed("power", rule: "Movie night", trigger: 0, plug: "Television", boot: boot).id(3)
        #expect(reading.hex == "59afde4bc70f463d0fdc3c35153744ea")
    }

    @Test("A different plug, number, boot, kind, trigger, rule or index gives a different id")
    func different() {
        let boot = BootID(bytes: 0..<16)
        let seeds = [
            FiringSeed("event", rule: "Rule", trigger: 0, plug: "Hall"),
            FiringSeed("event", rule: "Rule", trigger: 0, plug: "Lamp"),
            FiringSeed("event", rule: "Other", trigger: 0, plug: "Hall"),
            FiringSeed("event", rule: "RuleH", trigger: 0, plug: "all"),
            FiringSeed("event", rule: "Rule", trigger: 1, plug: "Hall"),
            FiringSeed("event", rule: "Rule", trigger: 0, plug: "Hall", boot: boot),
            FiringSeed("power", rule: "Rule", trigger: 0, plug: "Hall", boot: boot),
        ]
        let firings = seeds.flatMap { seed in (0..<100).map { seed.id($0) } }
        #expect(Set(firings).count == firings.count)
        let parts = firings.flatMap { id in
            (0..<8).flatMap { action in (0..<4).map { id.part(action: action, plug: $0) } }
        }
        #expect(Set(parts + firings).count == parts.count + firings.count)
    }

    @Test("Two engines that observe the same crossing or press use the same request id, whatever happened before")
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

    @Test("A firing at the deadline of a dwell and a firing at a reading have the same id for the same crossing")
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
