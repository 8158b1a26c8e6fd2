import LinuxSystem
import PlugModel
import ProtocolCore
import ServiceDiscovery

/// Follows every plug of a house: decides which announced names are followed, when following ends, and under which name
/// each plug is reported. Its shell is ``HouseFollower``.
///
/// Each follower has at most one pending request to the shell: to deliver updates, or to read one report. The shell
/// delivers all updates in the order of the actions. A slow reader of the updates therefore delays the reading of
/// reports, and the number of waiting updates is limited.
struct HouseMachine: Machine, Sendable {
    /// Identifies a follower: one period in which a plug is followed under one announced name. Later periods have
    /// higher numbers.
    struct FollowerID: Hashable, Comparable, Sendable {
        fileprivate let number: Int

        static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    }

    /// An event of discovery, of a followed plug, or of the reader of the updates.
    enum Event: MachineEvent, Sendable {
        /// Starts the machine. This is the first event.
        case started
        /// The answer to ``Action/readPaired``: the paired plugs with their last known names; nil if the list cannot be
        /// read now.
        case paired([PlugID: String]?)
        /// Discovery found a change.
        case announced(ServiceChange)
        /// The plug proved its key. The event precedes the report of the connection, which may wait for its reader.
        case proved(FollowerID, PlugID)
        /// An answer to ``Action/read(_:)``: the next report of the plug.
        case report(FollowerID, PlugReport)
        /// An answer to ``Action/read(_:)``: the plug has no further reports.
        case ended(FollowerID, ReceivedPosition?, at: WallTime)
        /// A connected plug reported new names.
        case renamed(FollowerID, PlugNames)
        /// The answer to ``Action/deliver(_:_:)``.
        case delivered(FollowerID)
        /// Following ends.
        case stopping
        case deadlineReached
    }

    /// An action for the shell.
    enum Action: Sendable {
        /// Reads the list of paired plugs; ``Event/paired(_:)`` answers it.
        case readPaired
        /// Sets the names that discovery must prioritize.
        case prioritize(Set<String>)
        /// Begins to follow the plug that announces this name. The events of a plug in `known` continue after the
        /// number given there. A position of a follower in `resumed` replaces this number.
        case follow(FollowerID, name: String, known: [PlugID: SequenceNumber], resumed: Resumption?)
        /// Connects to the plug now, or checks its existing connection.
        case locate(FollowerID)
        /// Reads the next report; ``Event/report(_:_:)`` or ``Event/ended(_:_:at:)`` answers it.
        case read(FollowerID)
        /// Delivers updates, after those of all earlier actions; ``Event/delivered(_:)`` answers it.
        case deliver(FollowerID, [HouseFollower.Update])
        /// Ends the connection. The reports that were received before remain readable.
        case stop(FollowerID)
        /// Releases the follower, which has no reports and no updates left.
        case release(FollowerID)
        /// Ends the updates: every follower is released. No action follows.
        case finish
    }

    /// A plug whose events continue under a new name.
    struct Resumption: Hashable, Sendable {
        var plug: PlugID
        /// The followers that may have received events of the plug, in order. The last one with a position counts.
        var followers: [FollowerID]
    }

    private enum Phase: Sendable {
        /// Waits until an earlier follower of the same announced name has delivered its reports.
        case queued(behind: FollowerID)
        case reading
        /// Waits for the list of paired plugs, to learn the name of a connected plug.
        case learning
        /// The plug is connected, and other followers of the plug must first deliver their reports.
        case takingOver(PlugDescription, from: Set<FollowerID>, PlugReport, name: String, isTaken: Bool)
        case delivering
        /// The last updates are being delivered.
        case leaving

        /// Returns true if the follower takes this name over from another follower.
        func takes(_ name: String) -> Bool {
            guard case .takingOver(_, _, _, let taken, let isTaken) = self else { return false }
            return isTaken && taken == name
        }
    }

