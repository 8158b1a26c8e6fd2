import CLinuxNetwork
package import DNSWire

/// Sends datagrams of a DHCP client that already has an address. Their source port is 68, which another client on this
/// host may occupy; so they are sent through a raw socket, with the caller's UDP header. The socket is opened for each
/// datagram: there are only a few per day.
package enum RenewalSocket {
    /// Sends one datagram.
    ///
    /// - Parameter datagram: the datagram with its UDP header and checksum.
    /// - Throws: ``RouteError`` if the kernel cannot send it.
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
