import PlugModel
import ProtocolCore

/// What to fetch next of the samples that the history does not have: of each plug first what is newest, in pieces that are
/// small beside everything else that goes over its connection, and of few plugs at a time. Then, every ten minutes, what has
/// come since.
///
/// It holds no samples and knows no history: it asks what is missing, and is told what came of each piece.
struct BackfillPlan: Machine {
    /// A piece of one boot of a plug.
    struct Window: Hashable, Sendable {
        var plug: PlugID
        var boot: BootID
        /// Milliseconds of the plug's clock, both included.
        var range: ClosedRange<Int64>
    }

    enum Event: MachineEvent {
        case connected(PlugID, boot: BootID)
        case disconnected(PlugID)
        /// The answer to `look`, newest first; `now`: the plug's clock when it was asked, in milliseconds.
        case missing(PlugID, BootID, [ClosedRange<Int64>], now: Int64)
        /// The plug's clock or the history could not be asked.
        case lookFailed(PlugID, BootID)
        /// What the plug had of the window is stored: the chunks, which lie whole in `covered`; nil where there were none.
        case stored(Window, covered: ClosedRange<Int64>?)
        /// It was not fetched, or not stored.
        case failed(Window)
        /// What came since the last piece is worth fetching, and nothing else.
        case stopping
        case deadlineReached
    }

    enum Action: Hashable {
        /// Ask the history what is missing of this boot up to now: `missing` or `lookFailed`.
        case look(PlugID, BootID)
        /// Fetch and store: `stored` or `failed`.
        case fetch(Window)
        /// Nobody waits for it any more.
        case withdraw(Window)
    }

    /// Two hours are 7200 samples at one a second, three or four chunks: some 20 KB.
    static let window: Int64 = 2 * 3_600_000
    /// Where the last window was empty the next one is twice as long: most of a boot may lie further back than the plug's
    /// memory reaches. At most a day, lest a full one come as a flood.
    static let longestWindow: Int64 = 24 * 3_600_000
    /// Pieces on their way in the house. Stops a thousand plugs that come back together from filling memory and network.
    static let atATime = 4
    static let interval = Duration.seconds(600)
    /// For one piece. A plug that answers everything else and this never would else keep a place for ever.
    static let patience = Duration.seconds(60)
    static let firstRetry = Duration.seconds(5)
    /// An orderly stop waits so long for what came last; the plugs keep the rest.
    static let farewell = Duration.seconds(2)
    /// Plugs that are reckoned with. Stops a network of ever new ids from filling the memory.
    static let maximumPlugs = 1024
    /// Holes that are reckoned with at a time; the older ones are asked for when these are filled.
    static let maximumHoles = 256

    private enum Stage {
        case looking
        /// Never empty.
        case filling(Holes, notBefore: Instant)
        case fetching(Holes, Window, until: Instant)
        case resting(until: Instant)
        /// After `stopping`: nothing more is wanted of it.
        case done
    }

    private struct Progress {
        let boot: BootID
        var stage = Stage.looking
        /// Of the next window, in milliseconds.
        var width = BackfillPlan.window
        /// Since something worked.
        var failures = 0
    }

    private var plugs: [PlugID: Progress] = [:]
    private var stopsAt: Instant?
    /// The time of the stop has run out.
    private var isOver = false

    /// After `stopping`: nothing more is to be waited for.
    func isDone(now: Instant) -> Bool {
        guard let stopsAt else { return false }
        return isOver || stopsAt <= now || plugs.values.allSatisfy { if case .done = $0.stage { true } else { false } }
    }

    var nextDeadline: Instant? {
        guard !isOver else { return nil }
        let hasRoom = underWay < Self.atATime
        return plugs.values.reduce(stopsAt) { soonest, plug in
            switch plug.stage {
            case .looking, .done: soonest
            case .filling(_, let notBefore): hasRoom ? sooner(soonest, notBefore) : soonest
            case .fetching(_, _, let until), .resting(let until): sooner(soonest, until)
            }
        }
    }

