import DNSWire
import PortMapping
import ProtocolCore

extension FuzzTarget {
    /// Sends the messages of a router to a machine that maps a port. Each one, with a two-byte length in front, answers the
    /// last request, be it a datagram, a search or an HTTP request. In a datagram with the length of a mapping, the bytes
    /// of the nonce are replaced by those of the machine. The machine reports
    /// only possible addresses, sends few requests, and stops when it must. The input is valid if a port is mapped.
    static let router = FuzzTarget(
        name: "router",
        seeds: { RouterLink.seeds },
        check: { bytes in
            var link = RouterLink()
            for datagram in datagrams(in: bytes).prefix(32) { try link.receive(datagram) }
            try link.stop()
            return link.isMapped
        })
}

/// A machine and its router in virtual time.
private struct RouterLink {
    /// The messages of a router with PCP, and of one with NAT-PMP.
    static let seeds: [[UInt8]] = {
        let host: [UInt8] = [203, 0, 113, 1]
        let header: [UInt8] = [2, 0x81, 0, 0, 0, 0, 0x1C, 0x20, 0, 0, 1, 0] + Array(repeating: 0, count: 12)
        let zeros = [UInt8](repeating: 0, count: 12)
        let pcp = header + zeros + [6, 0, 0, 0, 0x12, 0x67, 0x12, 0x67] + zeros.prefix(10) + [0xFF, 0xFF] + host
        let unsupported: [UInt8] = [0, 0x81, 0, 1, 0, 0, 1, 0]
        let external: [UInt8] = [0, 128, 0, 0, 0, 0, 1, 0] + host
        let natpmp: [UInt8] = [0, 130, 0, 0, 0, 0, 1, 0, 0x12, 0x67, 0x12, 0x68, 0, 0, 0x1C, 0x20]
        let found = Array("HTTP/1.1 200 OK\r\nLOCATION: http://192.168.1.1:5000/root.xml\r\n\r\n".utf8)
        func response(_ body: String) -> [UInt8] { Array("HTTP/1.1 200 OK\r\n\r\n\(body)".utf8) }
        let description = response(
            "<service><serviceType>urn:schemas-upnp-org:service:WANIPConnection:1</serviceType>"
                + "<controlURL>/ctl</controlURL></service>")
        let address = response("<NewExternalIPAddress>203.0.113.1</NewExternalIPAddress>")
        // Without answers, a search follows PCP and NAT-PMP after nine requests.
        let silence = Array(repeating: [UInt8](repeating: 0, count: 1), count: 9)
        return [
            framed([pcp, pcp]), framed([unsupported, external, natpmp]),
            framed(silence + [found, description, address, response("")]),
        ]
    }()

    private(set) var isMapped = false
    private var machine: PortMapper
    private enum Channel { case datagram, search, connection }

    private var request: [UInt8] = []
    private var channel = Channel.datagram
    private var isStopped = false
    private var sentCount = 0
    private var now = Instant.zero

    init() {
        var random = SeededRandom(seed: 1)
        machine = PortMapper(port: 0x1267, random: &random)
        let gateway = Gateway(router: .v4(192, 168, 1, 1), host: .v4(192, 168, 1, 7))
        _ = try? handle(.gateway(gateway))
    }

    mutating func receive(_ datagram: [UInt8]) throws {
        var datagram = datagram
        let before = sentCount
        switch channel {
        case .datagram:
            if datagram.count == 60, request.count == 60 { datagram.replaceSubrange(24..<36, with: request[24..<36]) }
            try handle(.received(datagram))
        case .search: try handle(.found(datagram))
        case .connection: try handle(.exchanged(datagram))
        }
        // Without a further request, the machine waits for its deadline.
        guard sentCount == before else { return }
        now = max(now, min(machine.nextDeadline ?? now, now + .seconds(20)))
        try handle(.deadlineReached)
        try require(sentCount <= 200, "\(sentCount) requests were sent")
    }

    mutating func stop() throws {
        try handle(.stop)
        for _ in 0..<8 where !isStopped {
            now = now + Duration.seconds(1)
            try handle(.deadlineReached)
        }
        try require(isStopped && machine.nextDeadline == nil, "the machine did not stop")
    }

    private mutating func handle(_ event: PortMapper.Event) throws {
        for action in machine.handle(event, now: now) {
            switch action {
            case .send(let bytes), .search(let bytes), .exchange(let bytes, _):
                request = bytes
                sentCount += 1
                channel =
                    switch action {
                    case .search: .search
                    case .exchange: .connection
                    default: .datagram
                    }
            case .mapped(let mapping):
                isMapped = true
                try require(mapping.port != 0 && !mapping.address.isLoopback, "an impossible mapping was reported")
            case .failed: break
            case .stopped: isStopped = true
            }
        }
    }
}
