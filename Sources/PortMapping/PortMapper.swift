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
    /// The index of the interface, which is the scope of a link-local address.
    public let interface: UInt32

    /// Creates a gateway.
    ///
    /// - Parameter interface: the index of the interface; necessary only if the router has a link-local address.
    public init(router: IPAddress, host: IPAddress, interface: UInt32 = 0) {
        self.router = router
        self.host = host
        self.interface = interface
    }
}

/// The reasons why no port is mapped.
public enum PortMappingFailure: Error, Hashable, Sendable {
    /// The network has no router.
    case noRouter
    /// The router or the address of this host has changed, and the new router has not answered yet.
    case networkChanged
    /// The router did not answer in PCP, NAT-PMP or UPnP IGD.
    case noAnswer
    /// The router refused the mapping, with a code of RFC 6887 §7.4, RFC 6886 §3.5 or WANIPConnection.
    case refused(code: UInt16)
    /// The router sees a different address of this host: another router is in between.
    case addressMismatch
    /// The router reported an address or a port that cannot be used.
    case implausible
}

extension PortMappingFailure: CustomStringConvertible {
    public var description: String { reason(over: .v4) }

    /// Returns the reason why no port is mapped in IPv4, or why the router's firewall opens none in IPv6.
    public func reason(over family: IPFamily) -> String {
        switch self {
        case .noRouter where family == .v6: "the network has no IPv6 router, or this host has no global IPv6 address"
        case .noAnswer where family == .v6: "the IPv6 router does not answer in PCP"
        case .refused(let code) where family == .v6: "the router refused to open the port for IPv6 (code \(code))"
        case .noRouter: "the network has no router"
        case .networkChanged: "the network has changed; waiting for its router"
        case .noAnswer: "the router answers neither PCP nor NAT-PMP nor UPnP IGD"
        case .refused(let code): "the router refused to map the port (code \(code))"
        case .addressMismatch: "another router is between this host and the router that maps ports"
        case .implausible: "the router reported an address or a port that cannot exist"
        }
    }

    /// Returns a hint about what the user can do; nil if there is nothing to suggest.
    public func hint(over family: IPFamily) -> String? {
        switch self {
        case .noAnswer where family == .v6: "turn on PCP in the router, or open the port in its IPv6 firewall by hand"
        case .noRouter, .networkChanged, .implausible: nil
        case .noAnswer: "turn on PCP, NAT-PMP or UPnP IGD in the router, or forward the port by hand"
        case .refused: "permit port mapping for this host in the router"
        case .addressMismatch: "use one of the routers as a bridge, or a VPN"
        }
    }
}

