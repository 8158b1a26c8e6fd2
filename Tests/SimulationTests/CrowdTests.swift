import Foundation
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN
import Testing

/// Starts many hosts within one second, on one link or on two links that are joined later. Three of ten packets are
/// lost, in the second test only after the links are joined. Each host must get a unique name and be found, without a
/// storm.
@Suite struct CrowdTests {
    struct Broken: Error, CustomStringConvertible { let description: String }

    /// A crowd of 1,000 takes minutes, so it runs only if at least 1,000 seeds are requested. Otherwise up to four
    /// crowds of 100 run.
    private static let plugs = isFull ? 1000 : 100
    private static let seeds = plan.seeds.prefix(isFull ? 1 : 4)
    private static let isFull = plan.seeds.count >= 1000
    private static let plan = SeedPlan(environment: ProcessInfo.processInfo.environment)
    private static let controllers = 5
    private static let loss = 0.3
    /// The longest interval between two queries of a browse, which recover all missed services.
    private static let interval = Duration.seconds(3600)
    /// The lifetime of a record that is not received again.
    private static let life = Duration.seconds(4500)
    /// The share of services that may be missing at the controllers. A record expires when its four refreshes (RFC 6762
    /// §5.2) fail because the query or the answer was lost. For a single browser the probability is 0.51 to the fourth,
    /// one in fifteen. The service is then missing until the next query of the browse. Here the share is smaller,
    /// because every browser also receives the answers to the other browsers.
    private static let mostMissing = 0.02
    /// The packets per plug in more than two hours of losses. Nearly all are responses to a few hundred queries: each
    /// plug that is not among the known answers sends one. In a crowd of a thousand, a plug sends more responses than
    /// in a crowd of a hundred. Half of the plugs had to change their names, and each retries its original name four
    /// times in this time.
    private static let mostPackets = isFull ? 85 : 34

    /// Returns the plugs, then a nil per controller. Three of ten plugs have the name Lamp and two of ten the name
    /// Plug. A twentieth of the plugs has the host name plug.
    private static func members() throws -> [ServiceRegistration?] {
        try (0..<plugs).map { number in
            let name = number % 10 < 3 ? "Lamp" : number % 10 < 5 ? "Plug" : "Device \(number)"
            return try ServiceRegistration(
                name: name, type: CrowdMember.type, hostName: number % 20 == 7 ? "plug" : "plug-\(number)",
                port: UInt16(2000 + number), txt: TXTRecord(["txtvers": "1", "id": "\(number)"]))
        } + Array(repeating: nil, count: controllers)
    }

    @Test("Hosts that start together all get unique names and are found", arguments: seeds)
    func hostsThatStartTogetherAllGetNamesAndAreFound(seed: UInt64) throws {
        var crowd = Crowd(seed: seed, loss: Self.loss, try Self.members())
        crowd.run(until: .zero + .seconds(120))
        // Seven packets for each claim, and three more for each additional name.
        try expect(crowd.sent.total <= 25 * Self.plugs, "\(crowd.sent) at the start")
        try expect(crowd.busiestSecond <= 4 * Self.plugs, "\(crowd.busiestSecond) packets in one second")
        try checkNames(crowd, apart: false)
        try live(&crowd)
    }

    @Test(
        "When two links whose hosts have the same names are joined, all hosts get unique names and are found",
        arguments: seeds)
    func twoLinksOfTheSameNamesAreJoined(seed: UInt64) throws {
        var crowd = Crowd(seed: seed, try Self.members())
        crowd.groups = { $0 % 2 }
        crowd.run(until: .zero + .seconds(120))
        try checkNames(crowd, apart: true)
        crowd.groups = nil
        crowd.loss = Self.loss
        try live(&crowd)
    }

    /// Runs more than two hours with losses, then the lifetime of a record without losses.
    private func live(_ crowd: inout Crowd) throws {
        var before = crowd.sent
        crowd.run(until: crowd.now + Self.interval)
        // By now every controller has received the records of nearly every plug, so few services may be missing.
        let end = crowd.now + Self.life
        while crowd.now < end {
            crowd.run(until: crowd.now + .seconds(100))
            try checkMissing(crowd)
        }
        var sent = crowd.sent - before
        try expect(sent.total <= Self.mostPackets * Self.plugs, "\(sent) were sent during the losses")
        before = crowd.sent
        crowd.loss = 0
        // Hosts are not notified when links are joined, and records that all browsers know are not repeated (RFC 6762
        // §7.1). Two hosts with one name therefore detect each other when browsers refresh the TXT record. That happens
        // once in its lifetime, unless those answers are lost.
        crowd.run(until: crowd.now + Self.life)
        sent = crowd.sent - before
        try expect(sent.total <= 10 * Self.plugs, "\(sent) in a record's lifetime without losses")
        crowd.resolveAll()
        crowd.run(until: crowd.now + .seconds(20))
        try checkNames(crowd, apart: false)
        try checkFound(crowd)
    }

    private func checkMissing(_ crowd: Crowd) throws {
        let expected = Set(crowd.members.compactMap(\.registered))
        let missing = crowd.members.filter { $0.wanted == nil }.reduce(0) { sum, controller in
            sum + expected.subtracting(controller.found.keys).count
        }
        let share = Double(missing) / Double(Self.plugs * Self.controllers)
        try expect(share <= Self.mostMissing, "\(missing) services are missing at \(crowd.now)")
    }

    private func checkNames(_ crowd: Crowd, apart: Bool) throws {
        var owners: [String: Int] = [:]
        for member in crowd.members where member.wanted != nil {
            guard let name = member.registered else { throw Broken(description: "host \(member.number) has no name") }
            let key = apart ? "\(name) on link \(member.number % 2)" : name
            if let other = owners.updateValue(member.number, forKey: key) {
                throw Broken(description: "hosts \(other) and \(member.number) are both \"\(name)\"")
            }
        }
    }

    private func checkFound(_ crowd: Crowd) throws {
        let plugs = crowd.members.filter { $0.wanted != nil }
        for controller in crowd.members where controller.wanted == nil {
            let names = Set(controller.found.keys)
            let expected = Set(plugs.compactMap(\.registered))
            try expect(
                names == expected,
                """
                controller \(controller.number) misses \(expected.subtracting(names).sorted().prefix(5)) and has \
                \(names.subtracting(expected).sorted().prefix(5)) too many
                """)
            for plug in plugs {
                let service = plug.registered.flatMap { controller.found[$0] ?? nil }
                try expect(
                    service?.port == plug.wanted?.port
                        && service?.addresses.map(\.address) == [CrowdMember.address(of: plug.number)],
                    "host \(plug.number) is resolved as \(service.map { "\($0)" } ?? "nothing")")
            }
        }
    }

    private func expect(_ isTrue: Bool, _ reason: @autoclosure () -> String) throws {
        if !isTrue { throw Broken(description: reason()) }
    }
}
