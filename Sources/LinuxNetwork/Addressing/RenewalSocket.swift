import CLinuxNetwork
package import DNSWire

/// Sends what a DHCP client sends from an address that it has. Such a datagram leaves port 68, which another client on this
/// host may hold; so it goes through a raw socket, with a UDP header of the caller's. The socket lives for one datagram: there
/// are a few in a day.
package enum RenewalSocket {
    /// - Parameter datagram: with its UDP header and checksum.
    /// - Throws: ``RouteError`` where the kernel has no way to send it.
    package static func send(
        _ datagram: [UInt8], from source: IPv4Address, to destination: IPv4Address, through interface: Int32
    ) throws(RouteError) {
        var step: UnsafePointer<CChar>?
        let result = clinuxnetwork_send_udp(
            interface, source.bytes, destination.bytes, datagram, Int32(datagram.count), &step)
        guard result < 0 else { return }
        let name = step.map { String(cString: $0) } ?? "socket"
        throw RouteError(what: "send to the DHCP server at \(destination) (\(name))", code: -result)
    }
}
