import LinuxSystem
import NIOCore
import ProtocolCore
import Synchronization

/// The connections of one socket: their channels, tasks and phases.
final class ConnectionTracker: Sendable {
    /// The channels and tasks. One lock protects both, so that ``dismiss(within:)`` ends every admitted connection.
    private struct House {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var tasks: [ObjectIdentifier: Task<Void, Never>] = [:]
        var table: ConnectionTable<ObjectIdentifier>
        /// False while all new connections are rejected.
        var isOpen: Bool
    }

    private let house: Mutex<House>

    /// - Parameter isOpen: false if connections are rejected until ``open()``.
    init(_ limits: DoorLimits, isOpen: Bool = true) {
        house = Mutex(House(table: ConnectionTable(limits), isOpen: isOpen))
    }

    func open() { house.withLock { $0.isOpen = true } }

    /// Admits a connection; false if a limit is reached or if no connections are admitted. Must be called once per
    /// connection, on its event loop.
    func admit(_ channel: any Channel) -> Bool {
        let address = channel.remoteAddress.flatMap { $0.isLoopback ? nil : $0.networkOfGuest }
        let id = ObjectIdentifier(channel)
        let (isAdmitted, left) = house.withLock { house -> (Bool, (any Channel)?) in
            guard house.isOpen else { return (false, nil) }
            switch house.table.admit(id, address: address, now: BootClock.now) {
            case .refused: return (false, nil)
            case .admitted(closing: let victim):
                house.channels[id] = channel
                guard let victim else { return (true, nil) }
                house.tasks[victim] = nil
                return (true, house.channels.removeValue(forKey: victim))
            }
        }
        left?.close(promise: nil)
        guard isAdmitted else { return false }
        channel.closeFuture.whenComplete { _ in
            self.house.withLock { house in
                house.channels[id] = nil
                house.tasks[id] = nil
                house.table.remove(id)
            }
        }
        return true
    }

    func note(_ id: ObjectIdentifier, _ phase: ConnectionTable<ObjectIdentifier>.Phase) {
        house.withLock { $0.table.note(id, phase, now: BootClock.now) }
    }

    /// Counts the connection toward the limits of the request's user.
    ///
    /// - Returns: false if the connections of the user's password, or those of all users who are not owners, have
    ///   reached their limit.
    func seat(_ channel: any Channel, _ holder: SeatHolder) -> Bool {
        house.withLock { $0.table.seat(ObjectIdentifier(channel), holder) }
    }

    /// Runs `body` in a task. ``dismiss(within:)`` cancels the task.
    func serve(_ channel: any Channel, _ body: @escaping @Sendable () async -> Void) {
        let task = Task { await body() }
        let isOpen = house.withLock { house in
            if house.channels[ObjectIdentifier(channel)] != nil { house.tasks[ObjectIdentifier(channel)] = task }
            return house.isOpen
        }
        // The connection was dismissed after its admission.
        if !isOpen { task.cancel() }
    }

    /// Cancels all tasks and closes connections that do not end in time. Returns when all connections are closed.
    func dismiss(within time: Duration) async {
        let all = house.withLock { house in
            house.isOpen = false
            for task in house.tasks.values { task.cancel() }
            return Array(house.channels.values)
        }
        for channel in all {
            channel.eventLoop.scheduleTask(in: .nanoseconds(time.wholeNanoseconds)) { channel.close(promise: nil) }
        }
        for channel in all { try? await channel.closeFuture.get() }
    }
}

extension SocketAddress {
    var isLoopback: Bool {
        switch self {
        case .v4: ipAddress?.hasPrefix("127.") == true
        case .v6: ipAddress == "::1" || ipAddress?.hasPrefix("::ffff:127.") == true
        case .unixDomainSocket: false
        }
    }

    /// The address that counts against limits: the IPv4 address, or the /64 network of an IPv6 address, since one
    /// machine can use every address of its /64 network.
    var networkOfGuest: String? {
        guard case .v6 = self, let text = ipAddress, !text.hasPrefix("::ffff:") else { return ipAddress }
        let groups = text.prefix { $0 != "%" }.split(separator: ":", omittingEmptySubsequences: false)
        // A gap of zeros within the first four groups ends the prefix.
        return groups.prefix(4).prefix { !$0.isEmpty }.joined(separator: ":") + "::/64"
    }
}
