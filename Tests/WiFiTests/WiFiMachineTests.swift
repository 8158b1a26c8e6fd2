import Foundation
import AddressConfiguration
import PlugModel
import ProtocolCore
import SimulatedLAN
import Testing

@testable import WiFi

/// The plug joins networks with a simulated wpa_supplicant.
@Suite struct WiFiMachineTests {
    private func started(_ networks: [WiFiNetwork], around: [WiFiNetwork], refusing command: String? = nil) -> Bench {
        var bench = Bench()
        bench.supplicant.refuses = command
        for network in networks.reversed() { bench.know(network) }
        bench.supplicant.accessPoints = around.map { .init($0) }
        bench.restart()
        return bench
    }

    @Test("A plug without a network opens its own one after five seconds") func firstSetup() {
        var bench = started([], around: [home])
        bench.run(4)
        #expect(!bench.serves && bench.supplicant.served == nil)
        bench.run(6)
        #expect(bench.serves && bench.supplicant.served == label.name.description)
        #expect(bench.machine.report.phase == .setup)
        #expect(bench.machine.setupPage?.found.map(\.name) == [home.name])
        // It stays open.
        bench.run(7200)
        #expect(bench.serves && bench.faults.isEmpty)
    }

    @Test("A plug with a cable does not open its own network, except on request") func cable() {
        var bench = started([], around: [])
        bench.handle(.wired(true))
        bench.run(600)
        #expect(!bench.serves && bench.machine.report.phase == .searching)
        bench.handle(.setupRequested)
        bench.run(20)
        #expect(bench.serves)
        bench.handle(.wired(false))
        bench.handle(.wired(true))
        #expect(bench.serves && bench.faults.isEmpty)
    }

    @Test("A cable closes the network that the plug opened by itself") func cableLater() {
        var bench = started([], around: [])
        bench.run(20)
        #expect(bench.serves)
        bench.handle(.wired(true))
        bench.run(1)
        #expect(!bench.serves && bench.supplicant.served == nil && bench.faults.isEmpty)
    }

    @Test("A submitted network is joined, stored and joined again after a restart of wpa_supplicant and of plugd")
    func submitted() {
        var bench = started([], around: [home])
        bench.run(20)
        bench.handle(.submitted(home, country: WiFiCountry(rawValue: "DE"), address: nil))
        #expect(bench.machine.report.phase == .trying(home.name) && bench.machine.setupPage?.isTrying == home.name)
        bench.run(1)
        #expect(bench.serves, "the answer to the form is still on its way")
        bench.run(10)
        #expect(!bench.serves && bench.joined == home.name)
        #expect(bench.flash.list == [home] && bench.flash.country == WiFiCountry(rawValue: "DE"))
        bench.supplicant.crash()
        bench.run(40)
        #expect(bench.machine.report.phase == .off)
        bench.supplicant.isRunning = true
        bench.run(30)
        #expect(bench.joined == home.name)
        let commands = bench.supplicant.commands.count
        bench.restart()
        #expect(bench.joined == home.name && bench.faults.isEmpty)
        // The connection survives, because wpa_supplicant already has the networks.
        #expect(bench.supplicant.commands.dropFirst(commands).contains { $0.hasPrefix("REMOVE") } == false)
    }

    @Test("The address that an owner chose belongs to one network, also after a restart of plugd") func fixedAddress()
        throws
    {
        let address = try FixedAddress("192.168.1.20/24", router: "192.168.1.1", nameServers: [])
        var bench = started([office], around: [home])
        bench.handle(.setupRequested)
        bench.run(40)
        bench.handle(.submitted(home, country: nil, address: address))
        bench.run(20)
        #expect(bench.joined == home.name && bench.address == address && bench.flash.addresses == [home.name: address])
        bench.supplicant.accessPoints = [.init(office)]
        bench.supplicant.lookAgain(bench.now)
        bench.run(20)
        #expect(bench.joined == office.name && bench.address == nil)
        bench.supplicant.accessPoints = [.init(home)]
        bench.supplicant.lookAgain(bench.now)
        bench.run(20)
        bench.restart()
        #expect(bench.joined == home.name && bench.address == address)
        // A later request without the setup page keeps the address.
        _ = bench.ask(.join(home, country: nil))
        bench.run(20)
        #expect(bench.joined == home.name && bench.address == address && bench.faults.isEmpty)
    }

