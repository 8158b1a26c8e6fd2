import LinuxNetwork
import LinuxSystem
import NIOCore
import PlugModel
import PlugProtocol
import PlugTransport
import ProtocolCore

/// A connection on which the controller asks a plug to pair: the shell of `PairingSession`.
actor PairingAttempt: ConnectionOwner {
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop
    private let ownKey: PublicKey
    private var machine: PairingSession
    private var timer = DeadlineTimer()
    private var connection: Connection?
    private var result: Result<PairedPlug, PairingError>?
    private var waiting: CheckedContinuation<Result<PairedPlug, PairingError>, Never>?

    init(_ machine: PairingSession, ownKey: PublicKey, on eventLoop: any EventLoop) {
        self.machine = machine
        self.ownKey = ownKey
        self.eventLoop = eventLoop
        executor = eventLoop.executor
    }

    /// Waits for the result of the pairing. Call it once.
    ///
    /// - Throws: `PairingError`.
    func outcome() async throws(PairingError) -> PairedPlug {
        if let result { return try result.get() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { waiting = $0 }
        } onCancel: {
            Task { await self.cancel() }
        }
        return try result.get()
    }

    private func cancel() {
        connection?.close()
        handle(.closed)
    }

    func opened(_ connection: Connection) {
        self.connection = connection
        var random = SystemRandomNumberGenerator()
        let nonce = (0..<PairingTranscript.nonceLength).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        handle(.connected(plugKey: connection.peerKey, ownKey: ownKey, nonce: nonce))
    }

    func received(_ bytes: [UInt8], on id: ConnectionID) { handle(.received(bytes)) }

    /// Does nothing: the exchange is only a few hundred bytes long.
    func writable(_ isWritable: Bool, on id: ConnectionID) {}

    func closed(_ id: ConnectionID) { handle(.closed) }

    private func handle(_ event: PairingSession.Event) {
        for action in machine.handle(event, now: BootClock.now) {
            switch action {
            case .send(let bytes): connection?.send(bytes)
            case .close: connection?.close()
            case .finish(let result):
                self.result = result
                waiting?.resume(returning: result)
                waiting = nil
            }
        }
        timer.follow(machine.nextDeadline, now: BootClock.now, on: eventLoop) { [weak self] in
            self?.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }
}
