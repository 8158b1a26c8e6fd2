import DNSWire

/// The addresses and the port under which a service is registered. If the router lets hosts on the internet connect, these
/// are the external addresses, because the zone is meant for other networks; otherwise those of the interfaces.
struct RegisteredPlace: Hashable {
    let addresses: [IPAddress]
    let port: UInt16

    /// Decides what to register. Returns nil while the router has not answered for IPv4. The answer for IPv6 is not
    /// waited for, because many routers never answer.
    ///
    /// - Parameters:
    ///   - port: the port of the service.
    ///   - interfaces: the addresses of the interfaces.
    ///   - mapping: the state of the mapping in IPv4; nil if none is requested.
    ///   - pinhole: the state of the pinhole in IPv6; nil if none is requested.
    init?(port: UInt16, interfaces: [IPAddress], mapping: MappedPort.State?, pinhole: MappedPort.State?) {
        if mapping == .waiting { return nil }
        let external = [mapping, pinhole].compactMap(\.?.publicMapping)
        let chosen = external.first?.port ?? port
        self.port = chosen
        // The SRV record has one port for all addresses.
        addresses = external.isEmpty ? interfaces : external.filter { $0.port == chosen }.map(\.address)
    }
}