    @Test("A wrong password is reported, nothing is stored, and the plug's own network opens again")
    func wrongPassword() {
        var bench = started([], around: [home])
        bench.run(20)
        bench.handle(
            .submitted(WiFiNetwork(home.name, password: WiFiPassword("wrong horse")!), country: nil, address: nil))
        bench.run(10)
        #expect(bench.serves && bench.flash.list.isEmpty)
        let failure = WiFiReport.Failure(home.name, .wrongPassword)
        #expect(bench.machine.report.failure == failure && bench.machine.setupPage?.failure == failure)
        #expect(bench.notices.contains(.failed(failure)) && bench.faults.isEmpty)
    }

    @Test("A neighbour's network with the same name does not hide the right one") func sameName() {
        var bench = started([], around: [home])
        bench.supplicant.accessPoints.append(
            .init(name: "home", password: "of a neighbour", address: "02:00:00:00:02:00", signal: -30))
        bench.run(20)
        bench.supplicant.accessPoints.reverse()
        bench.handle(.submitted(home, country: nil, address: nil))
        bench.run(8)
        // wpa_supplicant ignores the neighbour's access point after its first attempt.
        bench.supplicant.accessPoints.reverse()
        bench.run(15)
        #expect(bench.joined == home.name && bench.faults.isEmpty)
    }

    @Test(
        "Each reason of a failure is reported",
        arguments: [(WiFiReport.Reason.notFound, false, true), (.noAnswer, true, false), (.notStored, true, true)])
    func reasons(_ reason: WiFiReport.Reason, _ isThere: Bool, _ answers: Bool) {
        var bench = started([], around: isThere ? [home] : [])
        if !answers { bench.supplicant.mutes() }
        bench.isFlashBroken = reason == .notStored
        bench.run(20)
        bench.handle(.submitted(home, country: nil, address: nil))
        bench.run(43)
        #expect(bench.machine.report.failure == WiFiReport.Failure(home.name, reason))
        #expect(bench.flash.list.isEmpty && bench.faults.isEmpty)
    }

    @Test("The network with the highest priority is joined, and the others after it disappeared") func priorities() {
        var bench = started([home, office], around: [office, home])
        bench.run(20)
        #expect(bench.joined == home.name)
        bench.supplicant.accessPoints = [.init(office)]
        bench.supplicant.lookAgain(bench.now)
        bench.run(20)
        #expect(bench.joined == office.name)
        #expect(bench.notices.contains(.lost(home.name)) && bench.faults.isEmpty)
    }

    @Test("Without a known network the plug's own one opens and closes in turns") func turns() {
        var bench = started([home], around: [])
        bench.run(290)
        #expect(!bench.serves)
        bench.run(30)
        #expect(bench.serves)
        bench.run(300)
        #expect(!bench.serves)
        bench.supplicant.accessPoints = [.init(home)]
        bench.run(30)
        #expect(bench.joined == home.name)
        bench.run(1200)
        #expect(!bench.serves && bench.faults.isEmpty)
    }

    @Test("After a change of the router's password the plug's own network opens within a minute or two")
    func changedPassword() {
        var bench = started([home], around: [])
        bench.supplicant.accessPoints = [.init(name: "home", password: "a new password")]
        bench.run(90)
        #expect(bench.serves && bench.faults.isEmpty)
    }

    @Test("While a browser uses the setup page, the network stays open") func visited() {
        var bench = started([home], around: [])
        bench.run(330)
        for _ in 0..<10 {
            #expect(bench.serves)
            bench.run(200)
            bench.handle(.visited)
        }
        bench.run(310)
        #expect(!bench.serves && bench.faults.isEmpty)
    }

    @Test("The button opens the setup for 15 minutes, and the plug then joins its network again") func button() {
        var bench = started([home], around: [home])
        bench.run(20)
        bench.handle(.setupRequested)
        bench.run(10)
        #expect(bench.serves && bench.joined == nil)
        bench.run(900)
        #expect(!bench.serves && bench.joined == home.name && bench.faults.isEmpty)
    }

    @Test("An owner's request to join is answered before the plug leaves its network, and fails back to it")
    func owner() throws {
        var bench = started([home], around: [home])
        bench.run(20)
        let number = bench.ask(.join(office, country: nil))
        #expect(try bench.answers[number]?.get().phase == .trying(office.name) && bench.joined == nil)
        let second = bench.ask(.join(home, country: nil))
        _ = second
        bench.run(1)
        #expect(bench.supplicant.joined == "home")
        bench.run(60)
        #expect(bench.joined == home.name && bench.faults.isEmpty)
        let state = bench.ask(.ask)
        let report = try #require(try bench.answers[state]?.get())
        guard case .joined(let link) = report.phase else {
            Issue.record("\(report)")
            return
        }
        #expect(link.signal == -47 && link.megahertz == 2437)
    }

