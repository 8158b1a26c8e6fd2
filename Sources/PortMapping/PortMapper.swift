public import DNSWire
public import ProtocolCore

/// An external address and port of a router that lead to this host.
public struct PortMapping: Hashable, Sendable {
    /// The external address.
    public let address: IPAddress
    /// The external port.
    public let port: UInt16

    /// Creates a mapping.
    public init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// True if hosts of the internet can use the address. False if a second router is in front of the first one, so that
    /// the address is private (RFC 1918) or shared (RFC 6598).
    public var isPublic: Bool {
        switch address {
        case .v4(let address):
            let value = address.rawValue
            return !(value >> 24 == 10 || value >> 20 == 0xAC1 || value >> 16 == 0xC0A8 || value >> 22 == 0x191)
        case .v6(let address): return address.high >> 57 != 0xFC >> 1
        }
    }

    /// False for addresses and ports that no router can have.
    var isPlausible: Bool {
        let isUnicast =
            switch address {
            case .v4(let address): address.rawValue >> 24 != 0 && address.rawValue >> 28 < 0xE
            case .v6(let address): address.high >> 56 != 0xFF && (address.high, address.low) != (0, 0)
            }
        return port != 0 && isUnicast && !address.isLoopback && !address.isLinkLocal
    }
}

/// The router of a network, and the address of this host there.
public struct Gateway: Hashable, Sendable {
    /// The address of the router.
    public let router: IPAddress
    /// The address of this host; of the same family.
    public let host: IPAddress

    /// Creates a gateway.
    public init(router: IPAddress, host: IPAddress) {
        self.router = router
        self.host = host
    }
}

/// The reasons why no port is mapped.
public enum PortMappingFailure: Error, Hashable, Sendable {
    /// The network has no router.
    case noRouter
    /// The router or the address of this host has changed, and the new router has not answered yet.
    case networkChanged
    /// The router did not answer in PCP or NAT-PMP.
    case noAnswer
    /// The router refused the mapping, with a code of RFC 6887 §7.4 or RFC 6886 §3.5.
    case refused(code: UInt16)
    /// The router sees a different address of this host: another router is in between.
    case addressMismatch
    /// The router reported an address or a port that cannot be used.
    case implausible
}

extension PortMappingFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noRouter: "the network has no router"
        case .networkChanged: "the network has changed; waiting for its router"
        case .noAnswer: "the router answers neither PCP nor NAT-PMP"
        case .refused(let code): "the router refused to map the port (code \(code))"
        case .addressMismatch: "another router is between this host and the router that maps ports"
        case .implausible: "the router reported an address or a port that cannot exist"
        }
    }

    /// A hint about what the user can do; nil if there is nothing to suggest.
    public var hint: String? {
        switch self {
        case .noRouter, .networkChanged, .implausible: nil
        case .noAnswer: "turn on PCP or NAT-PMP in the router, often together with UPnP, or forward the port by hand"
        case .refused: "permit port mapping for this host in the router"
        case .addressMismatch: "use one of the routers as a bridge, or a VPN"
        }
    }
}

/// Maps one TCP port of this host at a router by PCP (RFC 6887), or by NAT-PMP (RFC 6886) if the router does not support
/// PCP. Renews the mapping at half of its lifetime, and at once if the router has lost it. With an IPv6 gateway it opens
/// the port in the router's firewall, by PCP only.
///
/// The owner sends each request from a socket that is connected to port 5351 of the router, and passes on what that
/// socket receives, and what arrives by multicast from the router on port 5350.
public struct PortMapper: Machine, Sendable {
    /// The inputs of the machine.
    public enum Event: MachineEvent, Hashable, Sendable {
        /// The gateway became known or has changed; nil if the network has no router.
        case gateway(Gateway?)
        /// A datagram of the router.
        case received([UInt8])
        /// The router reports that no program uses the port of the requests (ICMP).
        case refused
        /// Removes the mapping. ``Action/stopped`` follows.
        case stop
        /// The time of ``PortMapper/nextDeadline`` was reached.
        case deadlineReached
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Hashable, Sendable {
        /// Sends a datagram to the router.
        case send([UInt8])
        /// The port is mapped, or the mapping has changed.
        case mapped(PortMapping)
        /// No port is mapped any more, or the first attempt failed.
        case failed(PortMappingFailure)
        /// The mapping was removed, or the router did not answer to that.
        case stopped
    }

