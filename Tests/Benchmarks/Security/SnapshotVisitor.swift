import LinuxSystem
import NIOCore
import NIOPosix
import PlugModel
import PlugProtocol
import PlugTransport

/// A controller that subscribes and disconnects after the first snapshot.
actor SnapshotVisitor: ConnectionOwner {
    private static let sharedLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

    nonisolated let loop = sharedLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
    private var session = ControllerSession(name: "visitor")
    private var connection: Connection?
    private let seen = sharedLoop.makePromise(of: Void.self)

    func waitForSnapshot() async throws { try await seen.futureResult.get() }

    func opened(_ connection: Connection) {
        self.connection = connection
        handle(.connected)
        handle(.subscribe(SubscriptionOptions(events: .fromNow)))
    }
    func received(_ bytes: [UInt8], on id: ConnectionID) { handle(.received(bytes)) }
    func writable(_ isWritable: Bool, on id: ConnectionID) {}
    func closed(_ id: ConnectionID) { seen.fail(ChannelError.eof) }

    private func handle(_ event: ControllerSession.Event) {
        for action in session.handle(event, now: BootClock.now) {
            switch action {
            case .send(let bytes): connection?.send(bytes)
            case .close: connection?.close()
            case .deliver(.snapshot):
                seen.succeed()
                connection?.close()
            case .deliver: break
            }
        }
    }
}
