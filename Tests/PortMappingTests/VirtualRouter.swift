import DNSWire
import ProtocolCore

@testable import PortMapping

/// A router that understands the messages of RFC 6887 and RFC 6886, independent of the encoder under test.
struct VirtualRouter {
    enum Kind { case pcp, natpmp, device, silent, refuses(code: UInt8) }

    /// A mapping, by the internal port.
    struct Entry: Equatable {
        let client: [UInt8]
        let nonce: [UInt8]
        let externalPort: UInt16
        let expires: Instant
    }

    var kind: Kind
    var external: IPAddress = .v4(203, 0, 113, 1)
    var longestLifetime: UInt32 = 86_400
    private(set) var entries: [UInt16: Entry] = [:]
    private(set) var started = Instant.zero
    private(set) var requestCount = 0
    /// The text of the external address in UPnP, if it is not that of `external`.
    var externalText: String?
    /// True if the router supports only mappings that never expire in UPnP.
    var leasesForever = false
    /// The answer to a search in UPnP.
    var location = "http://192.168.1.1:5000/root.xml"
    /// The URL of the service in the description.
    var controlURL = "/ctl/IPConn"
    /// The external ports that other hosts have.
    var taken: Set<UInt16> = []

    init(_ kind: Kind) { self.kind = kind }

    /// Forgets all mappings.
    mutating func restart(now: Instant) {
        entries = [:]
        started = now
    }

    mutating func expire(now: Instant) { entries = entries.filter { $0.value.expires > now } }

    private func epoch(_ now: Instant) -> UInt32 { UInt32((now - started).components.seconds) }

    func announcement(now: Instant) -> [UInt8] {
        switch kind {
        case .natpmp: [0, 128, 0, 0] + four(epoch(now)) + external.bytes
        default: [2, 0x80, 0, 0] + four(0) + four(epoch(now)) + Array(repeating: 0, count: 12)
        }
    }

    /// Returns the answer to a request of the host with this address.
    mutating func answer(_ request: [UInt8], from host: IPAddress, now: Instant) -> [UInt8]? {
        requestCount += 1
        switch (kind, request.first) {
        case (.pcp, 2): return answerPCP(request, from: host, now: now)
        case (.natpmp, 0): return answerNATPMP(request, now: now)
        case (.natpmp, _): return [0, 0x80 | request[1], 0, 1] + four(epoch(now))
        case (.refuses(let code), 2): return refusal(request, code, now: now)
        default: return nil
        }
    }

    /// Returns the answer to a search of UPnP.
    func answer(toSearch bytes: [UInt8]) -> [UInt8]? {
        guard case .device = kind, bytes.starts(with: "M-SEARCH * HTTP/1.1\r\n".utf8) else { return nil }
        return Array(
            "HTTP/1.1 200 OK\r\nST: urn:schemas-upnp-org:device:InternetGatewayDevice:1\r\nLOCATION: \(location)\r\n\r\n"
                .utf8)
    }

    /// Returns the response to an HTTP request of UPnP.
    mutating func respond(to bytes: [UInt8], now: Instant) -> [UInt8] {
        requestCount += 1
        let request = String(decoding: bytes, as: UTF8.self)
        if request.hasPrefix("GET /root.xml HTTP/1.1\r\n") {
            return response(
                200,
                "<root><service><serviceType>urn:x:service:Layer3Forwarding:1</serviceType><controlURL>/no</controlURL></service>"
                    + "<service><serviceType>urn:schemas-upnp-org:service:WANIPConnection:1</serviceType>"
                    + "<controlURL>\(controlURL)</controlURL></service></root>")
        }
        guard request.hasPrefix("POST /ctl/IPConn HTTP/1.1\r\n") else { return response(404, "") }
        func number(_ name: String) -> UInt16 { request.element(name).flatMap(UInt16.init) ?? 0 }
        let (external, port) = (number("NewExternalPort"), number("NewInternalPort"))
        if request.contains("#GetExternalIPAddress\"") {
            let text = externalText ?? "\(self.external)"
            return response(200, "<NewExternalIPAddress>\(text)</NewExternalIPAddress>")
        } else if request.contains("#AddPortMapping\"") {
            if taken.contains(external) { return response(500, "<errorCode>718</errorCode>") }
            let lifetime = number("NewLeaseDuration")
            if leasesForever, lifetime != 0 { return response(500, "<errorCode>725</errorCode>") }
            let expires = lifetime == 0 ? Instant(nanoseconds: .max) : now + .seconds(Int64(lifetime))
            entries[port] = Entry(client: [], nonce: [], externalPort: external, expires: expires)
            return response(200, "")
        }
        entries = entries.filter { $0.value.externalPort != external }
        return response(200, "")
    }

    /// A response in chunks.
    private func response(_ status: Int, _ body: String) -> [UInt8] {
        let chunk = body.isEmpty ? "" : "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n"
        return Array("HTTP/1.1 \(status) X\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)0\r\n\r\n".utf8)
    }

    private func refusal(_ request: [UInt8], _ code: UInt8, now: Instant) -> [UInt8] {
        [2, 0x81, 0, code] + four(30) + four(epoch(now)) + Array(repeating: 0, count: 12) + request[24...]
    }

