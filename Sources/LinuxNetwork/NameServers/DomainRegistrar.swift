public import DNSWire
import LinuxSystem
public import Logging
import NIOCore
import ProtocolCore
public import ServiceDiscovery
public import UnicastDNS

/// The domain in which a host registers its service, and the access to the name server.
public struct DomainSettings: Hashable, Sendable {
    /// The domain. It must be a zone of the server.
    public let domain: Name
    /// The address of the server that accepts the registration; nil for the one that the domain names.
    public let server: IPAddress?
    /// The TCP port of the server; nil for that of DNS, or the one that the domain names.
    public let port: UInt16?
    /// The means by which the server accepts the registration.
    public let access: Access
    /// True to map the port of the service at the router, and to open it in the firewall for IPv6.
    public let mapsPort: Bool

    /// The means by which a server accepts a registration.
    public enum Access: Hashable, Sendable {
        /// A key that the server knows, in a file in the form of BIND. Other users must not be able to read the file.
        case sharedKey(file: String)
        /// The first host that registers a name owns it (RFC 9665).
        case firstCome
    }

    /// The maximum size of the key file in bytes.
    private static let keyFileLimit = 4096

    /// Creates settings.
    public init(
        domain: Name, server: IPAddress? = nil, port: UInt16? = nil, access: Access, mapsPort: Bool = false
    ) {
        self.domain = domain
        self.server = server
        self.port = port
        self.access = access
        self.mapsPort = mapsPort
    }

    /// Reads the shared key; nil if none is necessary.
    ///
    /// - Throws: `FileError` if the file is missing, or if other users may read it; `KeyFileError` if it has no key.
    public func sharedKey() throws -> TransactionKey? {
        guard case .sharedKey(let file) = access else { return nil }
        guard let bytes = try FileStore().readSecretIfPresent(file, limit: Self.keyFileLimit) else {
            throw FileError(.open, file, .system(.notFound))
        }
        return try TransactionKey(file: String(decoding: bytes, as: UTF8.self))
    }
}

