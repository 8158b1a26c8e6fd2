import DNSWire
internal import Glibc
import LinuxNetwork
import LinuxSystem
import MulticastDNS
import Processes
import ProtocolCore
import ServiceDiscovery
public import SleepClient

/// Wakes machines by magic packets, and waits until they answer.
///
/// A machine is awake when its own card answers ARP or neighbour discovery for one of its addresses. This needs no open
/// port and no privilege, and is not fooled by a sleep proxy, which answers with its own card. The kernel asks because
/// a datagram is sent to the address; without a known address, the addresses under which the kernel knows the card
/// are used. The kernel does not ask again for up to a minute after an answer, so a machine is also awake when it
/// refuses a datagram.
public enum Waker {
    /// The time in which a machine must answer. A machine that was turned off needs this long to boot.
    public static let limit = Duration.seconds(60)

    /// Wakes a machine.
    ///
    /// - Returns: the outcome, or nil if the task was cancelled.
    /// - Throws: ``WakeFault`` if no interface can send the magic packet.
    public static func wake(_ machine: KnownMachine, limit: Duration = limit) async throws(WakeFault) -> WakeOutcome? {
        let result = await DedicatedThread.result { interruption in run(machine, limit, interruption) }
        guard let result else { throw WakeFault(description: "no thread is available") }
        return try result.get()
    }

    private static func run(
        _ machine: KnownMachine, _ limit: Duration, _ interruption: PollWaker
    ) -> Result<WakeOutcome?, WakeFault> {
        var attempt = WakeAttempt(now: BootClock.now, limit: limit)
        var events: [WakeAttempt.Event] = []
        var probes: [IPAddress: DatagramProbe] = [:]
        var hasSent = false
        while true {
            if events.isEmpty {
                guard let deadline = attempt.nextDeadline else { return .success(nil) }
                if isInterrupted(interruption, until: deadline) { return .success(nil) }
                events = [.deadlineReached]
            }
            for action in attempt.handle(events.removeFirst(), now: BootClock.now) {
                switch action {
                case .send:
                    hasSent = send(machine) || hasSent
                    guard hasSent else {
                        return .failure(WakeFault(description: "no interface can send the magic packet"))
                    }
                case .check: events += check(machine, &probes).map { .answered(ago: $0) }
                case .finished(let outcome): return .success(outcome)
                }
            }
        }
    }

    /// Waits, and returns true if the task was cancelled.
    private static func isInterrupted(_ interruption: PollWaker, until deadline: Instant) -> Bool {
        let wait = max(0, (deadline - BootClock.now).wholeNanoseconds + 999_999) / 1_000_000
        var polled = pollfd(fd: interruption.reading, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, CInt(clamping: wait)) > 0
    }

    /// Sends the magic packet on each interface, or only on the configured one. Returns false if none could send it.
    private static func send(_ machine: KnownMachine) -> Bool {
        let payload = MagicPacket(card: machine.card, password: machine.password).payload
        var hasSent = false
        for (index, name) in interfaces where machine.interface == nil || machine.interface == name {
            for target in targets(of: index) {
                hasSent =
                    SingleDatagram.send(payload, to: target, port: MagicPacket.port, interface: index) || hasSent
            }
        }
        return hasSent
    }

    private static var interfaces: [(index: UInt32, name: String)] {
        guard let list = if_nameindex() else { return [] }
        defer { if_freenameindex(list) }
        var found: [(UInt32, String)] = []
        var entry = list
        while entry.pointee.if_index != 0, let name = entry.pointee.if_name {
            found.append((entry.pointee.if_index, String(cString: name)))
            entry += 1
        }
        return found
    }

    /// Returns the broadcast addresses of the interface, or ff02::1 if it has none. Empty for the loopback interface
    /// and for an interface without usable addresses.
    private static func targets(of interface: UInt32) -> [IPAddress] {
        guard let addresses = try? RouteControl().addresses(of: Int32(bitPattern: interface)) else { return [] }
        let own = addresses.filter(\.isUsable).compactMap { address in
            IPAddress(bytes: address.bytes).map { ($0, address.prefixLength) }
        }
        guard !own.contains(where: { $0.0.isLoopback }) else { return [] }
        let broadcasts = own.compactMap { address, length -> IPAddress? in
            guard case .v4(let host) = address, length < 31 else { return nil }
            return .v4(IPv4Address(rawValue: host.rawValue | (UInt32.max >> UInt32(length))))
        }
        guard broadcasts.isEmpty else { return broadcasts }
        return own.isEmpty ? [] : [.v6(IPv6Address(high: 0xFF02 << 48, low: 1))]
    }

    /// Returns the times since the machine last answered, and asks it again.
    private static func check(_ machine: KnownMachine, _ probes: inout [IPAddress: DatagramProbe]) -> [Duration] {
        let neighbours = ((try? RouteControl().neighbours()) ?? []).filter { $0.card == machine.card }
        var addresses = neighbours.map { ($0.address, UInt32(bitPattern: $0.interface)) }
        for address in machine.addresses where !addresses.contains(where: { $0.0 == address }) {
            addresses.append((address, 0))
        }
        for (address, interface) in addresses {
            // The discard port: the content does not matter.
            _ = SingleDatagram.send([0], to: address, port: MagicPacket.port, interface: interface)
        }
        var answers = neighbours.map(\.confirmed)
        for address in Set(neighbours.map(\.address)) {
            probes[address] = probes[address] ?? DatagramProbe(address)
            if probes[address]?.isRefused() == true { answers.append(.zero) }
        }
        return answers
    }
}

/// The reason why a magic packet cannot be sent.
public struct WakeFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, for users.
    public let description: String
}
