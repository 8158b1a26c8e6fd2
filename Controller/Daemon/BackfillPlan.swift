import PlugModel
import ProtocolCore

/// Plans which missing samples the history fetches next from the plugs. The newest samples of each plug come first. The
/// requests are small, so they do not delay other traffic on the connection, and at most four are in progress in the
/// whole house. When all samples are present, the plan checks for new ones every ten minutes.
///
/// The plan handles no samples and does not access the history. It requests a list of the missing ranges, and receives
/// the result of each request.
struct BackfillPlan: Machine {
    /// A time range within one boot of a plug.
    struct Window: Hashable, Sendable {
        var plug: PlugID
        var boot: BootID
        /// Milliseconds of the plug's clock, both ends included.
        var range: ClosedRange<Int64>
    }

    enum Event: MachineEvent {
        /// A session with the plug began in this boot.
        case connected(PlugID, boot: BootID)
        /// The session ended.
        case disconnected(PlugID)
        /// The answer to `look`, newest range first. `now` is the plug's clock at the time of the query, in
        /// milliseconds.
        case missing(PlugID, BootID, [ClosedRange<Int64>], now: Int64)
        /// The plug's clock or the history could not be read.
        case lookFailed(PlugID, BootID)
        /// The plug's samples of the window are stored. `covered` is the range of the stored chunks, which may exceed
        /// the window; nil if the plug had no samples.
        case stored(Window, covered: ClosedRange<Int64>?)
        /// The window could not be fetched or stored.
        case failed(Window)
        /// The daemon stops. From now on the plan fetches only the newest missing window of each plug.
        case stopping
        /// The time of `nextDeadline` has passed.
        case deadlineReached
    }

    enum Action: Hashable {
        /// Query the history for the missing ranges of this boot up to now. ``Recorder`` answers with `missing` or
        /// `lookFailed`.
        case look(PlugID, BootID)
        /// Fetch and store the window. ``Recorder`` answers with `stored` or `failed`.
        case fetch(Window)
        /// Cancel the fetch of the window.
        case withdraw(Window)
    }

    /// The initial width of a window in milliseconds. Two hours are 7200 samples at one per second, which take three or
    /// four chunks or about 20 KB.
    static let window: Int64 = 2 * 3_600_000
    /// The maximum width of a window in milliseconds. The width doubles after each empty window, because most of a boot
    /// may be older than the samples that the plug still stores. The limit of one day keeps a full window from being
    /// too large.
    static let longestWindow: Int64 = 24 * 3_600_000
    /// The maximum number of windows in progress in the house. Prevents a thousand plugs that reconnect at the same
    /// time from filling memory and network.
    static let atATime = 4
    /// The interval between two checks for new samples of a plug.
    static let interval = Duration.seconds(600)
    /// The time limit of a window. Otherwise a plug that answers everything except this request would occupy a place
    /// forever.
    static let patience = Duration.seconds(60)
    /// The delay after the first failure. It doubles with each further failure, up to `interval`.
    static let firstRetry = Duration.seconds(5)
    /// The maximum time that an orderly stop waits for the last samples. The plugs keep the remaining samples.
    static let farewell = Duration.seconds(2)
    /// The maximum number of plugs. Prevents a network with constantly new ids from filling the memory.
    static let maximumPlugs = 1024
    /// The maximum number of missing ranges per plug. Older ranges are queried when these are filled.
    static let maximumHoles = 256

    /// The progress of a plug.
    private enum Stage {
        /// ``Recorder`` is querying the history for missing ranges.
        case looking
        /// Ranges are missing; the list is never empty. The next window begins when fewer than `atATime` are in
        /// progress.
        case filling(MissingRanges, notBefore: Instant)
        /// A window is being fetched.
        case fetching(MissingRanges, Window, until: Instant)
        /// All samples are present, or an attempt failed.
        case resting(until: Instant)
        /// No more samples of this plug are fetched after `stopping`.
        case done
    }

    private struct Progress {
        let boot: BootID
        var stage = Stage.looking
        /// The width of the next window, in milliseconds.
        var width = BackfillPlan.window
        /// The number of failures since the last success.
        var failures = 0
    }

    private var plugs: [PlugID: Progress] = [:]
    private var stopsAt: Instant?
    /// True if the time limit of the stop has passed.
    private var isOver = false

    /// Returns true after `stopping` when no result is pending, or when the time limit of the stop has passed.
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
            found(MissingRanges(holes, now: plugTime, limit: Self.maximumHoles), plug, boot, now: now)
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

    // MARK: Missing samples

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

    private mutating func found(_ holes: MissingRanges, _ plug: PlugID, _ boot: BootID, now: Instant) {
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

    // MARK: Windows

    private var underWay: Int {
        plugs.values.count { if case .fetching = $0.stage { true } else { false } }
    }

    /// Begins windows while there is room. Plugs with the newest missing samples come first.
    private mutating func begin(now: Instant, _ actions: inout [Action]) {
        var room = Self.atATime - underWay
        guard room > 0 else { return }
        let waiting = plugs.compactMap { plug, progress -> (plug: PlugID, age: Int64, holes: MissingRanges)? in
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

    /// Returns the plug's missing ranges, including the window; nil if this window is not being fetched now.
    private func holes(during window: Window) -> MissingRanges? {
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
        // Samples newer than the window's end are not marked as fetched. The next check finds them.
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
        // When the delay has reached `interval`, the plan queries the history again after this delay, so that newer
        // samples do not wait for this window.
        if stopsAt == nil, pause < Self.interval {
            plugs[window.plug]?.stage = .filling(holes, notBefore: now + pause)
        } else {
            rest(window.plug, until: now + pause)
        }
    }

    /// Returns the delay of the next attempt, which doubles up to `interval`.
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
