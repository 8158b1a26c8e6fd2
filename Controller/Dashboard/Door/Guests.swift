import LinuxClocks
import NIOCore
import ProtocolCore
import Synchronization

/// The connections of one door: how many there are, of whom, and which of them only wait.
final class Guests: Sendable {
    private struct Guest {
        let channel: any Channel
        /// Nil where no address is limited: at the local socket, and for this machine itself.
        let address: String?
        var idleSince: Instant?
        var task: Task<Void, Never>?
    }

    private let limits: DoorLimits
    /// Both in one, so that whoever is admitted is among those who are dismissed.
    private struct House {
        var guests: [ObjectIdentifier: Guest] = [:]
        /// Whether anybody comes in.
        var isOpen: Bool
    }

    private let house: Mutex<House>

    /// - Parameter isOpen: false where nobody may come in before ``open()``.
    init(_ limits: DoorLimits, isOpen: Bool = true) {
        self.limits = limits
        house = Mutex(House(isOpen: isOpen))
    }

    func open() { house.withLock { $0.isOpen = true } }

    /// False where there is no room. To be called once for each connection, on its loop.
    func admit(_ channel: any Channel) -> Bool {
        let address = channel.remoteAddress.flatMap { $0.isLoopback ? nil : $0.networkOfGuest }
        let id = ObjectIdentifier(channel)
        let (isAdmitted, left) = house.withLock { house -> (Bool, (any Channel)?) in
            guard house.isOpen else { return (false, nil) }
            if let address, house.guests.values.count(where: { $0.address == address }) >= limits.connectionsOfAddress {
                return (false, nil)
            }
            var left: (any Channel)?
            if house.guests.count >= limits.connections {
                let idle = house.guests.compactMap { id, guest in guest.idleSince.map { (id, $0) } }
                guard let (longest, _) = idle.min(by: { $0.1 < $1.1 }) else { return (false, nil) }
                left = house.guests.removeValue(forKey: longest)?.channel
            }
            house.guests[id] = Guest(channel: channel, address: address)
            return (true, left)
        }
        left?.close(promise: nil)
        guard isAdmitted else { return false }
        channel.closeFuture.whenComplete { _ in _ = self.house.withLock { $0.guests.removeValue(forKey: id) } }
        return true
    }

    func note(_ id: ObjectIdentifier, isIdle: Bool) {
        house.withLock { house in
            guard let guest = house.guests[id], (guest.idleSince != nil) != isIdle else { return }
            house.guests[id]?.idleSince = isIdle ? BootClock.now : nil
        }
    }

    /// Serves the guest until it goes.
    func serve(_ channel: any Channel, _ body: @escaping @Sendable () async -> Void) {
        let task = Task { await body() }
        let isOpen = house.withLock { house in
            house.guests[ObjectIdentifier(channel)]?.task = task
            return house.isOpen
        }
        // Dismissed between its admission and this.
        if !isOpen { task.cancel() }
    }

    /// Ends all that go on, and cuts off those that do not end. Returns when all have gone.
    func dismiss(within time: Duration) async {
        let all = house.withLock { house in
            house.isOpen = false
            return Array(house.guests.values)
        }
        for guest in all { guest.task?.cancel() }
        for guest in all {
            guest.channel.eventLoop.scheduleTask(in: .nanoseconds(time.wholeNanoseconds)) {
                guest.channel.close(promise: nil)
            }
        }
        for guest in all { try? await guest.channel.closeFuture.get() }
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

    /// Whom to count a guest as: the address, or the IPv6 network of 64 bits, since one machine has as many addresses of it as it
    /// likes.
    var networkOfGuest: String? {
        guard case .v6 = self, let text = ipAddress, !text.hasPrefix("::ffff:") else { return ipAddress }
        let groups = text.prefix { $0 != "%" }.split(separator: ":", omittingEmptySubsequences: false)
        // A gap of zeros within the first four groups ends them.
        return groups.prefix(4).prefix { !$0.isEmpty }.joined(separator: ":") + "::/64"
    }
}