    /// A plug whose reports are still being read. Its ``FollowedPlug`` may already be stopped.
    private struct Follower: Sendable {
        /// The name under which following began.
        let announced: String
        /// The plug that proved its key last.
        var plug: PlugID?
        /// The name in the updates: the paired name, or the announced one.
        var name: String
        /// The name in the last `found`; nil before the first one and after `lost`.
        var reported: String?
        /// True if the plug was connected at the time of the last handled report.
        var isConnected = false
        /// True if another follower reports the events of the same plug. The reports of this follower are then not
        /// delivered.
        var isDuplicate = false
        /// True if an older follower of the same plug waits for the end of this follower. This follower then waits for
        /// no other follower.
        var isSuperseded = false
        /// The report of the connection, if it was not delivered because the name belonged to a different plug.
        var withheld: PlugReport?
        var phase = Phase.reading
    }

    /// An event that waits for the list of paired plugs.
    private enum Delayed: Sendable {
        case change(ServiceChange)
        case connected(FollowerID, PlugReport, PlugDescription)
        case renamed(FollowerID, PlugNames)
    }

    /// The maximum number of followers, some of which may be stopped. The limit prevents a flood of new names from
    /// filling the memory while the updates are not read.
    static let followerLimit = 2 * PlugDirectory.limit

    private var names = HouseNames()
    private var followers: [FollowerID: Follower] = [:]
    /// The followers that are not stopped, by the name under which following began.
    private var followed: [String: FollowerID] = [:]
    /// The names that were reported as found and have not been reported as lost since.
    private var reportedNames: Set<String> = []
    /// The announced names that are not followed yet, because there are ``followerLimit`` followers.
    private var waiting = InsertionOrderedNames()
    private var lastNumber = 0
    private var delayed: [Delayed] = []
    private var isReadingPaired = false
    private var isStopping = false
    /// The last received event of each plug that is away. When the plug returns, its later events are delivered or
    /// reported as a gap.
    private var known: [PlugID: SequenceNumber]
    private var actions: [Action] = []

    /// Creates a machine that follows no plug.
    ///
    /// - Parameter known: The last event that the caller has seen of each plug.
    init(known: [PlugID: SequenceNumber] = [:]) { self.known = known }

    /// Nil: the machine only waits for input.
    var nextDeadline: Instant? { nil }

    mutating func handle(_ event: Event, now: Instant) -> [Action] {
        switch event {
        case .started: readPaired()
        case .paired(let list): learned(list, now: now)
        case .announced(let change): announced(change, now: now)
        case .proved(let id, let plug): followers[id]?.plug = plug
        case .report(let id, let report): handle(report, of: id)
        case .ended(let id, let position, let time): ended(id, position, at: time)
        case .renamed(let id, let names):
            if isFollowed(id) { delay(.renamed(id, names)) }
        case .delivered(let id): delivered(id)
        case .stopping: stop()
        case .deadlineReached: break
        }
        defer { actions = [] }
        return actions
    }

    // MARK: Paired plugs and announcements

    private mutating func readPaired() {
        guard !isReadingPaired else { return }
        isReadingPaired = true
        actions.append(.readPaired)
    }

    private mutating func delay(_ event: Delayed) {
        delayed.append(event)
        readPaired()
    }

    private mutating func learned(_ list: [PlugID: String]?, now: Instant) {
        isReadingPaired = false
        follow(names.learn(list, now: now))
        let events = delayed
        delayed = []
        for event in events {
            switch event {
            case .change(let change): follow(names.handle(change, now: now))
            case .connected(let id, let report, let plug): connected(id, report, plug)
            case .renamed(let id, let names): renamed(id, to: names)
            }
        }
    }

    private mutating func announced(_ change: ServiceChange, now: Instant) {
        guard !isStopping else { return }
        if isReadingPaired || names.isOutdated(at: now) {
            delay(.change(change))
        } else {
            follow(names.handle(change, now: now))
        }
    }

