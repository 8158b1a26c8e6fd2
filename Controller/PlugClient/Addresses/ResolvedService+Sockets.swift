import NIOCore
import ServiceDiscovery

extension ResolvedService {
    /// The addresses with the port; link-local IPv6 addresses have the interface as their scope.
    var socketAddresses: [SocketAddress] {
        addresses.compactMap { entry in
            let isScoped = entry.address.family == .v6 && entry.address.isLinkLocal
            return try? SocketAddress(
                packedIPAddress: ByteBuffer(bytes: entry.address.bytes), port: Int(port)
            ).scoped(isScoped ? entry.interface : 0)
        }
    }
}

extension SocketAddress {
    fileprivate func scoped(_ interface: UInt32) -> SocketAddress {
        guard case .v6(let address) = self, interface != 0 else { return self }
        var raw = address.address
        raw.sin6_scope_id = interface
        return SocketAddress(raw, host: address.host)
    }
}
