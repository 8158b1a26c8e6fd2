import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import LinuxSystem
import NIOCore
import NIOHTTP1
public import ServiceDiscovery

extension Dashboard {
    /// A notice for the caller of `run(_:)`.
    public enum Notice: Hashable, Sendable {
        /// Browsers reach the page at `address`, for example "http://127.0.0.1:7580/". The fingerprint is nil without
        /// TLS. The announcement is nil if only this machine can connect.
        case serving(address: String, fingerprint: String?, announcement: ServiceRegistration?)
        /// A part of the dashboard does not work. The text is for the user; it may contain a `hint:` line.
        case complaint(String)
    }

    /// The delay before a failed socket is opened again.
    private static let retry = Duration.seconds(3)
    /// The interval of the checks for removed passwords and ended sessions.
    private static let watchfulness = Duration.seconds(5)

    /// Serves until the task is cancelled. It then closes the remaining connections after ``DoorLimits/farewell`` and
    /// returns.
    public func run(_ tell: @escaping @Sendable (Notice) -> Void) async {
        let keeper = PasswordKeeper(settings.password, clock: settings.clock)
        let sessions = SessionKeeper(settings.directory + "/sessions") { tell(.complaint($0)) }
        let login = Login(keeper: keeper, sessions: sessions, secret: deviceSecret(tell))
        let building = ServerParts(self, login)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // When the task is cancelled, the board ends all streams and rejects new ones.
                let (cancelled, end) = AsyncStream.makeStream(of: Never.self)
                for await _ in cancelled {}
                end.finish()
                await board.end()
            }
            group.addTask { await endStreams(of: login) }
            group.addTask { await watchBudget(tell) }
            group.addTask { await pushNotifications(to: login, tell) }
            if let place = settings.place {
                group.addTask {
                    await keepTrying(tell) { () async throws(DashboardFault) in try await serve(place, building, tell) }
                }
            }
            if let path = settings.socket {
                group.addTask {
                    await keepTrying(tell) { () async throws(DashboardFault) in
                        try await serve(LocalSocketPath(path: path), building)
                    }
                }
            }
        }
        await sessions.stop(now: WallTime.now.nanosecondsSince1970 / 1_000_000_000)
        await keeper.stop()
    }

    /// Ends each stream and each subscription that was authorized by a password or session that is no longer valid. If
    /// the page also has a valid password or session, it reconnects at once.
    private func endStreams(of login: Login) async {
        while (try? await Task.sleep(for: Self.watchfulness)) != nil {
            // The check skips streams that begin while it runs: their session or password may be newer than the list of
            // valid ones.
            let newest = await board.nextReader
            let subscribed = (try? await HistoryThreads.run { [push] in try push.subscriptions() }) ?? []
            let valid = await login.entrances(isLoopback: settings.isForThisMachine)
            await board.endReaders(without: valid, until: newest)
            await endSubscriptions(among: subscribed, without: valid)
        }
    }

    private func keepTrying(
        _ tell: @Sendable (Notice) -> Void, _ body: () async throws(DashboardFault) -> Void
    ) async {
        var told: DashboardFault?
        while !Task.isCancelled {
            do throws(DashboardFault) {
                try await body()
                told = nil
            } catch {
                if told != error { tell(.complaint("\(error)")) }
                told = error
            }
            try? await Task.sleep(for: Self.retry)
        }
    }

    private func serve(
        _ place: DashboardSettings.Place, _ building: ServerParts, _ tell: @Sendable (Notice) -> Void
    ) async throws(DashboardFault) {
        let identity =
            settings.isSecure ? try ServerIdentity(settings, names: settings.certificateNames) : nil
        let guests = ConnectionTracker(settings.limits)
        let plain = building.channel(.network(isLoopback: settings.isForThisMachine, isSecure: identity != nil), guests)
        let door: ServerListener
        do {
            door =
                if let identity {
                    try await ServerListener(
                        .network(place), guests: guests, logger: logger,
                        child: TLSChannel(plain, tlsConfiguration: identity.configuration))
                } else {
                    try await ServerListener(.network(place), guests: guests, logger: logger, child: plain)
                }
        } catch {
            throw DashboardFault(
                """
                the dashboard cannot listen at \(place) and retries: \(reason(for: error))
                hint: stop the program that uses the port, or choose a different one with --listen
                """)
        }
        let port = door.channel.localAddress?.port ?? place.port
        let host = ["0.0.0.0", "::"].contains(place.host) ? ProcessInfo.processInfo.hostName : place.host
        let scheme = identity == nil ? "http" : "https"
        let address = "\(scheme)://\(DashboardSettings.Place(host: host, port: port))/"
        let announcement = UInt16(exactly: port).flatMap { settings.announcement(port: $0) }
        tell(.serving(address: address, fingerprint: identity?.fingerprint, announcement: announcement))
        await board.serve(at: address)
        await door.stayOpen(farewell: settings.limits.farewell)
        await board.serve(at: nil)
    }

    private func serve(_ socket: LocalSocketPath, _ building: ServerParts) async throws(DashboardFault) {
        // The lock is held until the socket listens. If two daemons start at once, the second daemon then detects the
        // first one.
        let place = try socket.lock()
        try await socket.clear()
        let guests = ConnectionTracker(settings.limits, isOpen: false)
        let door: ServerListener
        do {
            door = try await ServerListener(
                .local(path: socket.path), guests: guests, logger: logger, child: building.channel(.local, guests))
        } catch {
            throw DashboardFault(
                "the daemon cannot listen for commands at \(socket.path): \(reason(for: error))\n"
                    + "hint: choose a different path with --socket")
        }
        do throws(DashboardFault) {
            try socket.restrict()
        } catch {
            try? await door.channel.close()
            throw error
        }
        guests.open()
        place.giveBack()
        // The file is removed before the socket is closed. While the socket listens, another daemon that finds the file
        // detects its running owner and does not replace it. After the close, the file may belong to the next daemon.
        await door.stayOpen(farewell: settings.limits.farewell) { socket.remove() }
    }

    private func deviceSecret(_ tell: (Notice) -> Void) -> [UInt8] {
        let path = settings.directory + "/session-key"
        let drawn = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        do throws(FileError) {
            if let known = try FileStore().readSecretIfPresent(path, limit: 64), known.count == 32 { return known }
            try FileStore().makeDirectories(settings.directory)
            try FileStore().replaceSecret(path, with: drawn)
        } catch {
            let loss = "the key for the cookies of known browsers cannot be saved and is lost on restart"
            tell(.complaint("\(loss): \(DashboardFault(error))"))
        }
        return drawn
    }
}

