import CLinuxNetwork
import DNSWire
import Glibc

/// Changes links, addresses and routes through rtnetlink.
///
/// The kernel works a request off within the call that sends it, so the answer is there when it returns: nothing here waits
/// for anybody, and the calls are fit for an event loop. Confined to one.
package final class RouteControl: @unchecked Sendable {
    /// A dump comes in datagrams of up to 32 KB.
    private static let largestDatagram = 65_536

    private let descriptor: Int32
    private var sequence: UInt32 = 0

    package init() throws(RouteError) {
        descriptor = clinuxnetwork_open_route_control()
        guard descriptor >= 0 else { throw RouteError(what: "open an rtnetlink socket", code: -descriptor) }
    }

    deinit { close(descriptor) }

    /// Performs the request, or throws why the kernel does not.
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

    /// The routes of the main table through the interface that have our mark.
    package func routes(of interface: Int32) throws(RouteError) -> [InterfaceRoute] {
        try dump(Netlink.getRoute, "list routes").compactMap { body in
            guard case .route(let found) = body, found.origin == RouteProtocol.plug, found.route.interface == interface
            else { return nil }
            return found.route
        }
    }

    /// The addresses that the interface has now.
    package func addresses(of interface: Int32) throws(RouteError) -> [LinuxAddress] {
        try dump(Netlink.getAddress, "list addresses").compactMap { body in
            guard case .address(interface, let address) = body else { return nil }
            return address
        }
    }

    /// Sets these of our routes through the interface, and removes the others.
    ///
    /// - Returns: the first fault; the rest is done all the same.
    package func replaceRoutes(of interface: Int32, with wanted: [InterfaceRoute]) -> RouteError? {
        var fault: RouteError?
        func attempt(_ request: RouteRequest) {
            do throws(RouteError) {
                try perform(request)
            } catch {
                // It went with its address, or somebody set the same.
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
                case .link, .linkRemoved, .address, .addressRemoved, .route, .overrun, .other:
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

/// The kernel refused to change something of an interface.
package struct RouteError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was to be done: "add 169.254.7.8/16".
    package let what: String
    /// The kernel's error number.
    package let code: Int32

    package var reason: String { errorText(code) }
    package var description: String { "cannot \(what): \(reason)" }
    package var hint: String {
        switch code {
        case EPERM, EACCES: "plugd needs CAP_NET_ADMIN for that; with --addressing observe it needs nothing"
        case ENODEV: "the interface is gone"
        case EEXIST: "another program set the same"
        default: "look at `ip addr` and `ip route`, and whether another program manages the interface"
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