    @Test("A removed network is forgotten, and a name that is not stored is refused") func removal() throws {
        var bench = started([home, office], around: [home, office])
        bench.run(20)
        let unknown = bench.ask(.remove(WiFiName("other")!))
        #expect(throws: Refusal.self) { try bench.answers[unknown]?.get() }
        let number = bench.ask(.remove(home.name))
        #expect(try bench.answers[number]?.get().networks == [office.name])
        bench.run(20)
        #expect(bench.flash.list == [office] && bench.joined == office.name && bench.faults.isEmpty)
    }

    @Test("The radio does not sleep while a controller is connected") func powerSaving() {
        var bench = started([home], around: [home])
        bench.run(20)
        #expect(bench.supplicant.savesPower)
        bench.handle(.sessions(true))
        #expect(!bench.supplicant.savesPower)
        bench.handle(.sessions(false))
        #expect(bench.supplicant.savesPower && bench.faults.isEmpty)
    }

    @Test(
        "After a refused command the plug tries again, and a refused option has no effect",
        arguments: ["SET_NETWORK 0 ssid", "SET_NETWORK 0 bgscan", "ADD_NETWORK", "ATTACH", "ENABLE_NETWORK"])
    func refused(_ command: String) {
        var bench = started([home], around: [home], refusing: command)
        bench.run(20)
        #expect((bench.joined == home.name) == (command == "SET_NETWORK 0 bgscan"))
        bench.supplicant.refuses = nil
        bench.run(60)
        #expect(bench.joined == home.name && bench.faults.isEmpty)
        let secret = "correct horse"
        #expect(!bench.notices.contains { "\($0)".contains(secret) }, "the log has no password")
    }

    @Test(
        "In any order of events the plug ends in a known network, or in its own one", arguments: seeds)
    func anyOrder(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var bench = started(Bool.random(using: &random) ? [home] : [], around: [home])
        for _ in 0..<60 {
            bench.meddle(&random)
            bench.run(Double.random(in: 0...40, using: &random))
            let radio = bench.supplicant
            #expect(!(bench.serves && radio.joined != nil), "seed \(seed): serves in a foreign network")
        }
        bench.supplicant.isRunning = true
        bench.supplicant.refuses = nil
        bench.isFlashBroken = false
        bench.supplicant.accessPoints = [.init(home)]
        bench.handle(.wired(false))
        bench.supplicant.lookAgain(bench.now)
        bench.run(2400)
        let known = bench.flash.list
        // With other networks only, the plug's own one opens and closes in turns.
        for _ in 0..<70 where !known.isEmpty && !known.contains(home) && !bench.serves { bench.run(10) }
        #expect(
            known.contains(home) ? bench.joined == home.name : bench.serves,
            "seed \(seed): \(bench.machine.mode), stored \(bench.flash.list.map(\.name)), \(bench.supplicant.commands.suffix(20))"
        )
        if let name = bench.joined { #expect(bench.address == bench.machine.networks.addresses[name], "seed \(seed)") }
        #expect(bench.faults.isEmpty, "seed \(seed)")
        #expect(bench.unansweredRequests.isEmpty, "seed \(seed)")
    }
}

extension Bench {
    /// Something happens to the plug, to its radio or to the networks around it.
    fileprivate mutating func meddle(_ random: inout SeededRandom) {
        switch Int.random(in: 0..<14, using: &random) {
        case 0: handle(.setupRequested)
        case 1: handle(.wired(Bool.random(using: &random)))
        case 2: handle(.submitted(home, country: nil, address: nil))
        case 3:
            let address = try? FixedAddress("192.168.1.20/24", router: "", nameServers: [])
            handle(.submitted(office, country: WiFiCountry(rawValue: "SE"), address: address))
        case 4: _ = ask(.ask)
        case 5: _ = ask(.join(Bool.random(using: &random) ? home : office, country: nil))
        case 6: _ = ask(.remove(Bool.random(using: &random) ? home.name : office.name))
        case 7: _ = ask(.setUp)
        case 8:
            supplicant.accessPoints = [home, office].filter { _ in Bool.random(using: &random) }.map { .init($0) }
            supplicant.lookAgain(now)
        case 9:
            supplicant.accessPoints = [.init(name: "home", password: "changed password")]
            supplicant.lookAgain(now)
        case 10: supplicant.isRunning ? supplicant.crash() : (supplicant.isRunning = true)
        case 11: supplicant.refuses = supplicant.refuses == nil ? "SET_NETWORK 0" : nil
        case 12: isFlashBroken.toggle()
        default: handle(.sessions(Bool.random(using: &random)))
        }
    }
}

private let seeds = SeedPlan(environment: ProcessInfo.processInfo.environment).seeds
