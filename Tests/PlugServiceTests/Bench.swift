import Appliance
import Foundation
import LinuxSystem
import Logging
import NIOCore
import NIOPosix
import PlugHardware
import PlugModel
import PlugProtocol
import PlugTransport
import ProtocolCore
import Storage
import TestSupport
import Testing

@testable import PlugService

/// Access to the files of a plug.
extension TestFolder {
    var directories: PlugDirectories { PlugDirectories(state: path, runtime: path + "/run") }

    func write(_ text: String, to file: String) throws { try write(Data(text.utf8), to: file) }

    func write(_ data: Data, to file: String) throws {
        try FileManager.default.createDirectory(atPath: path + "/run", withIntermediateDirectories: true)
        try data.write(to: URL(filePath: path + "/" + file))
    }

    /// Returns a folder with copies of the files `id`, `sequence`, `state` and `run/mirror`, which a later process of
    /// the plug reads.
    func copy() throws -> TestFolder {
        let copy = TestFolder()
        for file in ["id", "sequence", "state", "run/mirror"] {
            guard let bytes = FileManager.default.contents(atPath: path + "/" + file) else { continue }
            try copy.write(bytes, to: file)
        }
        return copy
    }

    /// Stores the controller as paired, as a previous process would have done.
    func pair(with controller: TransportIdentity) throws {
        var random = SystemRandomNumberGenerator()
        let storage = try PlugStorage(
            state: path, runtime: path + "/run", boot: BootID(bytes: [UInt8](repeating: 7, count: 16))!,
            random: &random,
            tell: { _ in })
        let desk = PairedControllers.Controller(key: controller.publicKey, name: "desk")
        #expect(storage.keep(PairedControllers([desk])))
        _ = try TransportIdentity.kept(in: directories.key)
    }

    func text(_ file: String) -> String? {
        FileManager.default.contents(atPath: path + "/" + file).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A plug with simulated parts, its panel and its listener on loopback, without discovery.
struct RunningPlug {
    /// The identity of the controllers in all tests.
    static let desk = TransportIdentity()

    let directory: TestFolder
    let service: PlugService
    let parts: SimulatedPlug
    private let panel: PanelServer
    private let listener: Listener

    /// Starts a plug.
    /// - Parameters:
    ///   - log: Passes the log lines of the plug to the controllers that follow the log. Nil if no controller can
    ///     follow it.
    ///   - journal: Collects the log lines of the plug, or nil to discard them.
    init(
        in directory: TestFolder = TestFolder(), log: LogRelay? = nil, journal: CollectedLog? = nil
    ) async throws {
        self.directory = directory
        parts = SimulatedPlug(load: .fixed(deciwatts: 600), seed: 1, clock: { BootClock.now })
        var settings = PlugSettings(
            name: "Lamp", directories: directory.directories, interfaces: ["lo"], appliance: ApplianceConfiguration(),
            parts: parts.parts(dimmable: false), simulated: parts)
        settings.log = log
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        try directory.pair(with: Self.desk)
        let base = journal?.handler ?? SwiftLogNoOpLogHandler()
        service = try PlugService(
            settings, on: loop, logger: Logger(label: "test") { _ in log?.handler(over: base) ?? base })
        await service.start()
        panel = try await PanelServer.start(
            path: directory.directories.panelSocket, on: loop, owner: service)
        listener = try await Listener.start(
            on: loop, identity: try #require(service.identity), loopbackOnly: true, owner: service)
    }

    /// Returns a controller that subscribes to events from now on, or after the given event.
    func controller(after cursor: SequenceNumber? = nil) async throws -> Controller {
        let controller = Controller(after: cursor)
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: Int(listener.port))
        try await Dialer(identity: Self.desk).connect(to: [address], on: controller.loop, owner: controller)
        return controller
    }

    func ask(_ request: PanelRequest) async throws -> String {
        try await PanelClient.ask(request, at: directory.directories)
    }

    func stop() async {
        await listener.stop()
        await service.stop()
        await panel.stop()
    }
}

/// The controller's end of a connection.
actor Controller: ConnectionOwner {
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    nonisolated let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    nonisolated let updates: AsyncStream<SessionUpdate>
    private let continuation: AsyncStream<SessionUpdate>.Continuation
    private var session = ControllerSession(name: "Desk")
    private var connection: Connection?
    private let cursor: SequenceNumber?

    init(after cursor: SequenceNumber?) {
        self.cursor = cursor
        (updates, continuation) = AsyncStream.makeStream()
    }

    func opened(_ connection: Connection) {
        self.connection = connection
        handle(.connected)
        handle(.subscribe(SubscriptionOptions(events: cursor.map { .after($0) } ?? .fromNow)))
    }
    func received(_ bytes: [UInt8], on id: ConnectionID) { handle(.received(bytes)) }
    func writable(_ isWritable: Bool, on id: ConnectionID) {}
    func closed(_ id: ConnectionID) {
        handle(.closed)
        continuation.finish()
    }

    func command(_ id: RequestID, _ command: PlugCommand) {
        handle(.command(id, command, deadline: BootClock.now + .seconds(10)))
    }

    func followLog(_ level: LogLevel, for duration: Duration) { handle(.followLog(level, for: duration)) }

    private func handle(_ event: ControllerSession.Event) {
        var ends = false
        for action in session.handle(event, now: BootClock.now) {
            switch action {
            case .send(let bytes): connection?.send(bytes)
            case .close: ends = true
            case .deliver(let update): continuation.yield(update)
            }
        }
        // `close()` calls `closed(_:)` before it returns.
        if ends { connection?.close() }
    }
}

extension AsyncStream<SessionUpdate>.Iterator {
    /// Returns the next event and skips other updates. Returns nil when the connection ended.
    mutating func nextEvent() async -> PlugEvent? {
        while let update = await next() { if case .event(let event, _) = update { return event } }
        return nil
    }

    mutating func nextLog() async -> LogUpdate? {
        while let update = await next() { if case .log(let update) = update { return update } }
        return nil
    }

    mutating func nextOutcome() async -> CommandOutcome? {
        while let update = await next() { if case .commandFinished(_, let outcome) = update { return outcome } }
        return nil
    }

    /// Reads up to the snapshot, which completes the subscription.
    mutating func snapshot() async -> PlugState? {
        while let update = await next() { if case .snapshot(let state) = update { return state } }
        return nil
    }
}
