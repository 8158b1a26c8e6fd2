import LinuxSystem
import NIOCore
import NIOPosix
import ProtocolCore
import Synchronization

/// The thread of backtests. They take seconds, so they have their own thread, and run one at a time.
enum BacktestThread {
    /// The maximum duration of a backtest. It stops a request for many rules and days from using a core for long.
    static let limit = Duration.seconds(10)
    private static let isBusy = Atomic(false)
    private static let thread: NIOThreadPool = {
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        return thread
    }()

    /// Runs a backtest until it ends, the limit is reached or the client closes its connection.
    ///
    /// - Parameter work: calls its argument often, and ends when that returns true.
    /// - Throws: `Fault` if another backtest runs, and the errors of the work.
    static func run<Answer: Sendable>(
        for channel: any Channel, _ work: @escaping @Sendable (_ isStopped: @escaping () -> Bool) throws -> Answer
    ) async throws -> Answer {
        guard isBusy.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
            throw Fault.unavailable("another backtest is running", hint: "try again in a moment")
        }
        defer { isBusy.store(false, ordering: .releasing) }
        let client = HangUpHandler()
        // The handler cannot be added if the connection is already closed.
        let isConnected = (try? await channel.pipeline.addHandler(client, position: .first).get()) != nil
        if !isConnected { client.hasHungUp.store(true, ordering: .relaxed) }
        defer { if isConnected { channel.pipeline.removeHandler(client, promise: nil) } }
        let end = BootClock.now + limit
        return try await thread.runIfActive {
            try work { client.hasHungUp.load(ordering: .relaxed) || BootClock.now > end }
        }
    }
}

/// Notes that the client of a request has closed its connection, or its sending half, as browsers do when a request is
/// cancelled.
private final class HangUpHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = ByteBuffer

    let hasHungUp = Atomic(false)

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { hasHungUp.store(true, ordering: .relaxed) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        hasHungUp.store(true, ordering: .relaxed)
        context.fireChannelInactive()
    }
}
