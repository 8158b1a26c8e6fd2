import DNSWire
import Glibc
import MulticastDNS
import NIOCore
import ServiceDiscovery

/// A UDP socket that is connected to the discard port of a host, on which usually no program listens. A host that is
/// awake then refuses the datagrams, except if its firewall drops them. A sleep proxy does not answer them.
final class DatagramProbe {
    private let descriptor: CInt

    /// Connects the socket; nil if the kernel has no route, and for a link-local IPv6 address.
    init?(_ address: IPAddress) {
        guard let target = try? SocketAddress(ipAddress: "\(address)", port: Int(MagicPacket.port)) else { return nil }
        let flags = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        descriptor = socket(address.family == .v4 ? AF_INET : AF_INET6, flags, 0)
        guard descriptor >= 0 else { return nil }
        let descriptor = descriptor
        let isConnected = target.withSockAddr { place, size in connect(descriptor, place, socklen_t(size)) == 0 }
        guard isConnected else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sends a datagram. Returns true if the host refused the previous one.
    func isRefused() -> Bool {
        send(descriptor, [0], 1, 0) < 0 && errno == ECONNREFUSED
    }
}
