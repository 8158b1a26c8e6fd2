import PlugModel
import ProtocolCore

@testable import Automation
@testable import DurableRules
@testable import RuleModel

/// A switch, a lamp that it toggles, the rules' process and its disk, in virtual time. The process is killed after a
/// number of its actions and restarted later, while the plugs continue.
struct KilledHouse {
    static let rules = [Rule(name: "Hall", triggers: [.button(plug: "Switch", .single)], actions: [.toggle(["Lamp"])])]
    static let switchID = PlugID(rawValue: "aaaaaaaaaaaa")!
    static let lampID = PlugID(rawValue: "bbbbbbbbbbbb")!
    private static let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!
    private static let writing = Duration.milliseconds(5)
    private static let travelling = Duration.milliseconds(1)

    private enum Happening {
        case press
        case start
        case event(DurableRuleEvent, process: Int)
        case command(CommandRequest, process: Int)
    }

    /// The number of actions after which the process dies; nil for no kill.
    let killAfter: Int?
    let away: Duration
    /// True if a write reaches the disk although the process is killed directly after it has requested the write.
    /// Earlier writes always reach the disk.
    let beginningIsWriting: Bool

    private(set) var now = Instant.zero
    private(set) var actionCount = 0
    private(set) var told: [RuleNotice] = []
    /// The commands that the lamp executed, in order.
    private(set) var effects: [RequestID] = []
    private(set) var lampOn = false
    /// The violated invariants.
    private(set) var violations: [String] = []
    private(set) var writes = 0
    private var machine: DurableRuleEngine?
    private var process = 0
    private var disk = StoredRuleState()
    private var presses: [Instant] = []
    private var switchings: [(on: Bool, request: RequestID, at: Instant)] = []
    private var queue: [(at: Instant, order: Int, what: Happening)] = []
    private var lastOrder = 0

    init(killAfter: Int?, away: Duration = .milliseconds(500), beginningIsWriting: Bool = true) {
        self.killAfter = killAfter
        self.away = away
        self.beginningIsWriting = beginningIsWriting
    }

    /// Runs the house; the process starts first.
    mutating func run(pressing presses: [Duration], for length: Duration) {
        add(.start, at: .zero)
        for press in presses { add(.press, at: .zero + press) }
        while true {
            let next = queue.indices.min { (queue[$0].at, queue[$0].order) < (queue[$1].at, queue[$1].order) }
            let deadline = machine?.nextDeadline
            guard let due = sooner(next.map { queue[$0].at }, deadline), due <= .zero + length else { return }
            now = max(now, due)
            if let next, queue[next].at <= now {
                happen(queue.remove(at: next).what)
            } else {
                feed(.deadlineReached)
            }
        }
    }

    private mutating func add(_ what: Happening, at: Instant) {
        lastOrder += 1
        queue.append((at, lastOrder, what))
    }

    private mutating func happen(_ what: Happening) {
        switch what {
        case .press:
            presses.append(now)
            let event = pressEvent(presses.count - 1)
            add(.event(.event(plug: "Switch", event, age: .zero), process: process), at: now + Self.travelling)
        case .start: start()
        case .event(let event, process): feed(event)
        case .event: break
        case .command(let request, let sender): carryOut(request, for: sender)
        }
    }

    // MARK: Plugs

    private func pressEvent(_ index: Int) -> PlugEvent {
        PlugEvent(
            sequence: SequenceNumber(index + 1), boot: Self.boot, time: presses[index], kind: .buttonPressed(.single))
    }

    private func switchEvent(_ index: Int) -> PlugEvent {
        let (on, request, at) = switchings[index]
        return PlugEvent(
            sequence: SequenceNumber(index + 1), boot: Self.boot, time: at,
            kind: .relayChanged(on: on, cause: .controller(name: "rules", request: request)))
    }