    private mutating func answerPCP(_ request: [UInt8], from host: IPAddress, now: Instant) -> [UInt8] {
        precondition(request.count == 60 && request[1] == 1 && request[36] == 6, "a valid request")
        let client = Array(request[8..<24])
        guard client == mapped(host) else { return refusal(request, 12, now: now) }
        let (nonce, port) = (Array(request[24..<36]), two(request, 40))
        let lifetime = min(longestLifetime, UInt32(two(request, 4)) << 16 | UInt32(two(request, 6)))
        if let entry = entries[port], entry.nonce != nonce { return refusal(request, 2, now: now) }
        let chosen = choose(two(request, 42), for: port)
        entries[port] =
            lifetime == 0
            ? nil : Entry(client: client, nonce: nonce, externalPort: chosen, expires: now + .seconds(Int64(lifetime)))
        return [2, 0x81, 0, 0] + four(lifetime) + four(epoch(now)) + Array(repeating: 0, count: 12) + nonce
            + [6, 0, 0, 0] + request[40..<42] + [UInt8(chosen >> 8), UInt8(chosen & 0xFF)] + mapped(external)
    }

    private mutating func answerNATPMP(_ request: [UInt8], now: Instant) -> [UInt8] {
        guard request.count == 12 else { return announcement(now: now) }
        precondition(request[1] == 2, "a valid request")
        let port = two(request, 4)
        let lifetime = min(longestLifetime, UInt32(two(request, 8)) << 16 | UInt32(two(request, 10)))
        let chosen = choose(two(request, 6), for: port)
        entries[port] =
            lifetime == 0
            ? nil : Entry(client: [], nonce: [], externalPort: chosen, expires: now + .seconds(Int64(lifetime)))
        return [0, 130, 0, 0] + four(epoch(now)) + request[4..<6] + [UInt8(chosen >> 8), UInt8(chosen & 0xFF)]
            + four(lifetime)
    }

    private func choose(_ wish: UInt16, for port: UInt16) -> UInt16 {
        if let entry = entries[port] { return entry.externalPort }
        var chosen = wish
        while taken.contains(chosen) { chosen += 1 }
        return chosen
    }

    private func four(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> UInt32(8 * (3 - $0)) & 0xFF) } }
    private func two(_ bytes: [UInt8], _ offset: Int) -> UInt16 {
        UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
    }
    private func mapped(_ address: IPAddress) -> [UInt8] {
        address.family == .v6 ? address.bytes : Array(repeating: 0, count: 10) + [0xFF, 0xFF] + address.bytes
    }
}

/// A host with a mapper behind a router, in virtual time. A message takes 2 ms, or is lost.
struct VirtualHome {
    static let port: UInt16 = 4711
    static let gateway = Gateway(router: .v4(192, 168, 1, 1), host: .v4(192, 168, 1, 7))

    private(set) var now = Instant.zero
    var router: VirtualRouter
    private(set) var mapping: PortMapping?
    private(set) var failures: [PortMappingFailure] = []
    private(set) var isStopped = false
    private(set) var sent: [[UInt8]] = []
    /// Decides whether a message is lost.
    var isLost: () -> Bool = { false }
    private var gateway: Gateway?
    private var mapper: PortMapper
    private var deliveries: [(at: Instant, event: PortMapper.Event)] = []

    init(_ kind: VirtualRouter.Kind, seed: UInt64 = 1) {
        var random = SeededRandom(seed: seed)
        router = VirtualRouter(kind)
        mapper = PortMapper(port: Self.port, random: &random)
    }

    var nextDeadline: Instant? { mapper.nextDeadline }

    mutating func connect(_ gateway: Gateway? = Self.gateway) {
        self.gateway = gateway
        handle(.gateway(gateway))
    }

    mutating func handle(_ event: PortMapper.Event) {
        for action in mapper.handle(event, now: now) {
            switch action {
            case .send(let bytes):
                sent.append(bytes)
                guard let gateway, !isLost() else { break }
                router.expire(now: now)
                if let answer = router.answer(bytes, from: gateway.host, now: now), !isLost() {
                    deliveries.append((now + .milliseconds(2), .received(answer)))
                }
            case .search(let bytes):
                sent.append(bytes)
                if !isLost(), let answer = router.answer(toSearch: bytes) {
                    deliveries.append((now + .milliseconds(2), .found(answer)))
                }
            case .exchange(let bytes, let port):
                sent.append(bytes)
                precondition(port == 5000, "the port of the router's description")
                router.expire(now: now)
                // TCP repeats what is lost.
                deliveries.append((now + .milliseconds(5), .exchanged(router.respond(to: bytes, now: now))))
            case .mapped(let mapping): self.mapping = mapping
            case .failed(let failure):
                mapping = nil
                failures.append(failure)
            case .stopped:
                precondition(!isStopped, "a mapper stops once")
                isStopped = true
                mapping = nil
            }
        }
    }

    /// Restarts the router, which announces it.
    mutating func restart(address: IPAddress? = nil) {
        if let address { router.external = address }
        router.restart(now: now)
        announce()
    }

    mutating func announce() { if !isLost() { deliveries.append((now, .received(router.announcement(now: now)))) } }

    mutating func run(for duration: Duration) {
        let end = now + duration
        while let next = sooner(deliveries.map(\.at).min(), mapper.nextDeadline), next <= end {
            now = max(now, next)
            if let index = deliveries.firstIndex(where: { $0.at <= now }) {
                handle(deliveries.remove(at: index).event)
            } else {
                handle(.deadlineReached)
            }
        }
        now = end
    }

    /// True if the reported mapping is the one of the router.
    var isConsistent: Bool {
        guard let mapping else { return false }
        return mapping.address == router.external && mapping.port == router.entries[Self.port]?.externalPort
    }
}
