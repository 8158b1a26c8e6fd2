import CLinuxNetwork
package import DNSWire
import Glibc

/// Changes links, addresses and routes through rtnetlink.
///
/// The kernel processes a request within the send call, so the answer is available immediately: the methods do not wait
/// and may be called on an event loop. An instance must be used on one event loop only.
package final class RouteControl: @unchecked Sendable {
    /// The largest datagram that is read, in bytes; a dump has datagrams of up to 32 KB.
    private static let largestDatagram = 65_536

    private let descriptor: Int32
    private var sequence: UInt32 = 0

    /// Opens the rtnetlink socket.
    package init() throws(RouteError) {
        descriptor = clinuxnetwork_open_route_control()
        guard descriptor >= 0 else { throw RouteError(what: "open an rtnetlink socket", code: -descriptor) }
    }

    deinit { close(descriptor) }

    /// Performs the request, or throws the kernel's error.
    package func perform(_ request: RouteRequest) throws(RouteError) {
        sequence &+= 1
        let what = request.description
        try send(request.encoded(sequence: sequence), what)
        while true {
            for message in try receive(what) where message.sequence == sequence {
                guard case .refused(let code) = message.body else { continue }
                guard code == 0 else { throw RouteError(what: what, code: code) }
                return
            }
        }
    }

    /// Returns the routes of the main table through the interface that have the mark ``RouteProtocol/plug``.
    package func routes(of interface: Int32) throws(RouteError) -> [InterfaceRoute] {
        try dump(Netlink.getRoute, "list routes").compactMap { body in
            guard case .route(let found) = body, found.origin == RouteProtocol.plug, found.route.interface == interface
            else { return nil }
            return found.route
        }
    }

    /// Returns the current addresses of the interface.
    package func addresses(of interface: Int32) throws(RouteError) -> [LinuxAddress] {
        try dump(Netlink.getAddress, "list addresses").compactMap { body in
            guard case .address(interface, let address) = body else { return nil }
            return address
        }
    }

    /// Returns the neighbours that have answered before.
    package func neighbours() throws(RouteError) -> [Neighbour] {
        try dump(Netlink.getNeighbour, "list neighbours").compactMap { body in
            guard case .neighbour(let neighbour) = body else { return nil }
            return neighbour
        }
    }

    /// Replaces the marked routes through the interface with the given ones. Marked routes that equal a given one stay
    /// unchanged.
    ///
    /// - Returns: the first error, or nil if all changes succeeded. The other changes are made even after an error.
    package func replaceRoutes(of interface: Int32, with wanted: [InterfaceRoute]) -> RouteError? {
        var fault: RouteError?
        func attempt(_ request: RouteRequest) {
            do throws(RouteError) {
                try perform(request)
            } catch {
                // The kernel removes a route together with its address (ESRCH), and another program may have added an
                // equal route (EEXIST).
                guard error.code != ESRCH, error.code != EEXIST else { return }
                fault = fault ?? error
            }
        }
        var present: [InterfaceRoute] = []
        do throws(RouteError) { present = try routes(of: interface) } catch { fault = error }
        for route in present where !wanted.contains(route) { attempt(.remove(route)) }
        for route in wanted where !present.contains(route) { attempt(.add(route)) }
        return fault
    }

    private func dump(_ type: UInt16, _ what: String) throws(RouteError) -> [NetlinkMessage.Body] {
        sequence &+= 1
        try send(Netlink.dumpRequest(type: type, sequence: sequence), what)
        var bodies: [NetlinkMessage.Body] = []
        while true {
            for message in try receive(what) where message.sequence == sequence {
                switch message.body {
                case .done: return bodies
                case .refused(let code): throw RouteError(what: what, code: code)
                case .link, .linkRemoved, .address, .addressRemoved, .route, .neighbour, .overrun, .other:
                    bodies.append(message.body)
                }
            }
        }
    }

    private func send(_ bytes: [UInt8], _ what: String) throws(RouteError) {
        guard Glibc.send(descriptor, bytes, bytes.count, 0) == bytes.count else {
            throw RouteError(what: what, code: errno)
        }
    }

    private func receive(_ what: String) throws(RouteError) -> [NetlinkMessage] {
        var datagram = [UInt8](repeating: 0, count: Self.largestDatagram)
        let count = recv(descriptor, &datagram, datagram.count, 0)
        guard count > 0 else { throw RouteError(what: what, code: count < 0 ? errno : EIO) }
        do throws(NetlinkError) {
            return try parseNetlink(Array(datagram[..<count]))
        } catch {
            throw RouteError(what: what, code: EBADMSG)
        }
    }
}

/// A host on a link, as the kernel's ARP and neighbour discovery know it.
package struct Neighbour: Hashable, Sendable {
    /// The index of the interface.
    package var interface: Int32
    /// The host's address.
    package var address: IPAddress
    /// The card that answers for the address.
    package var card: MACAddress
    /// The time since the card last answered.
    package var confirmed: Duration
}

/// The kernel's error for a request to change or list links, addresses or routes.
package struct RouteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation that failed, such as "add 169.254.7.8/16".
    package let what: String
    /// The kernel's error number.
    package let code: Int32

    /// The C library's description of the error number.
    package var reason: String { errorText(code) }
    package var description: String { "cannot \(what): \(reason)" }
    /// A hint about what the user can do.
    package var hint: String {
        switch code {
        case EPERM, EACCES: "plugd needs CAP_NET_ADMIN for this; with --addressing observe it needs no capability"
        case ENODEV: "the interface was removed"
        case EEXIST: "another program set the same value"
        default: "check `ip addr` and `ip route`, and whether another program manages the interface"
        }
    }
}

extension RouteRequest: CustomStringConvertible {
    package var description: String {
        switch self {
        case .linkUp: "switch the link on"
        case .put(let address): "add \(address.address)/\(address.prefixLength)"
        case .removeAddress(_, let address, let prefixLength): "remove \(address)/\(prefixLength)"
        case .add(let route): "add the \(route)"
        case .remove(let route): "remove the \(route)"
        }
    }
}

extension InterfaceRoute: CustomStringConvertible {
    package var description: String {
        "route to \(destination)/\(prefixLength)" + (router.map { " via \($0)" } ?? "")
    }
}
