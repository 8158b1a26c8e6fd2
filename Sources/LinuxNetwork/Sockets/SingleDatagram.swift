public import DNSWire
import Glibc
public import MulticastDNS
import NIOCore

/// Sends single UDP datagrams from a port that the kernel chooses.
public enum SingleDatagram {
    /// Sends a datagram, and returns false if the kernel refuses it. The address may be a broadcast address.
    ///
    /// - Parameter interface: the interface of a link-local or multicast IPv6 address.
    public static func send(_ bytes: [UInt8], to address: IPAddress, port: UInt16, interface: InterfaceID) -> Bool {
        let family = address.family == .v4 ? AF_INET : AF_INET6
        let flags = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, flags, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var isOn: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_BROADCAST, &isOn, socklen_t(MemoryLayout<CInt>.size))
        var index = CInt(bitPattern: interface)
        if family == AF_INET6 {
            setsockopt(
                descriptor, CInt(IPPROTO_IPV6), IPV6_MULTICAST_IF, &index, socklen_t(MemoryLayout<CInt>.size))
        }
        let sent = SocketAddress(address, port: port, interface: interface).withSockAddr { place, size in
            sendto(descriptor, bytes, bytes.count, 0, place, socklen_t(size))
        }
        return sent == bytes.count
    }
}