/// The parts that the network socket and the local socket share.
private struct ServerParts: Sendable {
    let settings: DashboardSettings
    let login: Login
    let methods: KnownMethods
    let routes: RouterResponder<DashboardContext>
    let isPublic: Set<String>
    let dashboard: Dashboard
    let seats = RequestSeats()

    init(_ dashboard: Dashboard, _ login: Login) {
        self.dashboard = dashboard
        self.login = login
        settings = dashboard.settings
        let page = Page()
        let router = Router(context: DashboardContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: FaultAnswers())
        SessionRoutes(
            login: login, isLoopback: settings.isForThisMachine, ended: { await dashboard.board.endReaders(of: $0) },
            hasFleet: { dashboard.fleet?.rights(of: $0).isEmpty == false }
        ).add(to: router)
        dashboard.addAPI(to: router)
        page.add(to: router)
        methods = KnownMethods(router.routes)
        routes = router.buildResponder()
        isPublic = Set(page.files.keys).union(AccessTable.openPaths)
    }

    func channel(_ door: RequestFilter.Door, _ guests: ConnectionTracker) -> DoorChannel {
        let keeper = RequestFilter(
            door: door, hosts: HostCheck(names: settings.acceptedNames), external: settings.external, methods: methods,
            login: login, isPublic: isPublic, limits: settings.limits, guests: guests, seats: seats, routes: routes)
        let (logger, board) = (dashboard.logger, dashboard.board)
        return DoorChannel(limits: settings.limits, guests: guests) { request, writer, channel in
            let context = DashboardContext(source: .init(channel: channel, logger: logger))
            let response = try await keeper.respond(to: request, context: context)
            board.requests.count(response.status.code)
            do {
                try await writer.write(response: response.head, body: response.body)
            } catch is HTTPParserError {
                // The HTTP server sends an answer when the responder throws an `HTTPParserError`. A failed write means
                // that the connection is lost, so `ConnectionLost` is thrown instead.
                throw ConnectionLost()
            }
        }
    }
}

extension DashboardSettings {
    /// Checks the settings before any socket is opened.
    ///
    /// - Throws: `DashboardFault` if other machines can reach the page and no password is set, or if the password file
    ///   or the certificate cannot be used.
    public func check() throws(DashboardFault) {
        guard let place else { return }
        if !isForThisMachine {
            let hasNone: Bool
            do throws(FileError) { hasNone = try password.passwords().isEmpty } catch { throw DashboardFault(error) }
            guard !hasNone else {
                let way = isLoopback ? external.map(\.description).sorted().joined(separator: ", ") : "\(place)"
                throw DashboardFault(
                    """
                    \(way) is reachable from other machines, but no password is set
                    hint: set one with plugctl daemon password, or omit \(isLoopback ? "--external-url" : "--listen") to serve only this machine
                    """)
            }
        }
        if isSecure { _ = try ServerIdentity(self, names: certificateNames) }
    }

    /// The host names that requests may use. At a loopback address, the host's own names are not accepted: any
    /// host in the local network can claim `<host>.local` in multicast DNS, serve its own page under this name to the
    /// user's browser, and then point the name to the loopback address (DNS rebinding). Requests from a proxy may have
    /// the external name.
    var acceptedNames: [String] {
        guard !isLoopback else { return external.map(\.host) + hostNames + (place.map { [$0.host] } ?? []) }
        return external.map(\.host) + certificateNames
    }

    /// The names in the certificate: `localhost`, the host's own names, the announced name in `local` and in the domain,
    /// the additional names, and the listening host.
    var certificateNames: [String] {
        let host = ProcessInfo.processInfo.hostName
        // Multicast DNS uses the first label of the host name (RFC 6762 section 3).
        let label = host.split(separator: ".").first.map(String.init) ?? host
        let listened = place.map { [$0.host] } ?? []
        let domains = ["local"] + [domain.map { "\($0.domain)" }].compactMap(\.self)
        let announced = isLoopback ? nil : announcedHost.map { host in domains.map { "\(host).\($0)" } }
        return ["localhost", host, label + ".local"] + (announced ?? []) + hostNames + listened
    }
}

/// The cause of a failed bind, without the name of the system call that failed.
private func reason(for error: any Error) -> String {
    (error as? IOError).map { "\(SystemError($0.errnoCode))" } ?? "\(error)"
}
