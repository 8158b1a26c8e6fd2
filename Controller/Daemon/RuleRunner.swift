public import AsyncAlgorithms
public import Automation
import LinuxNetwork
import NIOCore
public import PlugClient
import PlugProtocol
import ProtocolCore

/// Runs rules on the house: the shell of ``Automation/RuleEngine``.
public actor RuleRunner {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private nonisolated let executor: any SerialExecutor
    private nonisolated let eventLoop: any EventLoop

    /// What is worth telling, in order. A reader that is slow slows the house's reports down.
    public nonisolated let records = AsyncChannel<RunnerRecord>()
    /// How long a command is worth sending again: a light that goes off an hour after the film began helps nobody.
    private static let patience = TimeAmount.seconds(10)
    private let house: any RuledHouse
    private var engine: RuleEngine
    private let actions = ActionQueue<RuleEngineAction>()
    private var timer = DeadlineTimer()
    private var following: Set<String> = []
    private var boots: [String: BootID] = [:]
    private var localTime: LocalTime?
    /// Records made since the last were handed over; bounded by what one event can cause.
    private var unsent: [RunnerRecord] = []

    public init(rules: [Rule], client: PlugClient) {
        self.init(rules: rules, house: HouseFollower(client), on: client.eventLoop)
    }

    init(rules: [Rule], house: any RuledHouse, on eventLoop: any EventLoop) {
        engine = RuleEngine(rules: rules)
        self.house = house
        self.eventLoop = eventLoop
        executor = eventLoop.executor
    }

    /// Follows the house and runs the rules until the task is cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.house.run() }
            group.addTask { await self.keepLocalTime() }
            for await update in house.updates {
                await take(update)
                await handOver()
            }
            group.cancelAll()
        }
        timer.stop()
        records.finish()
    }

    private func take(_ update: HouseFollower.Update) async {
        switch update {
        case .found: break
        case .lost(let name): note(.lost(plug: name))
        case .report(let report): await take(report)
        }
    }

    private func take(_ report: PlugReport) async {
        let plug = report.plug
        switch report.update {
        case .connected(let description):
            boots[plug] = description.boot
        case .snapshot(let state):
            handle(.plugAppeared(plug: plug, state: state, boot: boots[plug]))
            if following.insert(plug).inserted { note(.following(plugs: following.count, newest: plug)) }
        case .state(let state):
            guard let reading = state.reading else { return }
            handle(.reading(plug: plug, activePower: reading.activePower, time: reading.time, isSnapshot: false))
        case .event(let event, let age):
            take(event, of: plug, age: age)
            await house.acknowledge(event.sequence, of: plug)
        case .gap(let gap):
            note(.gap(plug: plug, from: gap.from, to: gap.to, reason: gap.reason.rawValue))
        case .disconnected:
            following.remove(plug)
            handle(.plugLost(plug: plug))
        case .commandFinished, .samples: break
        }
    }

    private func take(_ event: PlugEvent, of plug: String, age: Duration?) {
        switch event.kind {
        case .relayChanged(let on, let cause):
            var request: RequestID?
            if case .controller(_, let id) = cause { request = id }
            handle(.relayChanged(plug: plug, on: on, request: request, age: age))
        case .buttonPressed(let press):
            handle(.buttonPressed(plug: plug, press: press, sequence: event.sequence, age: age))
        case .protectionTripped, .restarted: break
        }
    }

    // MARK: The machine

    private func handle(_ event: RuleEngineEvent) {
        actions.perform(engine.handle(event, now: BootClock.now), by: perform)
        timer.follow(engine.nextDeadline, now: BootClock.now, on: eventLoop) { [weak self] in
            guard let self else { return }
            Task { await self.deadlineReached() }
        }
    }

    private func deadlineReached() async {
        handle(.deadlineReached)
        await handOver()
    }

    private func perform(_ action: RuleEngineAction) {
        switch action {
        case .fired(let firing): note(.firing(firing))
        case .heldBack(let firing, let reason): note(.heldBack(firing, reason))
        case .notSent(let firing, let plug, let reason): note(.notSent(firing, plug: plug, reason))
        case .send(let request): send(request)
        }
    }

    private func send(_ request: CommandRequest) {
        Task {
            let attempt = Task { try await house.send(request.command, to: request.plug, id: request.id) }
            let limit = eventLoop.scheduleTask(in: Self.patience) { attempt.cancel() }
            let outcome: CommandOutcome
            do {
                let (state, event) = try await attempt.value
                outcome = .done(state, event: event)
            } catch let refusal as Refusal {
                outcome = .refused(refusal)
            } catch {
                let waited = Self.patience.nanoseconds / 1_000_000_000
                outcome = .refused(Refusal(.deadlinePassed, "the plug did not answer within \(waited) s"))
            }
            limit.cancel()
            handle(.commandFinished(plug: request.plug, id: request.id, outcome: outcome))
            note(.command(plug: request.plug, outcome))
            await handOver()
        }
    }

    /// Looks at the wall clock every minute: it may have been set, and daylight saving time may have begun.
    private func keepLocalTime() async {
        while !Task.isCancelled {
            let wall = WallTime.now
            let now = BootClock.now
            let seconds = wall.nanosecondsSince1970 / 1_000_000_000 + Int64(wall.localOffset)
            let offset = seconds - now.nanoseconds / 1_000_000_000
            let current = LocalTime(pieces: [.init(from: .zero, offset: offset)])
            if current != localTime {
                localTime = current
                handle(.localTimeChanged(current))
            }
            try? await Task.sleep(for: .seconds(60))
        }
    }

    private func note(_ kind: RunnerRecord.Kind) {
        unsent.append(RunnerRecord(at: WallTime.now, kind: kind))
    }

    private func handOver() async {
        while !unsent.isEmpty { await records.send(unsent.removeFirst()) }
    }
}
