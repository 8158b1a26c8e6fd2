import Metering
import PlugModel
import ProtocolCore

@testable import Automation
@testable import DurableRules
@testable import RuleModel

/// A television, a light, an amplifier, a fan and a switch, and the rules' process with its disk, in virtual time. The
/// tests add faults: the process is killed or suspended, plugs disconnect, clocks are set, and rules are reloaded.
/// Commands and answers are lost at random until `isCalm` is set.
struct FaultyHouse {
    static let names = ["Television", "Light", "Amplifier", "Fan", "Switch"]
    static let rise = PowerThreshold(.risesAbove, watts: 40, dwell: .seconds(3))
    static let wait = Duration.seconds(20)
    static let rules: [Rule] = {
        var fan = Rule(
            name: "Fan", triggers: [.button(plug: "Switch", .single)],
            actions: [.turnOn(["Fan"]), .wait(wait), .turnOff(["Fan"]), .notify(title: nil, text: "aired")])
        fan.mode = .restart
        return [
            fan,
            Rule(
                name: "Cinema", triggers: [.activePower(plug: "Television", rise)],
                actions: [.turnOff(["Light"]), .turnOn(["Amplifier"])]),
            Rule(
                name: "Credits",
                triggers: [
                    .activePower(plug: "Television", PowerThreshold(.fallsBelow, watts: 20, dwell: .seconds(3)))
                ], actions: [.restore(["Light"]), .turnOff(["Amplifier"])]),
        ]
    }()
    static let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!

    struct Plug {
        var id: PlugID
        var on = false
        var isThere = true
        var done: [RequestID] = []
        var journal: [PlugEvent] = []
    }

    enum Happening {
        case press, watts(Double), reading, start, kill, resume
        case suspend(Duration)
        case plug(String, isThere: Bool)
        case event(DurableRuleEvent, process: Int)
        case command(CommandRequest, process: Int)
        case stored(StoredRuleState, process: Int)
        case called(ScriptCall, process: Int, ask: Int)
        case newRules([Rule]), enabled(String, Bool), clock
    }

    var random: SeededRandom
    var now = Instant.at(1)
    var plugs: [String: Plug] = [:]
    var watts = 5.0
    /// The changes of the power, with their times.
    var loads: [(at: Instant, watts: Double)] = []
    var machine: DurableRuleEngine?
    var process = 0
    var disk = StoredRuleState()
    var withdrawn: Set<RequestID> = []
    var isSuspended = false
    /// Events that arrived while the process was suspended.
    var held: [DurableRuleEvent] = []
    var isCalm = false
    var rules: [Rule]
    var scripts = FaultyScripts()
    private(set) var firings: [Firing] = []
    private(set) var heldBack: [Firing] = []
    private(set) var performed: [RequestID] = []
    private(set) var finished: Set<RequestID> = []
    var violations: [String] = []
    private var queue: [(at: Instant, order: Int, what: Happening)] = []
    private var lastOrder = 0

    init(seed: UInt64, rules: [Rule] = Self.rules) {
        random = SeededRandom(seed: seed)
        self.rules = rules
        for name in Self.names { plugs[name] = Plug(id: PlugID(drawnFrom: &random)) }
        plugs["Light"]?.on = true
    }

    mutating func add(_ what: Happening, after delay: Duration) {
        lastOrder += 1
        queue.append((now + delay, lastOrder, what))
    }

    mutating func run(for length: Duration) {
        let end = now + length
        while true {
            let next = queue.indices.min { (queue[$0].at, queue[$0].order) < (queue[$1].at, queue[$1].order) }
            let deadline = isSuspended ? nil : machine?.nextDeadline
            guard let due = sooner(next.map { queue[$0].at }, deadline), due <= end else { break }
            now = max(now, due)
            if let next, queue[next].at <= now {
                happen(queue.remove(at: next).what)
            } else {
                feed(.deadlineReached)
            }
        }
        now = end
    }

    private mutating func happen(_ what: Happening) {
        switch what {
        case .press: record(.buttonPressed(.single), of: "Switch")
        case .watts(let new):
            watts = new
            loads.append((now, new))
        case .reading:
            add(.reading, after: .seconds(1))
            tell(.state(plug: "Television", state("Television")), of: "Television")
        case .start: start()
        case .kill: kill()
        case .suspend(let length):
            isSuspended = true
            add(.resume, after: length)
        case .resume:
            isSuspended = false
            let came = held
            held = []
            for event in came { feed(event) }
        case .plug(let name, let isThere):
            guard plugs[name]?.isThere != isThere else { return }
            plugs[name]?.isThere = isThere
            if isThere { connect(name) } else { hear(.disconnected(plug: name)) }
        case .event(let event, process):
            scripts.hear(event)
            hear(event)
        case .event: break
        case .command(let request, let sender): carryOut(request, for: sender)
        case .stored(let memory, process):
            disk = memory
            hear(.stored)
        case .stored: break
        case .called(let call, process, let ask): answer(call, ask)
        case .called: break
        case .enabled(let rule, let isOn): hear(.ruleEnabled(rule, isOn))
        case .newRules(let new):
            rules = new
            hear(.rulesChanged(new))
        case .clock:
            let offset = Int64.random(in: -100_000...100_000, using: &random)
            hear(.clockChanged(LocalTime(pieces: [.init(from: .zero, offset: offset)]), .unknown))
        }
    }

    // MARK: Plugs

