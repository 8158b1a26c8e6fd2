import DNSWire
public import LinuxNetwork
import LinuxSystem
import MulticastDNS
public import NIOCore
import ProtocolCore
import ServiceDiscovery
import SleepClient

/// Registers this machine with a sleep proxy before each suspend. After the resume, the machine announces its records
/// itself again.
public actor SleepService {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// The pause before a failed connection to logind is repeated.
    private static let retry = Duration.seconds(60)
    /// The part of logind's delay that a registration may use. The rest is for a busy machine.
    private static let share = 0.6

    private let discovery: Discovery
    private let interfaces: InterfaceFilter
    private let eventLoop: any EventLoop
    private let sequence: SequenceFile
    private let report: @Sendable (String) -> Void
    private let resumed: @Sendable (String, Duration) async -> Void
    private let monitor = SuspendMonitor(why: "registers with a sleep proxy")
    private var machine: SleepClient
    private var links: [LinuxInterface] = []
    private var port: DatagramPort?
    private var timer = DeadlineTimer()
    private var fault: String?

    /// Creates a service. ``run()`` starts it.
    ///
    /// - Parameters:
    ///   - interfaces: the interfaces that the discovery uses.
    ///   - eventLoop: the event loop of the discovery.
    ///   - directory: the directory for the sequence number, which must survive a restart.
    ///   - report: called with each line for the log; it may contain a `hint:` line.
    ///   - resumed: called after each sleep with a line about it and its duration.
    public init(
        _ discovery: Discovery, interfaces: InterfaceFilter, on eventLoop: any EventLoop, directory: String,
        report: @escaping @Sendable (String) -> Void, resumed: @escaping @Sendable (String, Duration) async -> Void
    ) {
        (self.discovery, self.interfaces, self.eventLoop) = (discovery, interfaces, eventLoop)
        (self.report, self.resumed) = (report, resumed)
        sequence = SequenceFile(directory)
        machine = SleepClient(random: SeededRandom(seed: .random(in: .min ... .max)), sequence: sequence.next())
    }

    /// Runs until the task is cancelled.
    public func run() async {
        while port == nil, !Task.isCancelled { await open() }
        let (signals, continuation) = AsyncStream.makeStream(of: SuspendMonitor.Signal?.self)
        await withDiscardingTaskGroup { group in
            group.addTask { await self.followInterfaces() }
            group.addTask { await SleepProxyBrowser(self.discovery).run { await self.handle(.proxies($0)) } }
            group.addTask { await self.followSuspends(continuation) }
            group.addTask { for await signal in signals { await self.follow(signal) } }
        }
        timer.stop()
        port?.close()
        port = nil
    }

    /// Opens the port, or waits before the next attempt.
    private func open() async {
        do {
            port = try await DatagramPort.open(on: eventLoop) { datagram in
                self.assumeIsolated { $0.received(datagram) }
            }
        } catch {
            report("no sleep proxy can represent this machine: \(error)")
            try? await Task.sleep(for: Self.retry)
        }
    }

    private func followInterfaces() async {
        do {
            for try await list in InterfaceMonitor.interfaces(interfaces, on: eventLoop) { links = list }
        } catch {
            report("no sleep proxy can represent this machine: \(error)")
        }
    }

    private func followSuspends(_ signals: AsyncStream<SuspendMonitor.Signal?>.Continuation) async {
        while let reason = await monitor.follow({ signals.yield($0) }) {
            if fault != reason {
                report(
                    """
                    suspends of this machine are not followed, so no sleep proxy represents it: \(reason)
                    hint: this needs systemd-logind and libsystemd; without them, nothing else changes
                    """)
            }
            fault = reason
            do { try await Task.sleep(for: Self.retry) } catch { break }
        }
        signals.finish()
    }

    // MARK: Machine

    private func follow(_ signal: SuspendMonitor.Signal?) async {
        switch signal {
        case nil: fault = nil
        case .suspending(let limit)?:
            var sleeping: [SleepingLink] = []
            for link in links where link.isOperational {
                guard let card = MACAddress(bytes: link.hardwareAddress), card != .zero else { continue }
                let interface = InterfaceID(bitPattern: link.index)
                let records = await discovery.announcedRecords(on: interface)
                sleeping.append(
                    SleepingLink(interface: interface, name: link.name, card: card, records: records))
            }
            sequence.store(machine.sequence)
            handle(.suspending(sleeping, limit: limit * Self.share))
        case .resumed?: handle(.resumed)
        }
    }

    private func received(_ datagram: InboundDatagram) {
        let peer = Peer(address: datagram.source, port: datagram.sourcePort)
        handle(.answer(datagram.bytes, from: peer, interface: datagram.interface))
    }

    private func handle(_ event: SleepClient.Event) {
        for action in machine.handle(event, now: BootClock.now) { perform(action) }
        timer.follow(machine.nextDeadline, now: BootClock.now, on: eventLoop) {
            self.assumeIsolated { $0.handle(.deadlineReached) }
        }
    }

    private func perform(_ action: SleepClient.Action) {
        switch action {
        case .send(let bytes, let peer, let interface): port?.send(bytes, to: peer, interface: interface)
        case .ready: monitor.permit()
        case .takeOver(let owner, let interface):
            Task { [discovery] in
                let records = await discovery.announcedRecords(on: interface)
                await discovery.multicast(owner.announcements(of: records), on: interface)
            }
        case .report(let line): report(line)
        case .summary(let line, let asleep): Task { [resumed] in await resumed(line, asleep) }
        }
    }
}

/// The file with the last sequence number that a proxy may know. A proxy ignores registrations with older numbers.
private struct SequenceFile {
    private let directory: String
    private var path: String { directory + "/sleep-sequence" }

    init(_ directory: String) { self.directory = directory }

    /// Returns the number that follows the stored one. Without a readable file, the number is random: a proxy that
    /// knows this machine then accepts it with a probability of one half, or after the lease.
    func next() -> UInt8 {
        let text = (try? FileStore().readText(path, limit: 16)).map { $0.filter(\.isNumber) }
        return text.flatMap { UInt8($0) }.map { $0 &+ 1 } ?? .random(in: .min ... .max)
    }

    /// Stores a number. A failure, for example because the disk is full, is ignored. The next process then begins with
    /// an older number.
    func store(_ sequence: UInt8) {
        try? FileStore().makeDirectories(directory)
        try? FileStore().replace(path, with: Array("\(sequence)\n".utf8))
    }
}
