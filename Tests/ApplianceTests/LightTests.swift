import PlugModel
import ProtocolCore
import Testing

@testable import Appliance

@Suite struct LightTests {
    private static let all: [LightPattern] = [
        .nearReset, .identify, .resting, .pairing, .tripped, .noAddress(lit: false), .unpaired(lit: false),
        .linkLocal(lit: false), .alone(lit: false), .connected(lit: false), .noAddress(lit: true),
        .unpaired(lit: true), .linkLocal(lit: true), .alone(lit: true), .connected(lit: true),
        .alone(lit: false, isReachable: true), .connected(lit: false, isReachable: true),
        .alone(lit: true, isReachable: true), .connected(lit: true, isReachable: true),
    ]

    /// Returns the changes of the light within a minute, with their milliseconds since the pattern began.
    private func changes(_ pattern: LightPattern) -> [Timed<Bool>] {
        var light = StatusLight()
        var found: [Timed<Bool>] = []
        var now = Instant.zero
        while now < .zero + .seconds(60) {
            if let lit = light.show(pattern, now: now) { found.append(Timed(now.nanoseconds / 1_000_000, lit)) }
            guard let next = light.nextDeadline else { break }
            #expect(next > now)
            now = next
        }
        return found
    }

    @Test("All light patterns differ")
    func noTwoPatternsLookAlike() { #expect(Set(Self.all.map(changes)).count == Self.all.count) }

    @Test("A pattern without a time limit costs at most one wake-up per second")
    func whatLastsCostsOneWakeUpASecondAtMost() {
        let counts = Self.all.map { changes($0).count }
        // The changes per minute, including the first setting of the light.
        #expect(counts == [1200, 240, 60, 120, 60, 43, 57, 29, 15, 1, 43, 57, 29, 15, 1, 29, 15, 29, 15])
    }

    @Test("The winks, short inversions of the light, are at the end of each period of eight seconds")
    func winksStandAtTheEndOfEightSecondsAndAreTheOpposite() {
        #expect(
            changes(.linkLocal(lit: true)).prefix(6) == [
                Timed(0, true), Timed(7450, false), Timed(7600, true), Timed(7850, false), Timed(8000, true),
                Timed(15_450, false),
            ])
        #expect(changes(.tripped).prefix(3) == [Timed(0, true), Timed(1500, false), Timed(2000, true)])
    }

