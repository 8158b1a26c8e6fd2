import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

/// Tests of the time of day in which the light is dark.
@Suite struct LightOffTests {
    @Test(
        "A span of the day has its first minute and not its last one, also across midnight",
        arguments: [
            ("22:00-07:00", [1320, 1439, 0, 419], [1319, 420, 720]),
            ("07:00-22:00", [420, 1319], [419, 1320, 0, 1439]),
            ("00:00-00:01", [0], [1, 1439]), ("23:59-00:00", [1439], [0, 1438]), ("never", [], [0, 720, 1439]),
        ])
    func spans(text: String, inside: [Int], outside: [Int]) throws {
        let span = try #require(DailySpan(text: text))
        #expect(inside.allSatisfy { span.contains($0) } && !outside.contains { span.contains($0) })
        #expect("\(span)" == text)
    }

    @Test(
        "Text that is not a span of the day is rejected",
        arguments: [
            "", "22:00", "22:00-", "22:00-22:00", "24:00-07:00", "22:60-07:00", "2:00-07:00", "22:00 07:00",
            "22.00-07.00", "22:00-07:00 ", "-1:00-07:00", "+2:00-07:00", "2200--07:00", "Never",
        ])
    func invalid(text: String) { #expect(DailySpan(text: text) == nil) }

    @Test("Minutes outside of a day make no span, and all empty spans are equal") func minutes() {
        #expect(DailySpan(from: 1440, until: 0) == nil && DailySpan(from: 0, until: -1) == nil)
        #expect(DailySpan(from: 60, until: 60) == .never)
    }

    private static let well = Surroundings(isPaired: true, isPairingOpen: false, network: .routable, isConnected: true)

    private func bench() throws -> Bench {
        let span = try #require(DailySpan(text: "22:00-07:00"))
        var bench = Bench {
            $0.lightOff = span
            $0.rest = .seconds(60)
            $0.hasThermometer = true
        }
        bench.run(for: .seconds(100))
        bench.feed(.surroundings(Self.well))
        return bench
    }

    @Test("The light is dark in the span, and shows the relay at other times and while the time is unknown")
    func dark() throws {
        var bench = try bench()
        bench.command(.setRelay(on: true, autoOff: nil))
        for (minute, pattern) in [
            (1319, .connected(lit: true)), (1320, .dark), (0, .dark), (nil, .connected(lit: true)), (419, .dark),
            (420, .connected(lit: true)),
        ] as [(Int?, LightPattern)] {
            bench.feed(.minuteOfDay(minute))
            #expect(bench.machine.light == pattern)
        }
        bench.feed(.minuteOfDay(1320))
        bench.forget()
        bench.run(for: .seconds(60))
        #expect(bench.light.isEmpty, "a dark light does not wink")
        bench.command(.setRelay(on: false, autoOff: nil))
        #expect(bench.light.isEmpty)
    }

    @Test("In the span, the light still shows the pairing window, identify, the warning of a reset and a trip")
    func exceptions() throws {
        var bench = try bench()
        bench.feed(.minuteOfDay(0))
        var around = Self.well
        for network in [Surroundings.Network.none, .linkLocal] {
            around.network = network
            bench.feed(.surroundings(around))
            #expect(bench.machine.light == .dark)
        }
        around.isPairingOpen = true
        bench.feed(.surroundings(around))
        #expect(bench.machine.light == .pairing)
        around.isPairingOpen = false
        bench.feed(.surroundings(around))
        bench.command(.identify)
        #expect(bench.machine.light == .identify)
        bench.run(for: .seconds(11))
        #expect(bench.machine.light == .dark)
        bench.feed(.temperature(900))
        bench.feed(.temperature(900))
        #expect(bench.machine.light == .tripped)
        bench.edge(down: true)
        bench.run(for: .seconds(11))
        #expect(bench.machine.light == .nearReset)
    }

    @Test("A controller changes the span at once, and a plug without a light refuses the setting")
    func setting() throws {
        var house = House()
        house.join(desk, name: "Desk")
        house.feed(.appliance(.minuteOfDay(60)))
        let shown = house.machine.light
        #expect(shown != .dark)
        func configure(_ number: UInt8, _ value: SettingsChange.NewValue<DailySpan>, _ house: inout House) -> Bool {
            let command = PlugCommand.configure(SettingsChange(lightOff: value))
            house.hear(desk, .command(request(number), command, deadline: house.now + .seconds(5)))
            if case .done = house.outcomes(desk, of: request(number)).last { return true }
            return false
        }
        let night = try #require(DailySpan(text: "22:00-07:00"))
        #expect(configure(1, .value(night), &house))
        #expect(house.settings == StoredSettings(lightOff: night))
        #expect(house.machine.identity.settings?.lightOff == night)
        #expect(house.machine.light == .dark)
        #expect(configure(2, .value(.never), &house))
        #expect(house.machine.light == shown)
        var lampless = House { $0.hasLamp = false }
        lampless.join(desk, name: "Desk")
        #expect(lampless.machine.identity.settings?.lightOff == nil)
        #expect(!configure(1, .value(night), &lampless))
    }
}
