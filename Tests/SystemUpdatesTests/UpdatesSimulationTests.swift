import Foundation
import PlugModel
import ProtocolCore
import Testing

@testable import SystemUpdates

/// A house in virtual time whose plugs receive, install, restart and prove systems, leave and return, while its owners request
/// and cancel updates, and its source has new systems or does not answer.
private struct UpdatesWorld {
    private static let plugs = (1...6).map { PlugID(rawValue: String(repeating: "0", count: 11) + "\($0)")! }
    private static let boards = ["arm", "amd"]

    private struct Plug {
        var isPresent = false
        var report: UpdateReport
        /// The plug's next changes by itself, in order.
        var changes: [(at: Instant, to: UpdateReport)] = []
    }

    private enum Arrival {
        case event(UpdatesMachine.Event)
        /// A plug that is there answers a question.
        case answer(PlugID)
        /// The update of a plug continues.
        case step(PlugID)
    }

    private var random: SeededRandom
    private(set) var now = Instant.zero
    private(set) var machine = UpdatesMachine(hasSource: true, now: .zero)
    private var plugs: [PlugID: Plug] = [:]
    private var source = ["arm": 1, "amd": 1]
    private var arrivals: [(at: Instant, arrival: Arrival)] = []
    private(set) var announced: [PlugID: PlugSystem] = [:]
    private(set) var faults: [String] = []