    @Test("While the plug is reachable from the internet, a long wink precedes the wink of a missing controller")
    func longWink() {
        #expect(
            changes(.alone(lit: false, isReachable: true)).prefix(6) == [
                Timed(0, false), Timed(6850, true), Timed(7600, false), Timed(7850, true), Timed(8000, false),
                Timed(14_850, true),
            ])
        #expect(
            changes(.connected(lit: true, isReachable: true)).prefix(4) == [
                Timed(0, true), Timed(7250, false), Timed(8000, true), Timed(15_250, false),
            ])
    }

    // MARK: Selection of the pattern

    private static let well = Surroundings(isPaired: true, isPairingOpen: false, network: .routable, isConnected: true)

    @Test("If the conditions of several light patterns hold, the pattern with the highest priority is shown")
    func theFirstOfTheTableShows() {
        var bench = Bench {
            $0.rest = .seconds(60)
            $0.hasThermometer = true
        }
        bench.run(for: .seconds(100))
        var around = Self.well
        func shown(_ change: (inout Surroundings) -> Void) -> LightPattern {
            change(&around)
            bench.feed(.surroundings(around))
            return bench.machine.light
        }
        #expect(shown { _ in } == .connected(lit: false))
        #expect(shown { $0.isReachable = true } == .connected(lit: false, isReachable: true))
        #expect(shown { $0.isConnected = false } == .alone(lit: false, isReachable: true))
        #expect(shown { $0.isReachable = false } == .alone(lit: false))
        #expect(shown { $0.network = .linkLocal } == .linkLocal(lit: false))
        #expect(shown { $0.isPaired = false } == .unpaired(lit: false))
        #expect(shown { $0.network = Surroundings.Network.none } == .noAddress(lit: false))
        #expect(
            shown { $0.network = nil } == .unpaired(lit: false),
            "an unknown network must not show as a missing address")
        bench.feed(.temperature(900))
        bench.feed(.temperature(900))
        #expect(bench.machine.light == .tripped)
        #expect(shown { $0.isPairingOpen = true } == .pairing)
        bench.feed(.temperature(200))
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(1))
        #expect(bench.machine.light == .pairing, "the rest time is over, so the open pairing window shows")
        bench.command(.setRelay(on: false, autoOff: nil))
        bench.press(milliseconds: 100)
        bench.run(for: .seconds(1))
        #expect(bench.machine.light == .resting)
        bench.command(.identify)
        #expect(bench.machine.light == .identify)
        bench.edge(down: true)
        bench.run(for: .seconds(12))
        #expect(bench.machine.light == .nearReset)
    }

    @Test("A change of the relay shows at once during a wink pattern")
    func theRelaysOwnLightShowsAtOnceWhateverWinks() {
        var bench = Bench()
        bench.feed(
            .surroundings(
                Surroundings(isPaired: false, isPairingOpen: false, network: .linkLocal, isConnected: false)))
        bench.run(milliseconds: 7300)
        bench.forget()
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.run(for: .seconds(6))
        #expect(bench.light == [Timed(7300, true)])
    }

    @Test("A plug without a lamp schedules no wake-ups for patterns") func aPlugWithoutALampWakesForNoPattern() {
        var bench = Bench {
            $0.hasLamp = false
            $0.capabilities = [.relay]
        }
        bench.feed(
            .surroundings(
                Surroundings(isPaired: false, isPairingOpen: true, network: .linkLocal, isConnected: false)))
        bench.command(.setRelay(on: true, autoOff: nil))
        bench.run(for: StateKeeper.spacing)
        #expect(bench.light.isEmpty && bench.machine.light == .pairing)
        #expect(
            bench.machine.nextDeadline == Instant.zero + StateKeeper.spacing + Duration.seconds(3600),
            "the only deadline is the write to flash one hour after the previous write")
    }

    @Test("Addresses determine whether the light shows a missing, a link-local or a routable network")
    func whereAddressesReach() {
        func network(_ addresses: [String]) -> Surroundings.Network {
            Surroundings.Network([
                PlugNetwork(
                    name: "eth0", isManaged: true, reason: "", hardwareAddress: "", addresses: ["127.0.0.1", "::1"]),
                PlugNetwork(name: "eth1", isManaged: true, reason: "", hardwareAddress: "", addresses: addresses),
            ])
        }
        #expect(network([]) == .none)
        #expect(network(["169.254.3.4", "fe80::1"]) == .linkLocal)
        #expect(network(["169.254.3.4", "192.0.2.7"]) == .routable)
        #expect(network(["fd00::1"]) == .routable)
    }

    @Test("The light shows the state of the pairing, the network and the sessions")
    func aWholePlugTellsItsSurroundings() {
        var house = House(access: .knowing([]))
        #expect(house.machine.light == .pairing, "a plug without a controller must open its pairing window")
        house.run(for: .seconds(600))
        #expect(house.machine.light == .unpaired(lit: false))
        house.edge(down: true)
        house.run(for: .seconds(6))
        #expect(house.machine.light == .pairing)

        house = House()
        house.feed(.networks([]))
        #expect(house.machine.light == .noAddress(lit: false))
        let network = PlugNetwork(
            name: "wlan0", isManaged: true, reason: "", hardwareAddress: "", addresses: ["192.0.2.1"])
        house.feed(.networks([network]))
        #expect(house.machine.light == .alone(lit: false))
        house.join(desk, name: "Desk")
        #expect(house.machine.light == .connected(lit: false))
        house.press()
        #expect(house.machine.light == .connected(lit: true))
        let place = Reachability.mapped(address: "198.51.100.7", port: 4711, isPublic: true)
        house.feed(.reachability([place]))
        #expect(house.machine.light == .connected(lit: true, isReachable: true))
        house.feed(.reachability([.mapped(address: "10.0.0.1", port: 4711, isPublic: false)]))
        house.controllers = [:]
        house.feed(.server(.closed(desk)))
        #expect(house.machine.light == .alone(lit: true))
    }
}
