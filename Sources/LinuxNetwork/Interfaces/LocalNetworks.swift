public import DNSWire
public import NIOCore
import Synchronization

/// The networks to which this host is connected without a router in between.
public final class LocalNetworks: Sendable {
    private let prefixes = Mutex<[NetworkPrefix]>([])
    private let following = Mutex<Task<Void, Never>?>(nil)

    private let others: [NetworkPrefix]

    /// Starts to follow the interfaces. Until the first list arrives, only loopback and link-local addresses are local.
    ///
    /// - Parameter others: Networks behind a router that count as local too.
    public init(and others: [NetworkPrefix] = [], on eventLoop: any EventLoop) {
        self.others = others
        let task = Task { [weak self] in
            do {
                for try await list in InterfaceMonitor.interfaces(.every, on: eventLoop) {
                    guard let self else { return }
                    let prefixes = list.flatMap(\.addresses).compactMap(NetworkPrefix.init)
                    self.prefixes.withLock { $0 = prefixes }
                }
            } catch {
                // Without a list, all other addresses count as those of other networks, which is the safe choice.
            }
        }
        following.withLock { $0 = task }
    }

    /// Stops following the interfaces.
    public func stop() { following.withLock { $0 }?.cancel() }

    /// Returns true if the address belongs to this host, to a host on one of its links, or to one of the other
    /// networks.
    public func contain(_ address: SocketAddress) -> Bool {
        (address.ipAddress as IPAddress?).map { contain($0) } ?? true
    }

    /// Returns true if the address belongs to this host, to a host on one of its links, or to one of the other
    /// networks.
    public func contain(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        return address.isLoopback || address.isLinkLocal || others.contains { $0.contains(address) }
            || prefixes.withLock { $0.contains { $0.contains(address) } }
    }
}

/// The first bits of the addresses of a network.
public struct NetworkPrefix: Hashable, Sendable {
    private let bytes: [UInt8]
    private let length: Int

    /// The network of an interface's address; nil if its length is not valid.
    init?(_ address: LinuxAddress) {
        bytes = address.bytes
        length = Int(address.prefixLength)
        // With 0 bits, every address would be local.
        guard length > 0, length <= 8 * bytes.count else { return nil }
    }

    /// Parses an address and its number of bits, such as "192.0.2.0/24". Returns nil for other text, and if the address
    /// has bits after the prefix.
    public init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let address = IPAddress(text: String(parts[0])), let length = UInt8(parts[1]),
            let prefix = Self(LinuxAddress(bytes: address.bytes, prefixLength: length)), prefix.endsWithZeros
        else { return nil }
        self = prefix
    }

    /// True if all bits after the prefix are zero.
    private var endsWithZeros: Bool {
        let rest = length % 8
        let last = rest == 0 ? 0 : bytes[length / 8] << UInt8(rest)
        return last == 0 && bytes.dropFirst((length + 7) / 8).allSatisfy { $0 == 0 }
    }

    func contains(_ address: IPAddress) -> Bool {
        let other = address.bytes
        guard other.count == bytes.count else { return false }
        let whole = length / 8
        guard other.prefix(whole) == bytes.prefix(whole) else { return false }
        let rest = length % 8
        return rest == 0 || (other[whole] ^ bytes[whole]) >> UInt8(8 - rest) == 0
    }
}

extension IPAddress {
    /// The IPv4 address that an IPv6 address such as ::ffff:192.0.2.1 contains, or the address itself. A socket for both
    /// families reports IPv4 peers in this form.
    var unmapped: IPAddress {
        guard case .v6(let address) = self, address.high == 0, address.low >> 32 == 0xFFFF else { return self }
        return .v4(IPv4Address(rawValue: UInt32(truncatingIfNeeded: address.low)))
    }
}