    /// Executes a command, unless the lamp has done so already, and answers it.
    private mutating func carryOut(_ request: CommandRequest, for sender: Int) {
        if !effects.contains(request.id) {
            guard case .setRelay(let on, _) = request.command else { return }
            effects.append(request.id)
            lampOn = on
            switchings.append((on, request.id, now))
            let event = switchEvent(switchings.count - 1)
            add(.event(.event(plug: "Lamp", event, age: .zero), process: sender), at: now + Self.travelling)
        }
        let outcome = CommandOutcome.done(PlugState(relayOn: lampOn), event: nil)
        add(.event(.commandFinished(request.id, outcome), process: sender), at: now + Self.travelling)
    }

    // MARK: Process

    private mutating func start() {
        machine = DurableRuleEngine(rules: Self.rules, memory: disk, now: now)
        connect("Switch", Self.switchID, isOn: true)
        for index in presses.indices where SequenceNumber(index + 1) > disk.cursors[Self.switchID] ?? 0 {
            feed(.event(plug: "Switch", pressEvent(index), age: now - presses[index]))
        }
        connect("Lamp", Self.lampID, isOn: lampOn)
        for index in switchings.indices where SequenceNumber(index + 1) > disk.cursors[Self.lampID] ?? 0 {
            feed(.event(plug: "Lamp", switchEvent(index), age: now - switchings[index].at))
        }
    }

    private mutating func connect(_ name: String, _ id: PlugID, isOn: Bool) {
        let isNew = disk.cursors[id] == nil
        feed(.connected(plug: name, id: id, boot: Self.boot))
        if isNew { feed(.following(plug: name, after: 0)) }
        feed(.snapshot(plug: name, PlugState(relayOn: isOn)))
    }

    private mutating func feed(_ event: DurableRuleEvent) {
        let living = process
        guard let actions = machine?.handle(event, now: now) else { return }
        for action in actions where living == process { perform(action) }
    }

    private mutating func perform(_ action: DurableRuleAction) {
        if isDoomed { return die() }
        actionCount += 1
        switch action {
        case .store(let memory):
            writes += 1
            if beginningIsWriting || !isDoomed { disk = memory }
            add(.event(.stored, process: process), at: now + Self.writing)
        case .send(let request):
            if !disk.commands.contains(where: { $0.request.id == request.id }) {
                violations.append("a command was sent before it was stored")
            }
            add(.command(request, process: process), at: now + Self.travelling)
        case .acknowledge(let plug, let sequence):
            let id = plug == "Lamp" ? Self.lampID : Self.switchID
            if disk.cursors[id] ?? 0 < sequence { violations.append("an event was acknowledged too early") }
        case .withdraw, .perform, .call: break
        case .tell(let notice): told.append(notice)
        }
        if isDoomed { die() }
    }

    /// True if the process has to die now; only the first process is killed.
    private var isDoomed: Bool { process == 0 && actionCount == killAfter }

    private mutating func die() {
        machine = nil
        process += 1
        add(.start, at: now + away)
    }

    // MARK: Outcome

    /// The presses for which a process reported the firing, or a later process reported the resumed command.
    var fired: Set<SequenceNumber> {
        Set(
            told.compactMap {
                switch $0 {
                case .firing(let firing): firing.cause.event
                case .resumed(let command): command.event
                case _: nil
                }
            })
    }

    var heldBack: Set<SequenceNumber> {
        Set(told.compactMap { if case .heldBack(let firing, .old) = $0 { firing.cause.event } else { nil } })
    }

    /// The presses whose command was reported as failed.
    var refused: Set<SequenceNumber> { refused { $0 != DurableRuleEngine.overtaken } }
    /// The presses whose command was replaced by that of a later press before the lamp answered.
    var overtaken: Set<SequenceNumber> { refused { $0 == DurableRuleEngine.overtaken } }

    private func refused(_ isMeant: (Refusal) -> Bool) -> Set<SequenceNumber> {
        Set(
            told.compactMap {
                guard case .command(let command, .refused(let refusal)) = $0, isMeant(refusal) else { return nil }
                return command.event
            })
    }
}