/// Maps one TCP port of this host at a router: by PCP (RFC 6887), by NAT-PMP (RFC 6886) if the router does not support
/// PCP, or by UPnP IGD if it supports neither. Renews the mapping at half of its lifetime, and at once if the router has
/// lost it. With an IPv6 gateway it opens the port in the router's firewall, by PCP only.
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
        /// The router reports that no program uses the port of the requests (ICMP), or the connection failed.
        case refused
        /// The router's answer to a search.
        case found([UInt8])
        /// All that the router sent over the connection of ``Action/exchange(_:port:)`` until it closed it.
        case exchanged([UInt8])
        /// Removes the mapping. ``Action/stopped`` follows.
        case stop
        /// The time of ``PortMapper/nextDeadline`` was reached.
        case deadlineReached
    }

    /// The outputs of the machine, performed in order.
    public enum Action: Hashable, Sendable {
        /// Sends a datagram to the router.
        case send([UInt8])
        /// Sends a search by multicast to port 1900 (``searchPort``) of ``searchAddress``.
        case search([UInt8])
        /// Sends a request over a new TCP connection to this port of the router. It replaces an earlier one.
        case exchange([UInt8], port: UInt16)
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
    /// The multicast address of searches (SSDP).
    public static let searchAddress: IPAddress = .v4(239, 255, 255, 250)
    /// The port of searches (SSDP).
    public static let searchPort: UInt16 = 1900
    /// The limit of the bytes of ``Event/exchanged(_:)``.
    public static let exchangeLimit = DeviceResponse.limit
    /// The requested lifetime in seconds.
    public static let lifetime: UInt32 = 7200
    /// The limits of an accepted lifetime. Shorter ones would cause needless traffic, and RFC 6887 §15 recommends at
    /// most a day.
    static let lifetimes = Duration.seconds(120)...Duration.seconds(86_400)
    /// The pauses between attempts after a failure.
    static let pauses = Duration.seconds(60)...Duration.seconds(3600)

    private enum Method: Equatable { case pcp, natpmp, device(GatewayDevice.Service) }

    /// A request to the router.
    private enum Request {
        case map(Method)
        /// The first request in NAT-PMP, whose mappings do not contain the external address.
        case address
        case remove(Method)
        /// Searches for a router with UPnP IGD.
        case search
        /// Reads the router's description at this address.
        case describe(DeviceURL)
        /// Asks a service of the router for the external address.
        case deviceAddress(GatewayDevice.Service)
    }

    private struct Exchange {
        let request: Request
        let action: Action
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
    /// The external port that is requested by UPnP, which has no suggestions.
    private var devicePort: UInt16
    /// True if the router supports only mappings that never expire.
    private var leasesForever = false
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
        devicePort = port
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
        case .found(let bytes): found(bytes, now: now)
        case .exchanged(let bytes): exchanged(bytes, now: now)
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
            // In NAT-PMP and UPnP, the external address is asked for first.
            switch active?.method {
            case .pcp, nil: request(.map(.pcp), now: now)
            case .natpmp: request(.address, now: now)
            case .device(let service): request(.deviceAddress(service), now: now)
            }
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
        devicePort = internalPort
        leasesForever = false
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
        let action: Action =
            switch request {
            case .map(.pcp): .send(pcp(gateway, lifetime: Self.lifetime))
            case .remove(.pcp): .send(pcp(gateway, lifetime: 0))
            case .address: .send(NATPMPRequest.externalAddress.encoded)
            case .map(.natpmp):
                .send(
                    NATPMPRequest.mapping(
                        internalPort: internalPort, externalPort: active?.mapping.port ?? internalPort,
                        lifetime: Self.lifetime
                    ).encoded)
            case .remove(.natpmp):
                .send(NATPMPRequest.mapping(internalPort: internalPort, externalPort: 0, lifetime: 0).encoded)
            case .search: .search(GatewayDevice.search)
            case .describe(let url): .exchange(GatewayDevice.fetch(url), port: url.port)
            case .deviceAddress(let service): Self.exchange(.externalAddress, service)
            case .map(.device(let service)):
                Self.exchange(
                    .add(
                        externalPort: devicePort, internalPort: internalPort, host: "\(gateway.host)",
                        lifetime: leasesForever ? 0 : Self.lifetime), service)
            case .remove(.device(let service)): Self.exchange(.remove(externalPort: devicePort), service)
            }
        exchange = Exchange(request: request, action: action, until: now + Self.timeout(request, attempt: 0))
        output.append(action)
    }

    private static func exchange(_ request: GatewayDevice.Request, _ service: GatewayDevice.Service) -> Action {
        .exchange(request.message(to: service), port: service.url.port)
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
        case .map(.natpmp), .address, .remove(.pcp), .remove(.natpmp): .milliseconds(250) * (1 << attempt)
        case .search: .seconds(2)
        case .describe, .deviceAddress, .map(.device): .seconds(5)
        case .remove(.device): .seconds(2)
        }
    }

    private static func attempts(_ request: Request) -> Int {
        switch request {
        case .map(.pcp), .remove(.pcp), .remove(.natpmp): 3
        case .map(.natpmp), .address: 6
        case .search: 2
        // TCP repeats what is lost.
        case .describe, .deviceAddress, .map(.device), .remove(.device): 1
        }
    }

    private mutating func repeatRequest(_ exchange: Exchange, now: Instant) {
        guard exchange.attempts < Self.attempts(exchange.request) else { return giveUp(exchange.request, now: now) }
        var exchange = exchange
        exchange.until = now + Self.timeout(exchange.request, attempt: exchange.attempts)
        exchange.attempts += 1
        self.exchange = exchange
        output.append(exchange.action)
    }

    /// The router does not answer.
    private mutating func giveUp(_ request: Request, now: Instant) {
        exchange = nil
        switch request {
        case .remove: finish()
        case .map(.pcp) where active == nil && gateway?.host.family == .v4: self.request(.address, now: now)
        case .address where active == nil && gateway?.host.family == .v4: self.request(.search, now: now)
        case .map, .address, .search, .describe, .deviceAddress: fail(.noAnswer, now: now)
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

    // MARK: UPnP IGD

    /// True if the URL is one of the router. Any host can answer a search.
    private func isOfRouter(_ url: DeviceURL) -> Bool { gateway.map { "\($0.router)" == url.host } ?? false }

    private mutating func found(_ bytes: [UInt8], now: Instant) {
        guard case .search = exchange?.request, let url = GatewayDevice.location(in: bytes), isOfRouter(url) else {
            return
        }
        request(.describe(url), now: now)
    }

    private mutating func exchanged(_ bytes: [UInt8], now: Instant) {
        guard let request = exchange?.request else { return }
        let response = DeviceResponse(bytes)
        switch request {
        case .describe(let url):
            guard let service = response.flatMap({ GatewayDevice.service(in: $0.body, of: url) }),
                isOfRouter(service.url)
            else { return fail(.noAnswer, now: now) }
            self.request(.deviceAddress(service), now: now)
        case .deviceAddress(let service):
            guard let text = response?.body.element("NewExternalIPAddress"), let address = IPAddress(dotted: text)
            else {
                return fail(.implausible, now: now)
            }
            externalAddress = address
            self.request(.map(.device(service)), now: now)
        case .map(.device(let service)): mapped(response, by: service, now: now)
        case .remove(.device): finish()
        case .map, .address, .remove, .search: break
        }
    }

    /// The limit of external ports that are tried if other hosts have them.
    private static let portAttempts: UInt16 = 16

    private mutating func mapped(_ response: DeviceResponse?, by service: GatewayDevice.Service, now: Instant) {
        if let response, response.status == 200, let externalAddress {
            let mapping = PortMapping(address: externalAddress, port: devicePort)
            return confirm(mapping, .device(service), lifetime: Self.lifetime, now: now)
        }
        switch response?.body.element("errorCode").flatMap(UInt16.init) {
        case DeviceError.onlyPermanentLeases? where !leasesForever:
            leasesForever = true
            request(.map(.device(service)), now: now)
        case DeviceError.conflict? where active == nil && devicePort &- internalPort < Self.portAttempts:
            devicePort &+= 1
            request(.map(.device(service)), now: now)
        case let code: fail(.refused(code: code ?? 0), now: now)
        }
    }

    /// The error codes of WANIPConnection.
    private enum DeviceError {
        static let conflict: UInt16 = 718
        static let onlyPermanentLeases: UInt16 = 725
    }

    // MARK: Results

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
        devicePort = internalPort
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

extension IPAddress {
    /// Parses an IPv4 address in dotted form. Returns nil for other text.
    fileprivate init?(dotted text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 4, !parts.contains(nil) else { return nil }
        self.init(bytes: parts.compactMap { $0 })
    }
}