    private mutating func follow(_ changes: [PlugDirectory.Change]) {
        guard !isStopping else { return }
        if let priorities = names.newPriorities() { actions.append(.prioritize(priorities)) }
        for change in changes {
            switch change {
            case .appeared(let name), .renewed(let name):
                if let id = followed[name] {
                    actions.append(.locate(id))
                } else if !isReached(announced: name) {
                    begin(name)
                }
            case .disappeared(let name):
                waiting.remove(name)
                forgetIfAway(followed[name])
            }
        }
    }

    /// Returns true if the name is announced with the id of a paired plug that is already connected.
    private func isReached(announced name: String) -> Bool {
        guard let id = names.id(announced: name), names.isPaired(id) else { return false }
        return followed.values.contains { followers[$0]?.isConnected == true && followers[$0]?.plug == id }
    }

    // MARK: Following begins

    private mutating func begin(_ name: String) {
        guard !isStopping, followed[name] == nil else { return }
        guard hasRoom else { return waiting.add(name) }
        waiting.remove(name)
        lastNumber += 1
        let id = FollowerID(number: lastNumber)
        // An earlier plug under the same name may have undelivered reports.
        let earlier = followers.filter { $0.value.announced == name }.keys.max()
        actions.append(.follow(id, name: name, known: known, resumed: resumption(announced: name)))
        followed[name] = id
        followers[id] = Follower(announced: name, name: names.boundName(announced: name))
        if let earlier { followers[id]?.phase = .queued(behind: earlier) } else { start(id) }
    }

    /// False while too many stopped plugs still have undelivered reports.
    private var hasRoom: Bool { followers.count < Self.followerLimit || followers.count == followed.count }

    /// Returns the followers whose positions apply to the plug whose id is announced under this name.
    private func resumption(announced name: String) -> Resumption? {
        guard let plug = names.id(announced: name) else { return nil }
        let same = followers.filter { ($0.value.plug ?? names.id(announced: $0.value.announced) ?? plug) == plug }
        return same.isEmpty ? nil : Resumption(plug: plug, followers: same.keys.sorted())
    }

    private mutating func start(_ id: FollowerID) { deliver(found(id), of: id) }

    // MARK: Updates of a plug

    /// Delivers the updates, and then reads the next report.
    private mutating func deliver(_ updates: [HouseFollower.Update], of id: FollowerID) {
        followers[id]?.phase = updates.isEmpty ? .reading : .delivering
        actions.append(updates.isEmpty ? .read(id) : .deliver(id, updates))
    }

    private mutating func delivered(_ id: FollowerID) {
        switch followers[id]?.phase {
        case .delivering: deliver([], of: id)
        case .leaving: release(id)
        case nil, .queued, .reading, .learning, .takingOver: break
        }
    }

    private mutating func handle(_ report: PlugReport, of id: FollowerID) {
        guard let follower = followers[id], case .reading = follower.phase else { return }
        if follower.isDuplicate { return deliver([], of: id) }
        guard case .connected(let plug) = report.update else { return pass(report, of: id) }
        if follower.plug == nil { followers[id]?.plug = plug.id }
        followers[id]?.phase = .learning
        // The plug's name may have changed in the list.
        delay(.connected(id, report, plug))
    }

    /// Determines the plug's name and takes the plug over from other followers.
    private mutating func connected(_ id: FollowerID, _ report: PlugReport, _ plug: PlugDescription) {
        guard let follower = followers[id] else { return }
        let reported = PlugNames(given: plug.givenName, announced: plug.name)
        let name = names.boundName(of: plug.id, reported) ?? follower.announced
        takeOver(plug, id, report, name: name, isTaken: false)
    }