/// Registers one service of this host in a domain of a name server: connects a ``ZoneRegistrar`` to sockets, to the time,
/// to the key file and to the interfaces. The registered addresses are those of the interfaces, or the external ones if the
/// router maps the port.
public actor DomainRegistrar {
    /// The state of the registration.
    public enum State: Hashable, Sendable {
        /// The host has no address that other networks can reach, or the server has not answered yet.
        case waiting
        /// The service is registered under this name.
        case registered(name: String)
        /// The last attempt failed, and is repeated.
        case failed(ZoneFailure)
    }

    /// The event loop on which the actor runs.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// The state of the registration.
    public private(set) var state = State.waiting

    /// The state of the mapping at the router in IPv4; nil if none is requested.
    public var mapping: MappedPort.State? { mappedPort?.state }

    /// The state of the port in the firewall of the IPv6 router; nil if the port is not requested.
    public var pinhole: MappedPort.State? { openPort?.state }

    private let eventLoop: any EventLoop
    private let discovery: Discovery
    private let settings: DomainSettings
    private let logger: Logger
    private var machine: ZoneRegistrar
    private var service: ServiceRegistration
    private var addresses: [IPAddress] = []
    private let key: RegistrationKey
    /// The open connections. Without a request, the server does not sign its response.
    private var exchanges: [ExchangeID: (socket: NameServerExchange, request: TransactionKey.Request?)] = [:]
    /// The messages that wait for the address of the server.
    private var unsent: [ExchangeID: [UInt8]] = [:]
    /// The server that was found last. It is used during a stop, because the discovery may already have stopped.
    private var found: (address: IPAddress, port: UInt16)?
    private var following: Task<Void, Never>?
    private var mappedPort: MappedPort?
    private var openPort: MappedPort?
    private let changed: @Sendable () -> Void
    private let actions = ActionQueue<ZoneRegistrar.Action>()
    private var timer = DeadlineTimer()
    private var stopWaiter: CheckedContinuation<Void, Never>?
    private var isStopped = false

    /// Starts to register a service.
    ///
    /// - Parameters:
    ///   - service: the service. Its host name must be unique in the domain.
    ///   - key: the key of this host for ``DomainSettings/Access/firstCome``.
    ///   - discovery: asks for the server, and has the interfaces whose addresses are registered.
    ///   - changed: called on the event loop after each change of ``state``, ``mapping`` and ``pinhole``.
    public init(
        _ service: ServiceRegistration, _ settings: DomainSettings, key: RegistrationKey, discovery: Discovery,
        logger: Logger, changed: @escaping @Sendable () -> Void = {}
    ) {
        self.service = service
        self.settings = settings
        self.discovery = discovery
        eventLoop = discovery.eventLoop
        self.logger = logger
        self.key = key
        self.changed = changed
        machine = ZoneRegistrar(
            zone: settings.domain, claimKey: settings.access == .firstCome ? key.recordData : nil,
            random: SystemRandomNumberGenerator())
        eventLoop.execute { self.assumeIsolated { $0.follow(discovery.interfaces) } }
    }

    /// Changes the service, for example its name.
    public func update(_ service: ServiceRegistration) {
        self.service = service
        publish()
    }

    /// Removes the service from the domain, and the mapping from the router. Returns when both have answered, or after a
    /// few seconds.
    public func stop() async {
        guard !isStopped, stopWaiter == nil else { return }
        following?.cancel()
        let unmapped = [mappedPort, openPort].compactMap { $0?.stop() }
        await withCheckedContinuation { waiter in
            stopWaiter = waiter
            handle(.stop)
        }
        timer.stop()
        for removal in unmapped { try? await removal.get() }
    }

    private func follow(_ interfaces: InterfaceFilter) {
        guard !isStopped, stopWaiter == nil else { return }
        if settings.mapsPort {
            mappedPort = map(over: .v4, interfaces)
            openPort = map(over: .v6, interfaces)
            mappedPort?.start()
            openPort?.start()
        }
        following = Task {
            do {
                for try await list in InterfaceMonitor.interfaces(interfaces, on: eventLoop) { update(list) }
            } catch {
                logger.error("cannot follow the network interfaces: \(error)")
            }
        }
    }

    private func map(over family: IPFamily, _ interfaces: InterfaceFilter) -> MappedPort {
        MappedPort(service.port, over: family, interfaces: interfaces, on: eventLoop) { [weak self] state in
            self?.assumeIsolated { $0.mapped(state, over: family) }
        }
    }

    private func update(_ interfaces: [LinuxInterface]) {
        let usable = interfaces.filter(\.isOperational).flatMap(\.addresses)
            .filter { $0.isUsable && !$0.isDeprecated }
            .compactMap { IPAddress(bytes: $0.bytes) }
            .filter { !$0.isLinkLocal && !$0.isLoopback }
        guard usable != addresses else { return }
        addresses = usable
        publish()
    }

    private func mapped(_ state: MappedPort.State, over family: IPFamily) {
        switch state {
        case .waiting: break
        case .mapped(let mapping) where mapping.isPublic:
            logger.notice("hosts in other networks can connect to \(mapping.address) port \(mapping.port)")
        case .mapped(let mapping):
            logger.warning(
                """
                hosts on the internet cannot connect: the router has the private address \(mapping.address), so a second \
                router follows
                hint: use one of the routers as a bridge, or a VPN
                """)
        case .failed(let failure):
            let hint = failure.hint(over: family).map { "\nhint: \($0)" } ?? ""
            let reason = failure.reason(over: family) + hint
            switch family {
            case .v4: logger.warning("hosts in other networks cannot connect: \(reason)")
            // Many networks have no IPv6, and many routers no PCP.
            case .v6: logger.info("hosts in other networks cannot connect over IPv6: \(reason)")
            }
        }
        changed()
        publish()
    }

    private func publish() {
        guard
            let place = RegisteredPlace(
                port: service.port, interfaces: addresses, mapping: mapping, pinhole: pinhole)
        else { return }
        handle(.publish(ZoneService(service, addresses: place.addresses, port: place.port)))
    }

    private func handle(_ event: ZoneRegistrar.Event) {
        actions.perform(machine.handle(event, now: BootClock.now), by: perform)
        guard !actions.isPerforming else { return }
        timer.follow(machine.nextDeadline, now: BootClock.now, on: eventLoop) { [weak self] in
            self?.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: ZoneRegistrar.Action) {
        switch action {
        case .send(let id, let message):
            if let server = settings.server {
                send(message, id, to: (server, settings.port ?? ResolverConfiguration.port))
            } else {
                unsent[id] = message
                Task { await findServer(for: id) }
            }
        case .close(let id):
            unsent[id] = nil
            exchanges.removeValue(forKey: id)?.socket.close()
        case .registered(let name):
            state = .registered(name: name)
            logger.notice("registered as \"\(name)\" in \(settings.domain)")
            changed()
        case .failed(let failure, _): failed(failure)
        case .stopped:
            isStopped = true
            stopWaiter?.resume()
        }
    }

    /// Finds the server and sends the message. The resolver keeps the answers.
    private func findServer(for id: ExchangeID) async {
        do throws(ZoneFailure) {
            var server = stopWaiter == nil ? nil : found
            if server == nil {
                server = try await discovery.updateServer(of: settings.domain, for: settings.access)
                found = server
            }
            guard let (address, port) = server, let message = unsent.removeValue(forKey: id) else { return }
            send(message, id, to: (address, settings.port ?? port))
        } catch {
            unsent[id] = nil
            handle(.failed(id, error))
        }
    }

    /// Signs and sends a message. The shared key is read for each one, so that a corrected file needs no restart.
    private func send(_ message: [UInt8], _ id: ExchangeID, to server: (address: IPAddress, port: UInt16)) {
        do {
            let request = try settings.sharedKey()?.sign(message, at: Self.time)
            guard let signed = request?.bytes ?? key.sign(message, as: hostName, at: Self.time) else { return }
            let socket = NameServerExchange(
                signed, to: SocketAddress(server.address, port: server.port, interface: 0), .stream, on: eventLoop,
                receive: { [weak self] bytes in self?.assumeIsolated { $0.received(bytes, id) } },
                fail: { [weak self] in self?.assumeIsolated { $0.handle(.failed(id, .noAnswer)) } })
            exchanges[id] = (socket, request)
        } catch {
            handle(.failed(id, .unusableKey(reason: "\(error)", hint: (error as? FileError)?.hint)))
        }
    }

    private func received(_ bytes: [UInt8], _ id: ExchangeID) {
        guard let exchange = exchanges[id] else { return }
        do throws(TransactionKey.Rejection) {
            let verified = try exchange.request?.verify(bytes, at: Self.time)
            guard let message = verified ?? (try? Message(decoding: bytes)) else { throw .unsigned }
            handle(.replied(id, message))
        } catch {
            handle(.failed(id, .signature(error)))
        }
    }

    private func failed(_ failure: ZoneFailure) {
        // A repeated failure is logged once. The times in two failures may differ.
        if case .failed(let last) = state, "\(last)" == "\(failure)" { return }
        state = .failed(failure)
        let hint = failure.hint.map { "\nhint: \($0)" } ?? ""
        logger.warning("not registered in \(settings.domain): \(failure)\(hint)")
        changed()
    }

    /// The name of this host in the domain.
    private var hostName: Name {
        (try? settings.domain.prepending(label: Array(service.hostName.utf8))) ?? settings.domain
    }

    /// Seconds since 1970.
    private static var time: UInt64 { UInt64(max(0, WallTime.now.nanosecondsSince1970 / 1_000_000_000)) }
}
