import CLinuxNetwork
import Glibc

/// Occupies the UDP port of DHCP clients, so that the kernel does not answer servers with "port unreachable". The
/// keeper drops all datagrams, because the client reads from a packet socket. Ports below 1024 need a privilege, so the
/// keeper must be created before privileges are dropped.
public final class PortKeeper: Sendable {
    private let descriptor: Int32

    /// Returns nil if the port is not available. This is not critical: servers then receive an ICMP error, which they
    /// ignore.
    public init?(port: UInt16 = 68) {
        var step: UnsafePointer<CChar>?
        descriptor = clinuxnetwork_keep_udp_port(port, &step)
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