    private func state(_ name: String) -> PlugState {
        let power = name == "Television" ? watts : 0
        let reading = Reading(time: now, deciwatts: Int32(power * 10), milliwattHours: 0)
        return PlugState(relayOn: plugs[name]!.on, reading: reading)
    }

    private mutating func record(_ kind: PlugEvent.Kind, of name: String) {
        let sequence = SequenceNumber(plugs[name]!.journal.count + 1)
        let event = PlugEvent(sequence: sequence, boot: Self.boot, time: now, kind: kind)
        plugs[name]?.journal.append(event)
        tell(.event(plug: name, event, age: .zero), of: name)
    }

    private mutating func tell(_ event: DurableRuleEvent, of name: String) {
        guard plugs[name]!.isThere else { return }
        add(.event(event, process: process), after: .milliseconds(1))
    }

    /// Executes a command, unless the plug has done so already, and answers it.
    private mutating func carryOut(_ request: CommandRequest, for sender: Int) {
        guard sender == process, !withdrawn.contains(request.id) else { return }
        let isLost = !isCalm && random.chance(0.3)
        guard plugs[request.plug]!.isThere, !isLost else {
            return add(.command(request, process: sender), after: .milliseconds(400))
        }
        if !plugs[request.plug]!.done.contains(request.id), case .setRelay(let on, _) = request.command {
            plugs[request.plug]?.done.append(request.id)
            if plugs[request.plug]!.on != on {
                plugs[request.plug]?.on = on
                record(.relayChanged(on: on, cause: .controller(name: "rules", request: request.id)), of: request.plug)
            }
        }
        guard isCalm || random.chance(0.7) else {
            return add(.command(request, process: sender), after: .milliseconds(400))
        }
        let outcome = CommandOutcome.done(PlugState(relayOn: plugs[request.plug]!.on), event: nil)
        add(.event(.commandFinished(request.id, outcome), process: sender), after: .milliseconds(1))
    }

    // MARK: Process

    private mutating func start() {
        guard machine == nil else { return }
        machine = DurableRuleEngine(rules: rules, memory: disk, now: now)
        feed(.clockChanged(LocalTime(pieces: [.init(from: .zero, offset: 0)]), .unknown))
        for name in Self.names where plugs[name]!.isThere { connect(name) }
    }

    private mutating func connect(_ name: String) {
        guard let plug = plugs[name], machine != nil else { return }
        let cursor = machine?.memory.cursors[plug.id]
        hear(.connected(plug: name, id: plug.id, boot: Self.boot))
        if cursor == nil { hear(.following(plug: name, after: SequenceNumber(plug.journal.count))) }
        hear(.snapshot(plug: name, state(name)))
        for event in plug.journal where event.sequence > cursor ?? SequenceNumber(plug.journal.count) {
            hear(.event(plug: name, event, age: now - event.time))
        }
    }

    private mutating func kill() {
        guard machine != nil else { return }
        machine = nil
        process += 1
        (isSuspended, held, withdrawn) = (false, [], [])
        scripts.endAll()
        add(.start, after: random.duration(in: .milliseconds(100)...(.seconds(25))))
    }

    /// Runs a script's call, unless the call has ended, for example because the rules' process was killed. If the
    /// script's process dies, the call is repeated after 1 to 3 s.
    private mutating func answer(_ call: ScriptCall, _ ask: Int) {
        guard scripts.isUnderWay(ask) else { return }
        let stored = machine?.scriptState(of: call.handler.script)
        guard let outcome = scripts.run(call, stored: stored, isCalm: isCalm, &random) else {
            let pause = random.duration(in: .seconds(1)...(.seconds(3)))
            return add(.called(call, process: process, ask: ask), after: pause)
        }
        add(.event(.callFinished(call.id, outcome), process: process), after: .milliseconds(1))
    }

    private mutating func hear(_ event: DurableRuleEvent) {
        guard machine != nil else { return }
        guard !isSuspended else { return held.append(event) }
        feed(event)
    }

    private mutating func feed(_ event: DurableRuleEvent) {
        guard let actions = machine?.handle(event, now: now) else { return }
        for action in actions { perform(action) }
    }

    private mutating func perform(_ action: DurableRuleAction) {
        switch action {
        case .store(let memory): add(.stored(memory, process: process), after: .milliseconds(5))
        case .send(let request):
            if !disk.commands.contains(where: { $0.request.id == request.id }) {
                violations.append("a command was sent before it was stored")
            }
            add(.command(request, process: process), after: .milliseconds(1))
        case .withdraw(let id):
            withdrawn.insert(id)
            scripts.withdraw(id)
        case .call(let call, _):
            if disk.calls[call.id] == nil { violations.append("a script was called before the call was stored") }
            if !scripts.begin(call) { violations.append("a script has two calls at once") }
            let pause = random.duration(in: .milliseconds(1)...(.milliseconds(50)))
            add(.called(call, process: process, ask: scripts.lastAsk), after: pause)
        case .perform(let request):
            if !disk.effects.contains(where: { $0.request.id == request.id }) {
                violations.append("an effect was performed before it was stored")
            }
            performed.append(request.id)
            add(.event(.effectFinished(request.id, .done), process: process), after: .milliseconds(100))
        case .acknowledge: break
        case .tell(.firing(let firing)): firings.append(firing)
        case .tell(.heldBack(let firing, _)): heldBack.append(firing)
        case .tell(.callFailed(let call, _)): scripts.failed.insert(call.id)
        case .tell(.effect(let request, .done)): finished.insert(request.id)
        case .tell: break
        }
    }
}