    /// Delivers the report of the connection after the remaining reports of other followers of the plug, which keeps
    /// events in order. Drops the follower if another one receives the same events.
    private mutating func takeOver(
        _ plug: PlugDescription, _ id: FollowerID, _ report: PlugReport, name: String, isTaken: Bool
    ) {
        guard let follower = followers[id] else { return }
        let others = followers.filter { $0.key != id && $0.value.plug == plug.id }
        let connected = others.filter(\.value.isConnected)
        if connected.contains(where: { isDuplicate(id, of: $0.key, plug) }) {
            followers[id]?.isDuplicate = true
            forget(id)
            return deliver([], of: id)
        }
        var earlier: [FollowerID] = []
        if !follower.isSuperseded {
            // An outdated report, of a stopped follower or of a previous plug under the name, stops no other follower.
            let isCurrent = !isStopped(id) && follower.plug == plug.id
            // Waits for older and for newer followers. The newer ones are marked as superseded and then wait for no
            // other follower, so two followers never wait for each other.
            let newer = connected.keys.filter { $0 > id && (isCurrent || isStopped($0)) }
            for other in newer { followers[other]?.isSuperseded = true }
            earlier = (others.keys.filter { $0 < id && (isCurrent || isStopped($0)) } + newer).sorted()
        }
        // If another follower has reported the name as found, no update reports it as lost in between.
        let isTaken = isTaken || earlier.contains { followers[$0]?.reported == name && followers[$0]?.name == name }
        if !earlier.isEmpty {
            followers[id]?.phase = .takingOver(plug, from: Set(earlier), report, name: name, isTaken: isTaken)
            for other in earlier { forget(other) }
            return
        }
        guard isTaken else { return pass(report, of: id, after: call(id, name)) }
        let updates = follower.reported == name ? [] : lost(id)
        followers[id]?.reported = name
        followers[id]?.name = name
        pass(report, of: id, after: updates)
    }

    /// Returns true if a connected follower of the plug receives all events that the given follower can report.
    private func isDuplicate(_ id: FollowerID, of other: FollowerID, _ plug: PlugDescription) -> Bool {
        guard !isStopped(other), let follower = followers[id] else { return false }
        if isStopped(id) { return true }
        return follower.plug == plug.id && follower.announced != plug.name && followers[other]?.announced == plug.name
    }

    private mutating func pass(
        _ report: PlugReport, of id: FollowerID, after earlier: [HouseFollower.Update] = []
    ) {
        guard let follower = followers[id] else { return }
        var updates = earlier
        if isNameOwnedByAnother(id) {
            switch report.update {
            case .connected: followers[id]?.withheld = report
            case .disconnected: followers[id]?.withheld = nil
            case .following, .snapshot, .state, .event, .gap, .log: break
            }
        } else {
            if follower.reported == nil { updates += found(id) }
            // The name belonged to a different plug until now.
            if let connection = follower.withheld, report.update.isWithinConnection {
                updates.append(connection.named(follower.name))
            }
            followers[id]?.withheld = nil
            updates.append(report.named(follower.name))
        }
        deliver(updates, of: id)
        switch report.update {
        case .connected: followers[id]?.isConnected = true
        case .disconnected:
            followers[id]?.isConnected = false
            // The plug was not reached under this name, so the id in the announcement is doubtful.
            if !follower.isConnected { follow(names.doubt(follower.announced)) }
            if let plug = follower.plug { tryOthers(for: plug) }
            if isFollowed(id) { forgetIfAway(id) }
        case .following, .snapshot, .state, .event, .gap, .log: break
        }
    }

    /// Follows the other names that are announced with the id of this paired plug, because its connection has ended.
    private mutating func tryOthers(for plug: PlugID) {
        guard names.isPaired(plug) else { return }
        for name in names.names(announcing: plug) where followed[name] == nil { begin(name) }
    }

    /// Handles the end of the plug's reports.
    private mutating func ended(_ id: FollowerID, _ position: ReceivedPosition?, at time: WallTime) {
        guard let follower = followers[id], case .reading = follower.phase else { return }
        if let position { remember(position) }
        if isFollowed(id) { followed[follower.announced] = nil }
        followers[id]?.isConnected = false
        var updates: [HouseFollower.Update] = []
        if !isStopping {
            if follower.isConnected, follower.reported != nil {
                let update = PlugUpdate.disconnected(reason: .away("it was renamed"), retryIn: .zero)
                updates.append(.report(PlugReport(plug: follower.name, at: time, update: update)))
            }
            updates += lost(id)
        }
        guard !updates.isEmpty else { return release(id) }
        followers[id]?.phase = .leaving
        actions.append(.deliver(id, updates))
    }

