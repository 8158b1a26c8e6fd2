import Broker
import BrokerConfiguration
import Daemon
import Foundation
import LinuxSystem
import NIOPosix
import PlugClient
import PlugModel
import ProtocolCore
import Synchronization

/// Many houses in this process. Each has its own `BrokerDoor`, with a journal on disk and a connection. Plugs are
/// simulated: the functions of this class pass reports about them to the doors.
final class SimulatedHouses: Sendable {
    struct Plug: Sendable {
        var name: String
        var id: PlugID
        var house: Int
    }

    let plugs: [Plug]
    private let doors: [BrokerDoor]
    /// The houses that have connected to a broker.
    private let reached: Reached
    private let running: [Task<Void, Never>]

    /// - Parameter perHouse: the number of plugs of each house.
    init(
        _ count: Int, perHouse: Int, at cluster: EjabberdCluster, folder: String, on group: MultiThreadedEventLoopGroup
    )
        throws
    {
        let password = folder + "/password"
        try Data(EjabberdCluster.password.utf8).write(to: URL(filePath: password))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: password)
        var random = SeededRandom(seed: 1)
        plugs = (0..<count).flatMap { house in
            (0..<perHouse).map { Plug(name: "Plug \($0)", id: PlugID(drawnFrom: &random), house: house) }
        }
        let reached = Reached()
        self.reached = reached
        doors = try (0..<count).map { house in
            // The lists of hosts begin with different nodes, so that the houses are spread over the nodes.
            let first = house % cluster.addresses.count
            let order = cluster.addresses[first...] + cluster.addresses[..<first]
            let text = """
                [broker]
                host = [\(order.map { "\"\($0)\"" }.joined(separator: ", "))]
                tls = "off"
                user = "\(EjabberdCluster.user)"
                password_file = "\(password)"
                prefix = "fleet"
                house = "\(house)"
                [home_assistant]
                discovery = false
                """
            let settings = try BrokerSettings(Array(text.utf8), file: "broker.toml", home: "/")
            return try BrokerDoor(
                settings, directory: "\(folder)/house\(house)", paired: { nil }, on: group.next()
            ) { words in
                if words.hasSuffix("is connected") { reached.houses.withLock { _ = $0.insert(house) } }
            }
        }
        running = doors.map { door in
            Task { await door.run { _, _, _ in throw Refusal(.unsupported, "not used here") } }
        }
    }

    /// The number of houses that have connected to a broker so far.
    var connected: Int { reached.houses.withLock { $0.count } }

    /// Reports all plugs as connected, with a state each.
    func begin() async {
        for plug in plugs {
            await tell(.connected(.simulated(plug.id, plug.name)), of: plug)
            await tell(.state(PlugState(relayOn: false)), of: plug)
        }
    }

    /// Switches the relay of a plug: reports an event with this number and a state.
    func turn(_ plug: Plug, _ sequence: SequenceNumber) async {
        let isOn = FleetSubscriber.isOn(at: sequence)
        let event = PlugEvent(
            sequence: sequence, boot: .simulated, time: BootClock.now, kind: .relayChanged(on: isOn, cause: .button))
        await tell(.event(event, age: .zero), of: plug)
        await tell(.state(PlugState(relayOn: isOn)), of: plug)
    }

    private func tell(_ update: PlugUpdate, of plug: Plug) async {
        await doors[plug.house].handle(.report(PlugReport(plug: plug.name, at: .now, update: update)))
    }

    func stop() async {
        for task in running { task.cancel() }
        for task in running { await task.value }
    }
}

private final class Reached: Sendable {
    let houses = Mutex<Set<Int>>([])
}

extension BootID {
    fileprivate static var simulated: BootID {
        guard let boot = BootID(bytes: [UInt8](repeating: 1, count: 16)) else {
            preconditionFailure("a boot id has 16 bytes")
        }
        return boot
    }
}

extension PlugDescription {
    fileprivate static func simulated(_ id: PlugID, _ name: String) -> PlugDescription {
        let clock = ClockMapping(boot: .simulated, plugTime: .zero, asked: .zero, answered: .zero)
        return PlugDescription(
            id: id, name: name, capabilities: [.relay, .button], firmware: "0.1.0", boot: .simulated, clock: clock)
    }
}