    private var requested: [PlugID] = []
    private var updating: (plug: PlugID, restart: UpdateRestart, isStopped: Bool)?
    private var isQuiet = false
    /// The plugs that were restarted in this quiet time, and those that have proved their systems since then.
    private var restarted: [PlugID: Instant] = [:]
    private var proved: Set<PlugID> = []
    private var searches: [String: Int] = [:]

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        for (index, id) in Self.plugs.enumerated() {
            plugs[id] = Plug(report: UpdateReport(board: Self.boards[index % 2], system: "0", phase: .idle))
        }
    }

    private mutating func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func later(_ seconds: ClosedRange<Int>, _ arrival: Arrival) {
        arrivals.append((now + .milliseconds(draw(seconds.lowerBound * 1000...seconds.upperBound * 1000)), arrival))
    }

    // MARK: The course of time

    /// Runs for some time. Without trouble, no owner requests anything, and everything answers.
    mutating func run(for duration: Duration, isTroubled: Bool) {
        let end = now + duration
        var nextTrouble = now, nextMinute = now
        while true {
            let changes = plugs.values.compactMap { $0.changes.first?.at }
            let times = arrivals.map(\.at) + changes + [nextMinute] + (isTroubled ? [nextTrouble] : [])
            let next = (times + [machine.nextDeadline].compactMap { $0 }).min() ?? end
            guard next <= end else { break }
            now = max(now, next)
            if let due = machine.nextDeadline, due <= now { advance(.deadlineReached) }
            for id in Self.plugs { changeByItself(id) }
            let due = arrivals.filter { $0.at <= now }
            arrivals.removeAll { $0.at <= now }
            for (_, arrival) in due { receive(arrival) }
            if now >= nextMinute {
                nextMinute = now + .seconds(60)
                advance(.quietTime(isQuiet))
            }
            if isTroubled, now >= nextTrouble {
                nextTrouble = now + .seconds(draw(1...600))
                trouble()
            }
        }
        now = end
    }

    /// Ends all trouble: every plug is there, and the quiet time is over.
    mutating func settle() {
        isQuiet = false
        for id in Self.plugs where plugs[id]?.isPresent == false { arrive(id) }
        run(for: .seconds(8 * 3600), isTroubled: false)
    }

    private mutating func trouble() {
        let id = Self.plugs[draw(0...Self.plugs.count - 1)]
        switch draw(0...9) {
        case 0...2: plugs[id]?.isPresent == true ? leave(id) : arrive(id)
        case 3...4: request(id)
        case 5: cancel(id)
        case 6: source[Self.boards[draw(0...1)]]! += 1
        case 7:
            isQuiet.toggle()
            if !isQuiet { (restarted, proved) = ([:], []) }
        case 8: cutPower(id)
        default: break
        }
    }

    // MARK: Owners

    private mutating func request(_ id: PlugID) {
        guard machine.obstacle(to: id) == nil else { return }
        requested.append(id)
        advance(.requested(id, UpdateRestart.allCases[draw(0...2)]))
        if machine.system(of: id)?.isUpdating != true { faults.append("a request is not shown") }
    }

    private mutating func cancel(_ id: PlugID) {
        requested.removeAll { $0 == id }
        advance(.cancelled(id))
        if plugs[id]?.isPresent == true, case .receiving = plugs[id]?.report.phase {
            plugs[id]?.report.phase = .idle
        }
        later(0...1, .answer(id))
    }

    // MARK: Plugs

    private mutating func arrive(_ id: PlugID) {
        plugs[id]?.isPresent = true
        advance(.connected(id))
    }

    private mutating func answer(_ id: PlugID) {
        if let plug = plugs[id], plug.isPresent { advance(.reported(id, plug.report)) }
    }

    private mutating func leave(_ id: PlugID) { plugs[id]?.isPresent = false }

    private mutating func changeByItself(_ id: PlugID) {
        while let change = plugs[id]?.changes.first, change.at <= now {
            plugs[id]?.report = change.to
            plugs[id]?.changes.removeFirst()
        }
    }

    private mutating func install(_ version: String, _ id: PlugID) {
        plugs[id]?.report.newSystem = version
        plugs[id]?.report.phase = .installing(percent: 0)
        var next = plugs[id]!.report
        next.phase = random.chance(0.1) ? .failed("the signature is wrong") : .installed
        let at = now + .seconds(draw(30...300))
        plugs[id]?.changes = [(at, next)]
    }

    /// Restarts a plug: it is away for a while, returns before or after it knows its state, and then proves its new system.
    private mutating func boot(_ id: PlugID, trying: UpdateReport) {
        leave(id)
        arrivals.append((now + .seconds(draw(20...90)), .event(.connected(id))))
        var next = trying
        if random.chance(0.2) {
            next.phase = .returned("no controller has connected")
        } else {
            (next.phase, next.system, next.newSystem) = (.idle, next.newSystem, "")
        }
        plugs[id]?.report = UpdateReport(phase: .unknown)
        let changes = [(now + .seconds(draw(20...99)), trying), (now + .seconds(draw(100...600)), next)]
        plugs[id]?.changes = changes
    }

    private mutating func cutPower(_ id: PlugID) {
        guard plugs[id]?.report.phase == .installed else { return }
        restart(id)
    }

    private mutating func restart(_ id: PlugID) {
        var trying = plugs[id]!.report
        (trying.phase, trying.restartsWhenOff) = (.trying, false)
        boot(id, trying: trying)
    }

    // MARK: The machine

    private mutating func advance(_ event: UpdatesMachine.Event) {
        if case .reported(let id, let report) = event, restarted[id] != nil {
            if ![.installed, .trying, .unknown].contains(report.phase) { proved.insert(id) }
        }
        for action in machine.handle(event, now: now) { perform(action) }
    }

    private mutating func perform(_ action: UpdatesMachine.Action) {
        switch action {
        case .ask(let id): later(0...2, .answer(id))
        case .search(let board):
            searches[board, default: 0] += 1
            later(0...5, .event(random.chance(0.3) ? .failed(board: board, reason: "no route") : found(board)))
        case .update(let id, let restart):
            if updating != nil { faults.append("two updates at once") }
            if !requested.contains(id) { faults.append("an update without a request") }
            requested.removeAll { $0 == id }
            updating = (id, restart, false)
            later(0...3, .step(id))
        case .stop(let id):
            if updating?.plug != id { faults.append("an update is stopped that has not begun") }
            updating?.isStopped = true
        case .restart(let id):
            if !isQuiet { faults.append("a restart outside the quiet time") }
            if restarted[id] != nil { faults.append("a second restart in the quiet time") }
            for (other, at) in restarted where now < at + UpdatesMachine.returnLimit && !proved.contains(other) {
                faults.append("\(id) restarts before \(other) has proved its system")
            }
            restarted[id] = now
            guard plugs[id]?.isPresent == true, plugs[id]?.report.phase == .installed else {
                restarted[id] = nil
                return later(0...1, .event(.notRestarted(id)))
            }
            restart(id)
            later(0...1, .event(.reported(id, plugs[id]!.report)))
        case .announce(let id, let system):
            if announced[id] == system { faults.append("an announcement without a change") }
            announced[id] = system
        case .complain: break
        }
    }

    private func found(_ board: String) -> UpdatesMachine.Event { .found(source[board].map { "\($0)" }, board: board) }

    private mutating func receive(_ arrival: Arrival) {
        switch arrival {
        case .event(.connected(let id)): arrive(id)
        case .event(let event): advance(event)
        case .answer(let id): answer(id)
        case .step(let id):
            answer(id)
            if updating?.plug == id { proceed(id) }
        }
    }

    /// Continues the update as PlugUpdate does, in larger steps.
    private mutating func proceed(_ id: PlugID) {
        guard let (_, restart, isStopped) = updating, let plug = plugs[id] else { return }
        func end(_ fault: String? = nil) {
            updating = nil
            advance(.ended(id, fault: fault))
        }
        guard !isStopped else { return end("CancellationError()") }
        guard plug.isPresent, plug.report.phase != .unknown else { return later(1...5, .step(id)) }
        let newest = "\(source[plug.report.board]!)"
        switch plug.report.phase {
        case .idle where plug.report.system == newest: return end()
        case .returned where plug.report.newSystem == newest: return end()
        case .idle, .failed, .returned: plugs[id]?.report.phase = .receiving(0, of: 10)
        case .receiving(let offset, _) where offset < 9: plugs[id]?.report.phase = .receiving(offset + 3, of: 10)
        case .receiving: install(newest, id)
        case .installed where restart == .later: return end()
        case .installed where restart == .whenOff:
            plugs[id]?.report.restartsWhenOff = true
            return end()
        case .installed: self.restart(id)
        case .installing, .trying, .unknown: break
        }
        later(1...5, .step(id))
    }

    // MARK: Verdict

    /// Returns all faults, after everything has settled.
    mutating func verdict() -> [String] {
        if !requested.isEmpty || updating != nil { faults.append("an update was forgotten: \(requested)") }
        for id in Self.plugs {
            guard let system = machine.system(of: id) else { faults.append("\(id) is not known"); continue }
            if system != announced[id] { faults.append("\(id) is announced differently") }
            if system.isUpdating { faults.append("\(id) is still being updated") }
            if system.report != plugs[id]?.report { faults.append("\(id) has a different state: \(system.report)") }
        }
        for (board, count) in searches where .seconds(6 * 3600) * (count - 1) > now - .zero {
            faults.append("\(board) was searched \(count) times")
        }
        return faults
    }
}

@Suite struct UpdatesSimulationTests {
    private static var seeds: ClosedRange<UInt64> {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["SMARTPLUG_SEED"].flatMap(UInt64.init) { return seed...seed }
        return 1...(environment["SMARTPLUG_SEEDS"].flatMap(UInt64.init) ?? 200)
    }

    @Test("One plug is updated at a time, each request is served, and the state of each plug is known in the end")
    func updatesOfAHouse() {
        for seed in Self.seeds {
            var world = UpdatesWorld(seed: seed)
            world.run(for: .seconds(12 * 3600), isTroubled: true)
            world.settle()
            let faults = world.verdict()
            #expect(faults.isEmpty, "seed \(seed): \(faults.prefix(3))")
        }
    }
}
