public import DNSWire
import Glibc
import NIOCore

extension SocketAddress {
    /// Creates a socket address.
    ///
    /// - Parameter interface: the scope id of an IPv6 link-local address; ignored for other addresses.
    init(_ address: IPAddress, port: UInt16, interface: UInt32) {
        switch address {
        case .v4(let host):
            var socketAddress = sockaddr_in()
            socketAddress.sin_family = sa_family_t(AF_INET)
            socketAddress.sin_port = port.bigEndian
            socketAddress.sin_addr.s_addr = host.rawValue.bigEndian
            self.init(socketAddress)
        case .v6(let host):
            var socketAddress = sockaddr_in6()
            socketAddress.sin6_family = sa_family_t(AF_INET6)
            socketAddress.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &socketAddress.sin6_addr) { $0.copyBytes(from: host.bytes) }
            socketAddress.sin6_scope_id = address.isLinkLocal ? interface : 0
            self.init(socketAddress)
        }
    }

    /// The address without its port and scope; nil for a Unix socket.
    var ipAddress: IPAddress? {
        switch self {
        case .v4(let socketAddress): withUnsafeBytes(of: socketAddress.address.sin_addr) { IPAddress(bytes: $0) }
        case .v6(let socketAddress): withUnsafeBytes(of: socketAddress.address.sin6_addr) { IPAddress(bytes: $0) }
        case .unixDomainSocket: nil
        }
    }
}

extension IPAddress {
    /// Parses the text of an address without a scope, such as "192.0.2.1" or "2001:db8::1". Returns nil for other text.
    public init?(text: String) {
        guard let address = (try? SocketAddress(ipAddress: text, port: 0))?.ipAddress else { return nil }
        self = address
    }

    /// True for 224.0.0.0/4 and ff00::/8.
    var isMulticast: Bool {
        switch self {
        case .v4(let address): address.rawValue >> 28 == 0xE
        case .v6(let address): address.high >> 56 == 0xFF
        }
    }
}