    mutating func handle(_ event: Event, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .connected(let plug, let boot): connected(plug, boot, &actions)
        case .disconnected(let plug):
            if case .fetching(_, let window, _)? = plugs[plug]?.stage { actions.append(.withdraw(window)) }
            plugs[plug] = nil
        case .missing(let plug, let boot, let holes, let plugTime):
            found(Holes(holes, now: plugTime, limit: Self.maximumHoles), plug, boot, now: now)
        case .lookFailed(let plug, let boot):
            guard isLooking(plug, boot) else { break }
            plugs[plug]?.failures += 1
            rest(plug, until: now + retry(plug))
        case .stored(let window, let covered): stored(window, covered, now: now, &actions)
        case .failed(let window): failed(window, now: now, &actions)
        case .stopping: stop(now: now, &actions)
        case .deadlineReached: runOut(now: now, &actions)
        }
        begin(now: now, &actions)
        return actions
    }

    // MARK: What is missing

    private mutating func connected(_ plug: PlugID, _ boot: BootID, _ actions: inout [Action]) {
        guard plugs[plug] != nil || plugs.count < Self.maximumPlugs, stopsAt == nil else { return }
        if case .fetching(_, let window, _)? = plugs[plug]?.stage { actions.append(.withdraw(window)) }
        plugs[plug] = Progress(boot: boot)
        actions.append(.look(plug, boot))
    }

    private func isLooking(_ plug: PlugID, _ boot: BootID) -> Bool {
        guard let progress = plugs[plug], progress.boot == boot, case .looking = progress.stage else { return false }
        return true
    }

    private mutating func found(_ holes: Holes, _ plug: PlugID, _ boot: BootID, now: Instant) {
        guard isLooking(plug, boot) else { return }
        plugs[plug]?.failures = 0
        plugs[plug]?.width = Self.window
        let holes = stopsAt == nil ? holes : holes.newest(Self.window)
        if holes.isEmpty {
            rest(plug, until: now + Self.interval)
        } else {
            plugs[plug]?.stage = .filling(holes, notBefore: now)
        }
    }

    private mutating func rest(_ plug: PlugID, until: Instant) {
        plugs[plug]?.stage = stopsAt == nil ? .resting(until: until) : .done
    }

    private mutating func look(_ plug: PlugID, _ actions: inout [Action]) {
        guard let boot = plugs[plug]?.boot else { return }
        plugs[plug]?.stage = .looking
        actions.append(.look(plug, boot))
    }

    // MARK: Pieces

    private var underWay: Int {
        plugs.values.count { if case .fetching = $0.stage { true } else { false } }
    }

    /// Those whose newest hole is the newest of all go first.
    private mutating func begin(now: Instant, _ actions: inout [Action]) {
        var room = Self.atATime - underWay
        guard room > 0 else { return }
        let waiting = plugs.compactMap { plug, progress -> (plug: PlugID, age: Int64, holes: Holes)? in
            guard case .filling(let holes, let notBefore) = progress.stage, notBefore <= now else { return nil }
            return (plug, holes.age, holes)
        }
        for (plug, _, holes) in waiting.sorted(by: { ($0.age, $0.plug.rawValue) < ($1.age, $1.plug.rawValue) }) {
            guard room > 0, let progress = plugs[plug], let range = holes.newestPiece(progress.width) else { return }
            let window = Window(plug: plug, boot: progress.boot, range: range)
            plugs[plug]?.stage = .fetching(holes, window, until: now + Self.patience)
            actions.append(.fetch(window))
            room -= 1
        }
    }

    /// The holes that were there before it; nil where it is not what is being waited for.
    private func holes(during window: Window) -> Holes? {
        guard case .fetching(let holes, window, _)? = plugs[window.plug]?.stage else { return nil }
        return holes
    }

    private mutating func stored(
        _ window: Window, _ covered: ClosedRange<Int64>?, now: Instant, _ actions: inout [Action]
    ) {
        guard var holes = holes(during: window), let width = plugs[window.plug]?.width else { return }
        plugs[window.plug]?.failures = 0
        plugs[window.plug]?.width = covered == nil ? min(width * 2, Self.longestWindow) : Self.window
        guard stopsAt == nil || holes.isTail else { return look(window.plug, &actions) }
        // The newest end grows on: it is asked for in the next round.
        holes.fill(min(covered?.lowerBound ?? .max, window.range.lowerBound)...window.range.upperBound)
        if !holes.isEmpty, stopsAt == nil {
            plugs[window.plug]?.stage = .filling(holes, notBefore: now)
        } else {
            rest(window.plug, until: holes.isCut ? now : now + Self.interval)
        }
    }

    private mutating func failed(_ window: Window, now: Instant, _ actions: inout [Action]) {
        guard let holes = holes(during: window) else { return }
        plugs[window.plug]?.failures += 1
        plugs[window.plug]?.width = Self.window
        let pause = retry(window.plug)
        // After long enough it looks anew: what has come meanwhile is not to wait for a piece that never comes.
        if stopsAt == nil, pause < Self.interval {
            plugs[window.plug]?.stage = .filling(holes, notBefore: now + pause)
        } else {
            rest(window.plug, until: now + pause)
        }
    }

    /// Doubling, up to the interval of a round.
    private func retry(_ plug: PlugID) -> Duration {
        min(Self.interval, Self.firstRetry * (1 << min(max(0, (plugs[plug]?.failures ?? 1) - 1), 7)))
    }

    // MARK: Time

    private mutating func runOut(now: Instant, _ actions: inout [Action]) {
        if let stopsAt, stopsAt <= now { isOver = true }
        for plug in plugs.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            switch plugs[plug]?.stage {
            case .resting(let until)? where until <= now: look(plug, &actions)
            case .fetching(_, let window, let until)? where until <= now:
                actions.append(.withdraw(window))
                failed(window, now: now, &actions)
            case .looking, .filling, .fetching, .resting, .done, nil: break
            }
        }
    }

    private mutating func stop(now: Instant, _ actions: inout [Action]) {
        guard stopsAt == nil else { return }
        stopsAt = now + Self.farewell
        for plug in plugs.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            switch plugs[plug]?.stage {
            case .filling, .resting: look(plug, &actions)
            case .looking, .fetching, .done, nil: break
            }
        }
    }
}