    /// The port of routers (RFC 6887 §19.1).
    public static let routerPort: UInt16 = 5351
    /// The port on which routers announce that they have started (RFC 6887 §14.1.2, RFC 6886 §3.2.1).
    public static let hostPort: UInt16 = 5350
    /// The requested lifetime in seconds.
    public static let lifetime: UInt32 = 7200
    /// The limits of an accepted lifetime. Shorter ones would cause needless traffic, and RFC 6887 §15 recommends at
    /// most a day.
    static let lifetimes = Duration.seconds(120)...Duration.seconds(86_400)
    /// The pauses between attempts after a failure.
    static let pauses = Duration.seconds(60)...Duration.seconds(3600)

    private enum Method { case pcp, natpmp }

    /// A request to the router.
    private enum Request {
        case map(Method)
        /// The first request in NAT-PMP, whose mappings do not contain the external address.
        case address
        case remove(Method)
    }

    private struct Exchange {
        let request: Request
        let bytes: [UInt8]
        var attempts = 1
        var until: Instant
    }

    private struct Active {
        let method: Method
        let mapping: PortMapping
        let confirmed: Instant
        let expires: Instant
    }

    /// The last epoch of the router, by which a loss of its mappings is detected (RFC 6887 §8.5).
    private struct Epoch {
        let server: UInt32
        let at: Instant
    }

    private let internalPort: UInt16
    private let nonce: MappingNonce
    private var gateway: Gateway?
    private var exchange: Exchange?
    private var active: Active?
    private var externalAddress: IPAddress?
    private var epoch: Epoch?
    /// The time of the next attempt or renewal.
    private var due: Instant?
    private var pause = pauses.lowerBound
    private var isStopping = false
    private var hasFailed = false
    private var output: [Action] = []

    /// Creates a machine that does nothing before ``Event/gateway(_:)``.
    ///
    /// - Parameter random: the source of the nonce. Outside of tests it must be unpredictable, because a host that knows the
    ///   nonce can remove the mapping.
    public init(port: UInt16, random: inout some RandomNumberGenerator) {
        internalPort = port
        nonce = MappingNonce(&random)
    }

    /// The time of the next ``Event/deadlineReached``, or nil.
    public var nextDeadline: Instant? {
        [exchange?.until, due, active?.expires].reduce(nil) { sooner($0, $1) }
    }

