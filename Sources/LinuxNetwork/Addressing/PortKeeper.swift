import CLinuxNetwork
import Glibc

/// Has the UDP port of DHCP clients, so that the kernel does not answer a server with "port unreachable". What comes to it is
/// dropped: the client reads it from a packet socket. Ports below 1024 need a privilege, so it is opened before those are given up.
public final class PortKeeper: Sendable {
    private let descriptor: Int32

    /// Nil where the port is not to be had. Nothing depends on it: servers then see an error that they ignore.
    public init?(port: UInt16 = 68) {
        var step: UnsafePointer<CChar>?
        descriptor = clinuxnetwork_keep_udp_port(port, &step)
        guard descriptor >= 0 else { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
