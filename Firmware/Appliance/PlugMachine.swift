public import Metering
public import PlugProtocol
public import ProtocolCore

/// A whole plug as one value: the appliance, the sessions of its controllers, its journal and its samples.
///
/// What the appliance records gets its number here and goes out in the same step; what a controller commands is carried
/// out in the same step. The shell is left with lines, sockets and files.
public struct PlugMachine: Machine, Sendable {
    public enum Event: MachineEvent, Sendable {
        /// First of all events; see ``ApplianceMachine/Event/started(_:powerLost:)``.
        case started(StoredState?, powerLost: Bool)
        case buttonEdge(down: Bool)
        case measured(Measurement)
        case meterFailed
        case opened(ConnectionID, peer: String)
        case received(ConnectionID, [UInt8])
        case writable(ConnectionID, Bool)
        case closed(ConnectionID)
        /// The service instance name changed.
        case renamed(String)
        /// Writes what flash lacks and says Goodbye to all.
        case stopping
        case deadlineReached
    }

    public enum Action: Hashable, Sendable {
        case setRelay(Bool)
        case setDimmer(DimLevel)
        case setLight(Bool)
        /// To be answered by `measured` or `meterFailed`.
        case readMeter
        case persist(StoredState)
        case send(ConnectionID, [UInt8])
        case close(ConnectionID, EndReason)
    }

    private var appliance: ApplianceMachine
    private var server: PlugServer
    private var samples: SampleStore

    public init(
        _ configuration: ApplianceConfiguration, identity: PlugServer.Identity, journal: EventJournal = EventJournal(),
        samples: SampleStore = SampleStore()
    ) {
        appliance = ApplianceMachine(configuration)
        server = PlugServer(identity: identity, journal: journal, state: appliance.state)
        self.samples = samples
    }

    public var state: PlugState { appliance.state }
    public var connections: [PlugServer.Connection] { server.connections }
    public var identity: PlugServer.Identity { server.identity }
    /// Sessions that ended because what arrived was no message of ours.
    public var malformedSessions: UInt64 { server.malformedCount }
    /// The number of the next event.
    public var nextSequence: SequenceNumber { server.journal.nextSequence }

    public var nextDeadline: Instant? { sooner(appliance.nextDeadline, server.nextDeadline) }

    public mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .started(let stored, let powerLost): step(.started(stored, powerLost: powerLost), now, &actions)
        case .buttonEdge(let down): step(.buttonEdge(down: down), now, &actions)
        case .measured(let measurement): step(.measured(measurement), now, &actions)
        case .meterFailed: step(.meterFailed, now, &actions)
        case .opened(let id, let peer): serve(.opened(id, peer: peer), now, &actions)
        case .received(let id, let bytes): serve(.received(id, bytes), now, &actions)
        case .writable(let id, let isWritable): serve(.writable(id, isWritable), now, &actions)
        case .closed(let id): serve(.closed(id), now, &actions)
        case .renamed(let name): serve(.renamed(name), now, &actions)
        case .stopping:
            step(.stopping, now, &actions)
            serve(.stop, now, &actions)
        case .deadlineReached:
            if let deadline = appliance.nextDeadline, deadline <= now { step(.deadlineReached, now, &actions) }
            if let deadline = server.nextDeadline, deadline <= now { serve(.deadlineReached, now, &actions) }
        }
        return actions
    }

    private mutating func step(_ event: ApplianceMachine.Event, _ now: Instant, _ actions: inout [Action]) {
        for action in appliance.handle(event, now: now) {
            switch action {
            case .setRelay(let on): actions.append(.setRelay(on))
            case .setDimmer(let level): actions.append(.setDimmer(level))
            case .setLight(let lit): actions.append(.setLight(lit))
            case .readMeter: actions.append(.readMeter)
            case .persist(let state): actions.append(.persist(state))
            case .record(let kind): serve(.record(kind), now, &actions)
            case .stateChanged(let state): serve(.stateChanged(state), now, &actions)
            case .commandDone(let request, let answer): serve(.commandOutcome(request, answer.outcome), now, &actions)
            case .sample(let sample): samples.append(sample)
            }
        }
    }

    private mutating func serve(_ event: PlugServer.Event, _ now: Instant, _ actions: inout [Action]) {
        for action in server.handle(event, now: now) {
            switch action {
            case .send(let id, let bytes): actions.append(.send(id, bytes))
            case .close(let id, let reason): actions.append(.close(id, reason))
            case .perform(let request, let controller, let command, deadline: _):
                // Carried out in this very step, so no deadline can pass.
                step(.command(request, controller: controller, command), now, &actions)
            case .fetch(let id, let fetch, let from, let to):
                answer(id, fetch: fetch, from: from, to: to, now, &actions)
            }
        }
    }

    private mutating func answer(
        _ id: ConnectionID, fetch: UInt32, from: Instant, to: Instant, _ now: Instant, _ actions: inout [Action]
    ) {
        let found = samples.chunks(from: from, through: to)
        // The next chunk begins after the last millisecond of this one.
        let next = found.first.map { Instant(nanoseconds: ($0.lastMilliseconds + 1) * 1_000_000) }
        let goesOn = found.count > 1 && next.map { $0 <= to } == true
        serve(.samples(id, fetch: fetch, chunk: found.first?.bytes ?? [], next: goesOn ? next : nil), now, &actions)
    }
}

extension ApplianceMachine.CommandAnswer {
    /// The server fills in the number of the event that the request caused.
    fileprivate var outcome: CommandOutcome {
        switch self {
        case .done(let state, recorded: _): .done(state, event: nil)
        case .refused(let refusal): .refused(refusal)
        }
    }
}