    /// Stores the plug's last event. The number of plugs is limited like in the directory, because ids come from the
    /// network. Above the limit, a returning plug counts as new.
    private mutating func remember(_ position: ReceivedPosition) {
        guard known[position.plug] != nil || known.count < PlugDirectory.limit else { return }
        known[position.plug] = position.last
    }

    private mutating func release(_ id: FollowerID) {
        followers[id] = nil
        actions.append(.release(id))
        for other in followers.keys.sorted() {
            switch followers[other]?.phase {
            case .queued(behind: id): start(other)
            case .takingOver(let plug, var earlier, let report, let name, let isTaken):
                guard earlier.remove(id) != nil else { continue }
                if earlier.isEmpty {
                    // Other followers may have connected, or may have been stopped, in the meantime.
                    takeOver(plug, other, report, name: name, isTaken: isTaken)
                } else {
                    followers[other]?.phase = .takingOver(plug, from: earlier, report, name: name, isTaken: isTaken)
                }
            case nil, .queued, .reading, .learning, .delivering, .leaving: break
            }
        }
        while hasRoom, let name = waiting.takeOldest() { begin(name) }
        if isStopping, followers.isEmpty { actions.append(.finish) }
    }

    // MARK: Following ends

    /// Stops following a plug if its announcement has ended and it is not connected. A connected plug is kept, because
    /// multicast may fail while a connection works.
    private mutating func forgetIfAway(_ id: FollowerID?) {
        guard let id, let follower = followers[id], !names.isAnnounced(follower.announced), !follower.isConnected
        else { return }
        forget(id)
    }

    /// Stops following the plug. The loss is reported after the remaining reports.
    private mutating func forget(_ id: FollowerID) {
        guard isFollowed(id), let follower = followers[id] else { return }
        followed[follower.announced] = nil
        if !isStopping { actions.append(.stop(id)) }
        // Another plug may have taken the name.
        guard let plug = follower.plug, let new = names.id(announced: follower.announced), new != plug else { return }
        begin(follower.announced)
    }

    /// Follows the plug under its new name. If the new name is announced already, discovery reports no further change,
    /// so following begins here.
    private mutating func renamed(_ id: FollowerID, to reported: PlugNames) {
        guard isFollowed(id), let follower = followers[id] else { return }
        let bound = follower.plug.flatMap { names.boundName(of: $0, reported) }
        // If the reported name belongs to a different paired plug, the bound name does not change.
        guard bound ?? reported.announced != follower.name else { return }
        let found = names.match(reported.announced)
        guard found != follower.announced else {
            // Only the capitalization changed. The directory has the old capitalization until the plug is announced
            // again.
            guard bound != nil else { return }
            forget(id)
            return begin(follower.announced)
        }
        if let found { begin(found) }
        forget(id)
    }

    private mutating func stop() {
        guard !isStopping else { return }
        isStopping = true
        waiting = InsertionOrderedNames()
        for id in followed.values.sorted() { actions.append(.stop(id)) }
        if followers.isEmpty { actions.append(.finish) }
    }

    // MARK: Names

    private func isFollowed(_ id: FollowerID) -> Bool { followers[id].map { followed[$0.announced] == id } ?? false }

    /// Returns true if following was stopped, so that the reports have an end.
    private func isStopped(_ id: FollowerID) -> Bool { isStopping || !isFollowed(id) }

    /// Returns true if the plug's name belongs to a different paired plug. The plug's updates are then not reported.
    private func isNameOwnedByAnother(_ id: FollowerID) -> Bool {
        guard let own = followers[id] else { return false }
        let holders = names.holders(of: own.name)
        if holders.isEmpty || own.plug.map(holders.contains) == true { return false }
        if own.plug != nil { return true }
        // The first announcement may lack the id.
        if let announced = names.id(announced: own.announced), !holders.contains(announced) { return true }
        return followed.values.contains { $0 != id && followers[$0]?.plug.map(holders.contains) == true }
    }

