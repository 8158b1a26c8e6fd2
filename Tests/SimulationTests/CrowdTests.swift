import Foundation
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN
import Testing

/// Many hosts that all start in the same second, and two links that are joined; three of ten packets never arrive. Everybody gets
/// a name of their own and is found, without a storm.
@Suite struct CrowdTests {
    struct Broken: Error, CustomStringConvertible { let description: String }

    /// A thousand take minutes: only where thousands of houses are asked for. Else smaller crowds, some more of them.
    private static let plugs = isFull ? 1000 : 100
    private static let seeds = plan.seeds.prefix(isFull ? 1 : 4)
    private static let isFull = plan.seeds.count >= 1000
    private static let plan = SeedPlan(environment: ProcessInfo.processInfo.environment)
    private static let controllers = 5
    private static let loss = 0.3
    /// The longest interval between two queries of a browse: within it everything is asked for that was missed.
    private static let interval = Duration.seconds(3600)
    /// How long a record is believed that is not heard again.
    private static let life = Duration.seconds(4500)
    /// Of all that the controllers should know. A record is gone when its four refreshes (RFC 6762 §5.2) fail, each because the
    /// query was lost or the answer: 0.51 to the fourth, one in fifteen, for a browser that is alone. Then it is missing until
    /// the next query of the browse. That is inherent in the numbers of the RFC; but everybody hears the answers to everybody.
    private static let mostMissing = 0.02
    /// Of each plug in more than two hours of losses. Nearly all are responses, to a few hundred queries of the browsers: whoever is
    /// not among the known answers gives one. A plug among a thousand gives four times as many as one among a hundred.
    /// Half of them had to take another name, and try their own four times in this time.
    private static let mostPackets = isFull ? 85 : 34

    /// Three of ten plugs are called Lamp and two Plug; a twentieth of the hosts is called plug.
    private static func members() throws -> [ServiceRegistration?] {
        try (0..<plugs).map { number in
            let name = number % 10 < 3 ? "Lamp" : number % 10 < 5 ? "Plug" : "Device \(number)"
            return try ServiceRegistration(
                name: name, type: CrowdMember.type, hostName: number % 20 == 7 ? "plug" : "plug-\(number)",
                port: UInt16(2000 + number), txt: TXTRecord(["txtvers": "1", "id": "\(number)"]))
        } + Array(repeating: nil, count: controllers)
    }

    @Test(arguments: seeds) func hostsThatStartTogetherAllGetNamesAndAreFound(seed: UInt64) throws {
        var crowd = Crowd(seed: seed, loss: Self.loss, try Self.members())
        crowd.run(until: .zero + .seconds(120))
        // Seven packets of each claim, three more for each further name that is tried.
        try expect(crowd.sent.total <= 25 * Self.plugs, "\(crowd.sent) at the start")
        try expect(crowd.busiestSecond <= 4 * Self.plugs, "\(crowd.busiestSecond) packets in a second")
        try checkNames(crowd, apart: false)
        try live(&crowd)
    }

    @Test(arguments: seeds) func twoLinksOfTheSameNamesAreJoined(seed: UInt64) throws {
        var crowd = Crowd(seed: seed, try Self.members())
        crowd.groups = { $0 % 2 }
        crowd.run(until: .zero + .seconds(120))
        try checkNames(crowd, apart: true)
        crowd.groups = nil
        crowd.loss = Self.loss
        try live(&crowd)
    }

    /// Two hours of losses, then the life of a record without.
    private func live(_ crowd: inout Crowd) throws {
        var before = crowd.sent
        crowd.run(until: crowd.now + Self.interval)
        // From here on nobody is new to anybody.
        let end = crowd.now + Self.life
        while crowd.now < end {
            crowd.run(until: crowd.now + .seconds(100))
            try checkMissing(crowd)
        }
        var sent = crowd.sent - before
        try expect(sent.total <= Self.mostPackets * Self.plugs, "\(sent) while many were lost")
        before = crowd.sent
        crowd.loss = 0
        // Nobody is told that links were joined, and what all browsers know nobody repeats (RFC 6762 §7.1). So two hosts of one name
        // hear of each other when browsers refresh its TXT record, once in its life, unless just those answers are lost.
        crowd.run(until: crowd.now + Self.life)
        sent = crowd.sent - before
        try expect(sent.total <= 10 * Self.plugs, "\(sent) in a life without losses")
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