    /// Handles an event at the time `now` and returns the actions to perform.
    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .gateway(let gateway):
            guard gateway != self.gateway || gateway == nil && !hasFailed, !isStopping else { break }
            change(gateway, now: now)
        case .received(let bytes): receive(bytes, now: now)
        case .refused: if let exchange { giveUp(exchange.request, now: now) }
        case .stop:
            guard !isStopping else { break }
            isStopping = true
            due = nil
            if let method = activeMethod { request(.remove(method), now: now) } else { finish() }
        case .deadlineReached: break
        }
        if let exchange, exchange.until <= now { repeatRequest(exchange, now: now) }
        if let active, active.expires <= now {
            lose(.noAnswer)
            due = now
        }
        if exchange == nil, let due, due <= now {
            // In NAT-PMP, the external address is asked for first.
            request(active?.method == .natpmp ? .address : .map(.pcp), now: now)
        }
        defer { output = [] }
        return output
    }

    private mutating func change(_ gateway: Gateway?, now: Instant) {
        let isSameRouter = gateway?.router == self.gateway?.router
        self.gateway = gateway
        exchange = nil
        due = nil
        pause = Self.pauses.lowerBound
        externalAddress = nil
        if !isSameRouter { epoch = nil }
        // The mapping led to the former address.
        if active != nil || gateway == nil { lose(gateway == nil ? .noRouter : .networkChanged) }
        if gateway != nil { request(.map(.pcp), now: now) }
    }

    /// The method of the mapping that the router has, or may have.
    private var activeMethod: Method? {
        if case .map(let method) = exchange?.request { return method }
        return active?.method
    }

    // MARK: Requests

    private mutating func request(_ request: Request, now: Instant) {
        guard let gateway else { return }
        due = nil
        let bytes =
            switch request {
            case .map(.pcp): pcp(gateway, lifetime: Self.lifetime)
            case .remove(.pcp): pcp(gateway, lifetime: 0)
            case .address: NATPMPRequest.externalAddress.encoded
            case .map(.natpmp):
                NATPMPRequest.mapping(
                    internalPort: internalPort, externalPort: active?.mapping.port ?? internalPort,
                    lifetime: Self.lifetime
                ).encoded
            case .remove(.natpmp):
                NATPMPRequest.mapping(internalPort: internalPort, externalPort: 0, lifetime: 0).encoded
            }
        exchange = Exchange(request: request, bytes: bytes, until: now + Self.timeout(request, attempt: 0))
        output.append(.send(bytes))
    }

    private func pcp(_ gateway: Gateway, lifetime: UInt32) -> [UInt8] {
        PCPRequest(
            lifetime: lifetime, client: gateway.host, nonce: nonce, internalPort: internalPort,
            suggestion: active?.mapping
        ).encoded
    }

    /// PCP waits 3 s before the first repetition (RFC 6887 §8.1.1), NAT-PMP 250 ms (RFC 6886 §3.1); then twice as long
    /// each time. A removal waits only shortly.
    private static func timeout(_ request: Request, attempt: Int) -> Duration {
        switch request {
        case .map(.pcp): .seconds(3) * (1 << attempt)
        case .map(.natpmp), .address: .milliseconds(250) * (1 << attempt)
        case .remove: .milliseconds(250) * (1 << attempt)
        }
    }

    private static func attempts(_ request: Request) -> Int {
        switch request {
        case .map(.pcp), .remove: 3
        case .map(.natpmp), .address: 6
        }
    }

    private mutating func repeatRequest(_ exchange: Exchange, now: Instant) {
        guard exchange.attempts < Self.attempts(exchange.request) else { return giveUp(exchange.request, now: now) }
        var exchange = exchange
        exchange.until = now + Self.timeout(exchange.request, attempt: exchange.attempts)
        exchange.attempts += 1
        self.exchange = exchange
        output.append(.send(exchange.bytes))
    }

    /// The router does not answer.
    private mutating func giveUp(_ request: Request, now: Instant) {
        exchange = nil
        switch request {
        case .remove: finish()
        case .map(.pcp) where active == nil && gateway?.host.family == .v4: self.request(.address, now: now)
        case .map, .address: fail(.noAnswer, now: now)
        }
    }

    // MARK: Responses

    private mutating func receive(_ bytes: [UInt8], now: Instant) {
        guard gateway != nil else { return }
        if let response = PCPResponse(bytes) {
            handle(response, now: now)
        } else if let response = NATPMPResponse(bytes) {
            handle(response, now: now)
        }
    }

    private mutating func handle(_ response: PCPResponse, now: Instant) {
        switch response.content {
        case .announce: note(response.epoch, now: now)
        case .mapping(let nonce, let port, let external):
            guard nonce == self.nonce.bytes, port == internalPort else { return }
            switch exchange?.request {
            case .remove(.pcp): if response.lifetime == 0 { finish() }
            case .map(.pcp):
                note(response.epoch, now: now)
                confirm(external, .pcp, lifetime: response.lifetime, now: now)
            default: break
            }
        case .failure(let code):
            switch exchange?.request {
            case .remove(.pcp): finish()
            case .map(.pcp) where code == PCP.unsupportedVersion && gateway?.host.family == .v4:
                request(.address, now: now)
            case .map(.pcp):
                fail(code == PCP.addressMismatch ? .addressMismatch : .refused(code: UInt16(code)), now: now)
            default: break
            }
        }
    }

    private mutating func handle(_ response: NATPMPResponse, now: Instant) {
        guard gateway?.host.family == .v4 else { return }
        switch (response.content, exchange?.request) {
        case (.externalAddress(let address), .address?):
            externalAddress = address
            note(response.epoch, now: now)
            request(.map(.natpmp), now: now)
        case (.externalAddress(let address), _):
            // An announcement. The mapping is renewed if the router has lost it or has a new address.
            note(response.epoch, now: now)
            if let active, active.mapping.address != address { renewSoon(active, now: now) }
        case (.mapping(internalPort, let port, let lifetime), .map(.natpmp)?):
            note(response.epoch, now: now)
            guard let externalAddress else { return }
            confirm(PortMapping(address: externalAddress, port: port), .natpmp, lifetime: lifetime, now: now)
        case (.mapping(internalPort, _, lifetime: 0), .remove(.natpmp)?): finish()
        case (.failure, .map(.pcp)?):
            // A router without PCP rejects the version of the request in this way (RFC 6887 §9).
            request(.address, now: now)
        case (.failure, .remove(.natpmp)?): finish()
        case (.failure(let code), .map(.natpmp)?), (.failure(let code), .address?):
            fail(.refused(code: code), now: now)
        default: break
        }
    }

    private mutating func confirm(_ mapping: PortMapping, _ method: Method, lifetime: UInt32, now: Instant) {
        guard mapping.isPlausible, lifetime > 0 else { return fail(.implausible, now: now) }
        exchange = nil
        pause = Self.pauses.lowerBound
        hasFailed = false
        let lifetime = min(max(.seconds(Int64(lifetime)), Self.lifetimes.lowerBound), Self.lifetimes.upperBound)
        let former = active?.mapping
        active = Active(method: method, mapping: mapping, confirmed: now, expires: now + lifetime)
        due = now + lifetime / 2
        if mapping != former { output.append(.mapped(mapping)) }
    }

    /// Compares the router's epoch with the own clock, and renews the mapping at once if the router has lost it.
    private mutating func note(_ server: UInt32, now: Instant) {
        defer { epoch = Epoch(server: server, at: now) }
        guard let epoch else { return }
        let (host, passed) = ((now - epoch.at).components.seconds, Int64(server) - Int64(epoch.server))
        // The margins are those of RFC 6887 §8.5.
        let isContinuous = passed >= -1 && host + 2 >= passed - passed / 16 && passed + 2 >= host - host / 16
        if !isContinuous, let active { renewSoon(active, now: now) }
    }

    /// Renews the mapping, but not more often than once per second, because any host can forge announcements.
    private mutating func renewSoon(_ active: Active, now: Instant) {
        if exchange == nil, !isStopping { due = max(now, active.confirmed + .seconds(1)) }
    }

    /// The request failed. A mapping that exists stays until it expires.
    private mutating func fail(_ failure: PortMappingFailure, now: Instant) {
        exchange = nil
        if let active {
            // Halves of the remaining time, as RFC 6887 §11.2.1 recommends.
            let remaining = active.expires - now
            due = remaining > Self.pauses.lowerBound ? now + remaining / 2 : nil
            return
        }
        due = now + pause
        pause = min(pause * 2, Self.pauses.upperBound)
        if !hasFailed { output.append(.failed(failure)) }
        hasFailed = true
    }

    private mutating func lose(_ failure: PortMappingFailure) {
        active = nil
        hasFailed = true
        output.append(.failed(failure))
    }

    private mutating func finish() {
        active = nil
        exchange = nil
        due = nil
        gateway = nil
        output.append(.stopped)
    }
}
