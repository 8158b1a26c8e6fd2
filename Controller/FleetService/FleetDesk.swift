import BrokerConfiguration
import Fleet
import LinuxNetwork
import LinuxSystem
import MQTT
import NIOCore
import NIOPosix
import PlugTopics
import ProtocolCore

/// Sends orders to plugs of many houses through their broker: the shell of `FleetRequests`.
actor FleetDesk {
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop

    private let account: BrokerAccount
    /// The unique client id at the broker.
    private let client: String
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private var machine: FleetRequests
    private let actions = ActionQueue<FleetRequests.Action>()
    private var timer = DeadlineTimer()
    private var connection: BrokerConnection?
    private var last: FleetRequests.Ticket = 0
    private var callers: [FleetRequests.Ticket: CheckedContinuation<FleetOutcome, Never>] = [:]

    init(_ account: BrokerAccount, prefix: String, on eventLoop: any EventLoop) {
        self.account = account
        self.eventLoop = eventLoop
        executor = eventLoop.executor
        var random = SystemRandomNumberGenerator()
        client = "fleet-" + String(random.next() as UInt64, radix: 16)
        machine = FleetRequests(
            prefix: prefix, client: client, servers: account.servers.count, seed: random.next())
        thread.start()
    }

    func carryOut(_ order: FleetOrder) async -> FleetOutcome {
        last += 1
        let ticket = last
        return await withCheckedContinuation { caller in
            callers[ticket] = caller
            handle(.ordered(ticket, order))
        }
    }

    /// Closes the connection. Must be called after the last order.
    func end() async {
        timer.stop()
        connection?.end()
        try? await thread.shutdownGracefully()
    }

    private func handle(_ event: FleetRequests.Event) {
        actions.perform(machine.handle(event, now: BootClock.now), by: perform)
        timer.follow(machine.nextDeadline, now: BootClock.now, on: eventLoop) { [weak self] in
            self?.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: FleetRequests.Action) {
        switch action {
        case .connect(let server): connect(server)
        case .disconnect: connection?.end()
        case .subscribe(let filter): connection?.subscribe([filter])
        case .publish(let number, let publication): connection?.publish(number, publication)
        case .tell(let ticket, let outcome): callers.removeValue(forKey: ticket)?.resume(returning: outcome)
        }
    }

    private func connect(_ server: Int) {
        let options: BrokerOptions
        do throws(FileError) {
            options = try account.options(client: client)
        } catch {
            let reason = "\(error)"
            return eventLoop.execute { self.assumeIsolated { $0.handle(.disconnected(reason: reason)) } }
        }
        connection = BrokerConnection(account.servers[server], options, on: eventLoop, thread: thread) {
            [weak self] event in
            self?.assumeIsolated { $0.heard(event) }
        }
    }

    private func heard(_ event: BrokerConnection.Event) {
        switch event {
        case .connected: handle(.connected)
        case .subscribed: handle(.subscribed(isGranted: true))
        case .notSubscribed: handle(.subscribed(isGranted: false))
        case .acknowledged(let number, let refusal): handle(.acknowledged(number, refusal: refusal))
        case .received(let message): handle(.received(message))
        case .ended(let reason, _):
            connection = nil
            handle(.disconnected(reason: reason))
        }
    }
}
