import Foundation
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN
import Testing

/// Thousands of packets, and no storm: a thousand hosts that all start in the same second.
@Suite struct CrowdTests {
    struct Broken: Error, CustomStringConvertible { let description: String }

    private static let plugs = 1000
    private static let controllers = 5
    /// The longest interval between two queries of a browse, then the life of a record that was not heard again, and what the
    /// names take that collide only then.
    private static let quiet = Duration.seconds(3600 + 4500 + 600)

    /// Three of ten plugs are called Lamp and two Plug; a twentieth of the hosts is called plug.
    private static func members() throws -> [ServiceRegistration?] {
        try (0..<plugs).map { number in
            let name = number % 10 < 3 ? "Lamp" : number % 10 < 5 ? "Plug" : "Device \(number)"
            return try ServiceRegistration(
                name: name, type: CrowdMember.type, hostName: number % 20 == 7 ? "plug" : "plug-\(number)",
                port: UInt16(2000 + number), txt: TXTRecord(["txtvers": "1", "id": "\(number)"]))
        } + Array(repeating: nil, count: controllers)
    }

    @Test func aThousandHostsThatStartTogetherAllGetNamesAndAreFound() throws {
        var crowd = Crowd(seed: seed, loss: 0.3, try Self.members())
        crowd.run(until: .zero + .seconds(120))
        report("started", crowd)
        // Seven packets of each claim; those of one name meet a dozen times.
        try expect(crowd.sent <= 40 * Self.plugs, "\(crowd.sent) packets at the start")
        try expect(crowd.busiestSecond <= 5 * Self.plugs, "\(crowd.busiestSecond) packets in a second")
        try settle(&crowd)
    }

    @Test func twoLinksOfTheSameNamesAreJoined() throws {
        var crowd = Crowd(seed: seed, try Self.members())
        crowd.groups = { $0 % 2 }
        crowd.run(until: .zero + .seconds(120))
        report("apart", crowd)
        try checkNames(crowd, apart: true)
        crowd.groups = nil
        crowd.loss = 0.3
        try settle(&crowd)
    }

    private var seed: UInt64 { SeedPlan(environment: ProcessInfo.processInfo.environment).seeds[0] }

    private func settle(_ crowd: inout Crowd) throws {
        let before = crowd.sent
        crowd.run(until: crowd.now + Self.quiet)
        report("quiet", crowd)
        try expect(crowd.sent - before <= 20 * Self.plugs, "\(crowd.sent - before) packets in the quiet time")
        crowd.loss = 0
        crowd.resolveAll()
        crowd.run(until: crowd.now + .seconds(20))
        report("resolved", crowd)
        try checkNames(crowd, apart: false)
        try checkFound(crowd)
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
                    service?.port == plug.wanted?.port && service?.addresses.map(\.address) == [plug.address],
                    "host \(plug.number) is resolved as \(service.map { "\($0)" } ?? "nothing")")
            }
        }
    }

    private func expect(_ isTrue: Bool, _ reason: @autoclosure () -> String) throws {
        if !isTrue { throw Broken(description: reason()) }
    }

    private func report(_ what: String, _ crowd: Crowd) {
        print("crowd", what, crowd.now, crowd.sent, crowd.busiestSecond, crowd.delivered)
    }
}
