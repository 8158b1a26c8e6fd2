import AddressService
import Appliance
import FirmwareProcess
import LinuxNetwork
public import Logging
import NIOCore
import NIOPosix
import PlugModel
import PlugTransport
import ServiceDiscovery
import Storage

extension PlugService {
    static let serviceType: ServiceType = "_smartplug._tcp"

    /// Starts the plug, runs it until `stopped` returns, and stops it in order. A plug whose key is not usable stays
    /// off the network, but its button works.
    ///
    /// - Throws: The error that prevented the start.
    public func run(until stopped: () async -> Void) async throws {
        start()
        openWiFi()
        let panel = await openPanel()
        if let identity {
            try await serve(as: identity, until: stopped)
        } else {
            await stopped()
            logger.info("stopping")
        }
        await stop()
        await panel?.stop()
    }

    /// Runs the plug like ``run(until:)``. After a factory reset it starts again with a new key.
    public static func run(
        _ settings: PlugSettings, logger: Logger, until stopped: @escaping @Sendable () async -> Void
    ) async throws {
        // One thread suffices, and each further thread needs memory.
        let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let waiting = Task {
            await stopped()
            end.yield()
        }
        defer { waiting.cancel() }
        var addressing: Addressing?
        while true {
            let service = try PlugService(settings, on: loop, logger: logger, whenReset: { end.yield() })
            // The service now owns the directories. The addresses survive a reset, because they are not personal data
            // of the owner.
            let running = await service.address(continuing: addressing)
            addressing = running
            do {
                try await service.run { for await _ in ends { break } }
            } catch {
                await running.stop()
                throw error
            }
            guard await service.isReset else { return await running.stop() }
        }
    }

    /// Installs the crash report of this run and reads the report of the previous one.
    ///
    /// - Returns: The last known crash, or nil.
    static func beginReport(_ crashes: CrashReports, _ logger: Logger) -> PlugCrash? {
        var last: PlugCrash?
        do {
            if let new = try crashes.takeOver() {
                logger.error(
                    """
                    the firmware crashed in an earlier run:
                    \(new.report)hint: the previous lines of the system journal may show why; plugd status and plugctl doctor show this too
                    """)
            }
            last = try crashes.last()
        } catch {
            logger.warning("cannot keep the crash report of the previous run: \(error)")
        }
        do throws(CrashReports.Refusal) {
            try crashes.begin(firmware: firmwareVersion)
        } catch {
            logger.warning("\(error)")
        }
        return last
    }

    /// Loads or creates the key. If this fails, the reason is logged and the plug stays off the network.
    static func identity(
        in directories: PlugDirectories, _ storage: PlugStorage, logger: Logger
    ) -> (identity: TransportIdentity?, isKept: Bool) {
        guard !storage.isUnfinished else { return (nil, false) }
        do throws(IdentityFileError) {
            return (try TransportIdentity.kept(in: directories.key, isPinned: storage.isPaired), true)
        } catch {
            switch error {
            case .unusable, .damaged, .missing:
                logger.error("the plug stays off the network, but its button works: \(error)")
                return (nil, false)
            case .notKept:
                // No controller has paired yet, and none is stored before the key is.
                logger.error("the key of this plug cannot be stored and is lost when plugd stops: \(error)")
                return (TransportIdentity(), false)
            }
        }
    }

    /// Serves the network until `stopped` returns. The service is withdrawn before the connections end, so that clients
    /// stop looking for the plug first.
    private func serve(as identity: TransportIdentity, until stopped: () async -> Void) async throws {
        let networks = LocalNetworks(and: settings.pairingNetworks, on: loop)
        defer { networks.stop() }
        let listener = try await Listener.start(
            on: loop, identity: identity, loopbackOnly: settings.staysOnThisMachine, port: settings.port,
            memory: addressMemory, isLocal: { networks.contain($0) }, owner: self)
        let discovery = Discovery(
            interfaces: settings.interfaces.isEmpty ? .multicastCapable : .named(settings.interfaces),
            servesProxy: mayServeSleepers,
            // The plug's own lease may have servers that nothing else on this host uses.
            resolverFiles: [settings.directories.runtime + "/resolv.conf", "/etc/resolv.conf"], on: loop,
            logger: logger)
        presence = NetworkPresence(discovery, listener)
        let service = try ownService()
        let registration = try await discovery.register(service)
        presence?.announce(registration, as: service.name)
        // The pairing window may have changed during the registration.
        announcePairing()
        openBroker()
        await openHomeKit { networks.contain($0) }
        await openMatter { networks.contain($0) }
        await openSleepProxy(discovery)
        await register(in: settings.wideArea, as: service.name, discovery)
        let following = Task {
            for await name in registration.names {
                rename(name)
                await register(in: settings.wideArea, as: name, discovery)
                logger.info("announced as \"\(name)\" port \(listener.port)")
            }
        }
        await stopped()
        logger.info("stopping")
        async let withdrawal: Void = leaveDomain()
        await sleepProxy?.stop()
        await discovery.stop()
        await broker?.stop()
        await homeKit?.stop()
        await matter?.stop()
        await withdrawal
        following.cancel()
        await listener.stop()
    }

    private var addressMemory: KnownAddressStore {
        KnownAddressStore(known: storage.addresses) { [weak self] addresses in
            self?.assumeIsolated { $0.storage.keep(addresses: addresses) }
        }
    }

    /// Opens the panel. Without it, the plug still works by its button and over the network.
    private func openPanel() async -> PanelServer? {
        do {
            return try await PanelServer.start(path: settings.directories.panelSocket, on: loop, owner: self)
        } catch {
            logger.error(
                """
                the panel is unavailable, so plugd status, press and load cannot reach this plug: \(errorText(error))
                """)
            return nil
        }
    }
}
