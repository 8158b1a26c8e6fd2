import Foundation
import LinuxSystem
import Matter
import MatterCryptography
import MatterSessions
import MatterWire
import ProtocolCore
import TestSupport

/// A Matter controller with a UDP socket on loopback. It blocks while it waits, so that it adds little time.
final class MatterCaller {
    /// The node id that the plug receives in the fabric of the benchmarks.
    static let plugNode: UInt64 = 0x1001
    /// The tag of all controllers of the benchmarks, and the subject of the access control list for it (CAT 1,
    /// version 1).
    private static let tag: UInt32 = 0x0001_0001
    private static let tagSubject: UInt64 = 0xFFFF_FFFD_0001_0001
    private static let seed: UInt64 = 1

    private let socket: Int32
    private let plug: MatterPeer
    private var controller: MatterController

    /// - Parameter node: the controller's node id, which is unique in a measurement.
    init(port: Int, node: UInt64, issuer: MatterCertificateIssuer) throws {
        plug = MatterPeer(address: [127, 0, 0, 1], port: UInt16(port))
        controller = try MatterController(
            issuer, node: node, tags: [Self.tag], device: plug, deviceNode: Self.plugNode, seed: Self.seed,
            cryptography: try OpenSSLCryptography())
        controller.administrator = Self.tagSubject
        socket = try UDPSocket.connected(to: port)
    }

    deinit { close(socket) }

    /// Creates the authority of the fabric of the benchmarks.
    static func issuer() throws -> MatterCertificateIssuer { try MatterCertificateIssuer(fabric: 7, seed: seed) }

    /// Performs a request, and waits until it is finished. Throws its `MatterControllerFault`.
    @discardableResult
    func perform(_ request: MatterControllerRequest) throws -> MatterOutcome {
        let ticket = controller.begin(request, now: BootClock.now)
        while true {
            try send()
            if let result = controller.takeOutcome(of: ticket) { return try result.get() }
            try receive()
        }
    }

    /// Sends On or Off, and waits for the response.
    /// - Throws: ``BenchmarkError`` if the plug does not answer with success.
    /// - Returns: the nanoseconds from the command to the response, which is decrypted and parsed.
    @discardableResult
    func set(_ isOn: Bool) throws -> Double {
        let path = CommandPath(endpoint: 1, cluster: 0x06, command: isOn ? 1 : 0)
        let began = BootClock.now
        let outcome = try perform(.invoke(path, .fields()))
        let time = Double((BootClock.now - began).wholeNanoseconds)
        guard case .invoked(let replies) = outcome, case .status(_, let status, _)? = replies.first,
            status.code == .success
        else { throw BenchmarkError("the plug answers \(outcome)") }
        return time
    }

    /// Subscribes to the events of the button, which are urgent.
    func subscribeToButton() throws {
        let events = EventPath(cluster: 0x3B, isUrgent: true)
        try subscribe(ReadRequest(attributes: [], events: [events], isFabricFiltered: true))
    }

    /// Subscribes to the relay's state.
    func subscribeToRelay() throws {
        let relay = AttributePath(endpoint: 1, cluster: 0x06, attribute: 0)
        try subscribe(ReadRequest(attributes: [relay], events: [], isFabricFiltered: true))
    }

    private func subscribe(_ read: ReadRequest) throws {
        try perform(
            .subscribe(SubscribeRequest(keepsSubscriptions: false, minInterval: 0, maxInterval: 60, read: read)))
    }

    /// Waits for the next event of the button's cluster that reports the start of a press, and returns its time of
    /// arrival.
    func press() throws -> Instant {
        var known = initialPresses
        while true {
            try send()
            let count = initialPresses
            if count > known { return BootClock.now }
            known = min(known, count)
            try receive()
        }
    }

    /// The number of events InitialPress that the subscriptions have received.
    private var initialPresses: Int {
        controller.subscriptions.values.reduce(0) { sum, subscription in
            sum
                + subscription.events.count { report in
                    guard case .data(let data) = report else { return false }
                    return data.path.cluster == 0x3B && data.path.event == 1
                }
        }
    }

    /// Sends the waiting datagrams of the controller.
    private func send() throws {
        for datagram in controller.takeOutput() {
            let count = Glibc.send(socket, datagram.bytes, datagram.bytes.count, 0)
            guard count == datagram.bytes.count else { throw BenchmarkError("cannot send to the plug") }
        }
    }

    /// Waits for a datagram or the next deadline of the controller.
    private func receive() throws {
        let wait = controller.nextDeadline.map { ($0 - BootClock.now).wholeNanoseconds } ?? 1_000_000_000
        var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        let milliseconds = min(max(0, wait), 60_000_000_000) / 1_000_000 + (wait > 0 ? 1 : 0)
        guard poll(&poller, 1, Int32(milliseconds)) > 0 else { return controller.expire(now: BootClock.now) }
        var buffer = [UInt8](repeating: 0, count: 2048)
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count >= 0 else { throw BenchmarkError("the plug closed its port") }
        controller.receive(Array(buffer[..<count]), from: plug, now: BootClock.now)
    }
}

/// UDP sockets on loopback.
enum UDPSocket {
    /// Returns a socket that sends to a port of 127.0.0.1.
    ///
    /// - Parameter number: selects the own address in 127.1.0.0/16, or nil for 127.0.0.1.
    static func connected(to port: Int, from number: Int? = nil) throws -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        guard socket >= 0 else { throw BenchmarkError("cannot create a socket: \(String(cString: strerror(errno)))") }
        if let number {
            let own = address(127 << 24 | 1 << 16 | UInt32(number % 65_000 + 1), 0)
            guard call(Glibc.bind, socket, own) == 0 else { throw BenchmarkError("cannot bind a loopback address") }
        }
        guard call(Glibc.connect, socket, address(127 << 24 | 1, UInt16(port))) == 0 else {
            throw BenchmarkError("no device at port \(port)")
        }
        return socket
    }

    private static func address(_ host: UInt32, _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = host.bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ socket: Int32, _ address: sockaddr_in
    ) -> Int32 {
        withUnsafeBytes(of: address) {
            function(socket, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t($0.count))
        }
    }
}