    /// Sets the plug's name in the updates and returns the resulting updates.
    private mutating func call(_ id: FollowerID, _ name: String) -> [HouseFollower.Update] {
        guard let follower = followers[id], follower.name != name || follower.reported == nil else { return [] }
        followers[id]?.name = name
        return lost(id) + found(id)
    }

    private mutating func found(_ id: FollowerID) -> [HouseFollower.Update] {
        guard let name = followers[id]?.name, !isNameOwnedByAnother(id) else { return [] }
        followers[id]?.reported = name
        return reportedNames.insert(name).inserted ? [.found(name)] : []
    }

    private mutating func lost(_ id: FollowerID) -> [HouseFollower.Update] {
        guard let name = followers[id]?.reported else { return [] }
        followers[id]?.reported = nil
        guard !followers.values.contains(where: { $0.reported == name || $0.phase.takes(name) }) else { return [] }
        reportedNames.remove(name)
        return [.lost(name)]
    }

    // MARK: Queries

    /// Returns the follower of the plug with that name, in any capitalization; nil if no plug has the name or if it is
    /// ambiguous (see ``HouseFollower/plug(named:)``).
    func follower(named name: String) -> FollowerID? {
        switch names.owner(of: name) {
        case .plug(let plug): return follower(of: plug)
        case .ambiguous: return nil
        case .unknown: break
        }
        let bound = followed.values.filter { followers[$0]?.name == name && !isNameOwnedByAnother($0) }
        return best(bound) ?? followed[names.match(name) ?? name].flatMap { isNameOwnedByAnother($0) ? nil : $0 }
    }

    /// Returns the follower of this paired plug under any announced name; nil while the plug is away. For a follower
    /// that is not connected, the id in its announcement counts. If the announcement has no id, the id of the last
    /// connection counts.
    private func follower(of plug: PlugID) -> FollowerID? {
        best(
            followed.values.filter { id in
                guard let follower = followers[id], !isNameOwnedByAnother(id) else { return false }
                let announced = follower.isConnected ? nil : names.id(announced: follower.announced)
                return announced ?? follower.plug == plug
            })
    }

    private func best(_ candidates: [FollowerID]) -> FollowerID? {
        let connected = candidates.filter { followers[$0]?.isConnected == true }
        return connected.max() ?? candidates.max()
    }

    /// Returns a follower of this plug other than the given one; nil if the plug has no other.
    func successor(of plug: PlugID, after earlier: FollowerID?) -> FollowerID? {
        followed.values.filter { id in
            id != earlier && (followers[id]?.plug ?? names.id(announced: followers[id]?.announced ?? "")) == plug
        }.max()
    }

    /// Returns the id that a command to this name is restricted to; nil if no paired plug has the name or if it is
    /// ambiguous.
    func owner(of name: String) -> PlugID? {
        guard case .plug(let id) = names.owner(of: name) else { return nil }
        return id
    }

    /// Returns the refusal for a command to a name without a plug.
    func absence(of name: String) -> Refusal {
        guard let shared = names.ambiguity(of: name) else { return Refusal(.deadlinePassed, "the plug is away") }
        return Refusal(.unknown, shared.description)
    }
}

extension PlugReport {
    fileprivate func named(_ name: String) -> HouseFollower.Update {
        var report = self
        report.plug = name
        return .report(report)
    }
}

extension PlugUpdate {
    /// True for updates that can occur only while the plug is connected.
    fileprivate var isWithinConnection: Bool {
        switch self {
        case .following, .snapshot, .state, .event, .gap, .log: true
        case .connected, .disconnected: false
        }
    }
}

/// The last event that was received from a plug.
struct ReceivedPosition: Hashable, Sendable {
    var plug: PlugID
    var last: SequenceNumber
}
