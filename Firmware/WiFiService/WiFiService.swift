public import AddressConfiguration
public import DNSWire
import LinuxNetwork
import LinuxSystem
public import Logging
public import NIOCore
public import PlugModel
import ProtocolCore
public import WiFi

/// The shell of ``WiFi/WiFiMachine``: the socket to wpa_supplicant, the timer, and the servers of the plug's own network.
public actor WiFiService {
    /// The calls to the plug, made on the event loop.
    public struct Plug: Sendable {
        /// Writes the networks to flash. The result is passed to ``WiFiService/kept(_:)``.
        public var keep: @Sendable (WiFiNetworks) -> Void
        /// Assigns this address to the radio's interface, with ``WiFi/AccessPointLeases/prefixLength``; nil lets the interface
        /// join other networks again. Returns false if that failed.
        public var serve: @Sendable (IPv4Address?) -> Bool
        /// Sets the address of the radio's interface in the network that it has joined; nil for one from a DHCP server.
        public var fix: @Sendable (FixedAddress?) -> Void

        /// Creates the calls.
        public init(
            keep: @escaping @Sendable (WiFiNetworks) -> Void, serve: @escaping @Sendable (IPv4Address?) -> Bool,
            fix: @escaping @Sendable (FixedAddress?) -> Void
        ) {
            (self.keep, self.serve, self.fix) = (keep, serve, fix)
        }
    }

    /// The plug's address in its own network. Few routers use this network.
    public static let ownAddress = IPv4Address(192, 168, 73, 1)

    /// The executor of the event loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop

    private let settings: WiFiSettings
    /// The path of the plug's socket.
    private let path: String
    private let plug: Plug
    private let logger: Logger
    private var machine: WiFiMachine
    private let actions = ActionQueue<WiFiMachine.Action>()
    private var timer = DeadlineTimer()
    private var socket: SupplicantSocket?
    private var server: SetupServer?
    /// True from the action until the ports are closed.
    private var isServing = false
    private var isStopped = false
    private var nextNumber: UInt64 = 0
    private var askers: [UInt64: @Sendable (Result<WiFiReport, Refusal>) -> Void] = [:]

    /// Creates a stopped service.
    ///
    /// - Parameters:
    ///   - label: the name and the password of the plug's own network.
    ///   - networks: the networks in flash.
    ///   - runtime: the plug's directory for sockets.
    public init(
        _ settings: WiFiSettings, label: WiFiMachine.Label, networks: WiFiNetworks, runtime: String,
        on eventLoop: any EventLoop, logger: Logger, asking plug: Plug
    ) {
        self.settings = settings
        self.plug = plug
        self.logger = logger
        self.eventLoop = eventLoop
        executor = eventLoop.executor
        path = runtime + "/wifi.sock"
        machine = WiFiMachine(label: label, networks: networks)
    }

    /// Starts to talk to wpa_supplicant. It may start later.
    public func start() { handle(.started) }

    /// Closes the plug's own network. wpa_supplicant keeps its connection, for the next plugd.
    public func stop() {
        isStopped = true
        timer.stop()
        serve(false)
        closeSocket()
        for answer in askers.values { answer(.failure(Refusal(.busy, "the plug stops"))) }
        askers = [:]
    }

    /// Performs an owner's request.
    public func manage(_ request: WiFiRequest, answer: @escaping @Sendable (Result<WiFiReport, Refusal>) -> Void) {
        nextNumber += 1
        askers[nextNumber] = answer
        handle(.requested(request, nextNumber))
    }

    /// Opens the plug's own network, because the button requested it.
    public func setUp() { handle(.setupRequested) }

    /// Updates whether another interface has a link.
    public func update(hasCable: Bool) { handle(.wired(hasCable)) }

    /// Updates whether a controller has a session.
    public func update(hasSessions: Bool) { handle(.sessions(hasSessions)) }

    /// Handles the result of ``Plug/keep``.
    public func kept(_ isKept: Bool) { handle(.kept(isKept)) }

    /// The state of the radio.
    public var report: WiFiReport { machine.report }

    private func handle(_ event: WiFiMachine.Event) {
        guard !isStopped else { return }
        let now = BootClock.now
        actions.perform(machine.handle(event, now: now)) { perform($0) }
        timer.follow(machine.nextDeadline, now: BootClock.now, on: eventLoop) { [weak self] in
            self?.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: WiFiMachine.Action) {
        switch action {
        case .open: openSocket()
        case .close: closeSocket()
        case .send(let command):
            socket?.send(command) { [weak self] in self?.assumeIsolated { $0.handle(.socketFailed) } }
        case .keep(let networks): plug.keep(networks)
        case .serve(let serves): serve(serves)
        case .address(let address): plug.fix(address)
        case .answer(let number, let result): askers.removeValue(forKey: number)?(result)
        case .notice(let notice): log(notice)
        }
    }

    private func openSocket() {
        let opening = SupplicantSocket.open(
            "\(settings.controlFolder)/\(settings.interface)", path: path, on: eventLoop,
            receive: { [weak self] text in self?.assumeIsolated { $0.handle(.received(text)) } },
            fail: { [weak self] in self?.assumeIsolated { $0.handle(.socketFailed) } })
        opening.whenComplete { [weak self] result in
            self?.assumeIsolated { service in
                guard case .success(let socket) = result else { return service.handle(.socketOpened(false)) }
                guard !service.isStopped else { return socket.close() }
                service.socket = socket
                service.handle(.socketOpened(true))
            }
        }
    }

    private func closeSocket() {
        socket?.close()
        socket = nil
    }

    // MARK: The plug's own network

    private func serve(_ serves: Bool) {
        guard serves != isServing else { return }
        isServing = serves
        guard serves else {
            server?.stop()
            server = nil
            _ = plug.serve(nil)
            return
        }
        guard plug.serve(Self.ownAddress) else {
            return logger.error("the plug's own network has no address, so the setup page cannot be reached")
        }
        Task {
            do {
                let server = try await SetupServer.start(
                    on: settings.interface, address: Self.ownAddress, eventLoop: eventLoop
                ) { [weak self] request in
                    self?.assumeIsolated { $0.respond(to: request) }
                        ?? SetupResponse(status: .serviceUnavailable, html: "")
                }
                guard isServing, self.server == nil else { return server.stop() }
                self.server = server
            } catch {
                logger.error(
                    "the setup page cannot be served: \(errorText(error))",
                    metadata: [
                        "hint": "plugd needs CAP_NET_BIND_SERVICE, and no other program may use the ports 53, 67 and 80"
                    ])
            }
        }
    }

    private func respond(to request: SetupRequest) -> SetupResponse {
        handle(.visited)
        let address = "\(Self.ownAddress)"
        guard let page = machine.setupPage else { return SetupResponse(status: .serviceUnavailable, html: "") }
        // Any other host is a phone's test for the internet, or a page that tries to reach this one.
        guard request.host == address, ["/", "/join"].contains(request.path) else {
            return SetupResponse(status: .found, html: "", location: "http://\(address)/")
        }
        switch (request.method, request.path) {
        case (.GET, "/"), (.HEAD, "/"): return SetupResponse(status: .ok, html: page.html())
        case (.POST, "/join"):
            guard request.origin == nil || request.origin == "http://\(address)" else {
                return SetupResponse(
                    status: .forbidden, html: page.html(mistake: "The form was sent from a different page."))
            }
            do throws(SetupForm.Mistake) {
                let form = try SetupForm(decoding: request.body)
                handle(.submitted(form.network, country: form.country, address: form.address))
                return SetupResponse(status: .ok, html: machine.setupPage?.html() ?? "")
            } catch {
                return SetupResponse(status: .badRequest, html: page.html(mistake: "\(error)"))
            }
        default: return SetupResponse(status: .found, html: "", location: "http://\(address)/")
        }
    }

    private func log(_ notice: WiFiMachine.Notice) {
        switch notice {
        case .joined(let name, let accessPoint):
            logger.notice("joined the Wi-Fi network \(name)", metadata: ["access point": "\(accessPoint)"])
        case .lost(let name): logger.notice("lost the Wi-Fi network \(name)")
        case .trying(let name): logger.notice("trying the Wi-Fi network \(name)")
        case .failed(let failure):
            logger.warning("the Wi-Fi network \(failure.name) cannot be used: \(failure.reason.rawValue)")
        case .setupOpened(let name): logger.notice("opened the plug's own Wi-Fi network \(name) for its setup")
        case .setupClosed: logger.notice("closed the plug's own Wi-Fi network")
        case .supplicantMissing: logger.warning("wpa_supplicant does not answer; trying again every 10 s")
        case .refused(let command): logger.warning("wpa_supplicant refused \(command)")
        }
    }
}
