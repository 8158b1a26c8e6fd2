public import AsyncAlgorithms
import LinuxSystem
public import PlugModel
import ProtocolCore
package import ServiceDiscovery

/// Follows every plug of the house from its first announcement until it disappears. A renamed plug is reported as lost
/// under its old name and found under the new one.
///
/// The name of a paired plug is bound to its id. The plug keeps this name if only its announced name changes. Another
/// host that announces the name is not reported.
public actor HouseFollower {
    /// A plug was found or lost, by its name, or a plug that was found sent a report.
    public enum Update: Sendable {
        case found(String)
        case report(PlugReport)
        case lost(String)

        /// The source of the report (see ``PlugReport/source``); nil for `found` and `lost`.
        public var source: PlugID? { if case .report(let report) = self { report.source } else { nil } }
    }

    /// A plug whose reports are still being read. The plug itself may already be stopped.
    struct Reading {
        var plug: FollowedPlug
        /// The position in the order in which following began.
        var number: Int
        /// The task that delivers the reports. It does not start to follow other plugs, so other tasks may wait for it.
        var reader: Task<Void, Never>
        var renaming: Task<Void, Never>
        /// The name in the updates: the paired name, or the announced one.
        var name: String
        /// The name in the last `found`; nil before the first one and after `lost`.
        var told: String?
        /// True if the plug was connected at the time of the last delivered report.
        var isConnected = false
    }

    /// The maximum number of readings. The limit prevents changing names from filling the memory while `updates` is not
    /// read.
    private static let readingLimit = 2 * PlugDirectory.limit

    /// All updates, in order for each plug. A slow reader slows down the network input, so nothing accumulates.
    public nonisolated let updates = AsyncChannel<Update>()
    /// The maximum age of the list of paired plugs, which other programs may change.
    private static let freshness = Duration.seconds(1)

    private let browse: @Sendable () -> any AsyncSequence<ServiceChange, Never>
    private let follow: @Sendable (String, [PlugID: SequenceNumber]) -> FollowedPlug
    /// Returns the paired plugs with their last known names; nil if the list cannot be read now.
    let paired: @Sendable () -> [PlugID: String]?
    /// Receives the changed set of names that discovery must prioritize (see `PlugDirectory.favoured`).
    private let prioritize: @Sendable (Set<String>) -> Void
    private var learnedAt: Instant?
    /// The paired plugs with their last known names.
    private(set) var names: [PlugID: String] = [:]
    private var favoured: Set<String> = []
    private(set) var directory = PlugDirectory()
    /// The followed plugs by the name under which following began.
    private(set) var plugs: [String: FollowedPlug] = [:]
    private(set) var readings: [ObjectIdentifier: Reading] = [:]
    private var lastNumber = 0
    private var isEnding = false
    /// The last received event of each plug that is away. Later events are delivered or reported as a gap.
    private var known: [PlugID: SequenceNumber]

    /// Creates a follower of all plugs that a client finds.
    ///
    /// - Parameters:
    ///   - client: Finds and connects the plugs.
    ///   - cursor: The position at which the events of a plug begin if the plug is not in `known`.
    ///   - known: The last event that the caller has seen of each plug.
    ///   - stateOptions: When the plugs send readings; nil for no states.
    public init(
        _ client: PlugClient, after cursor: Cursor = .now, known: [PlugID: SequenceNumber] = [:],
        stateOptions: StateOptions? = StateOptions()
    ) {
        self.init(known: known) {
            client.pairedNames()
        } prioritize: {
            client.prioritize($0)
        } browse: {
            client.browse().map(\.change)
        } follow: { name, known in
            client.follow(name, after: cursor, known: known, stateOptions: stateOptions)
        }
    }

    package init(
        known: [PlugID: SequenceNumber] = [:], paired: @escaping @Sendable () -> [PlugID: String]? = { nil },
        prioritize: @escaping @Sendable (Set<String>) -> Void = { _ in },
        browse: @escaping @Sendable () -> any AsyncSequence<ServiceChange, Never>,
        follow: @escaping @Sendable (String, [PlugID: SequenceNumber]) -> FollowedPlug
    ) {
        self.known = known
        self.paired = paired
        self.prioritize = prioritize
        self.browse = browse
        self.follow = follow
    }

    /// Browses and follows plugs until the task is cancelled, and then ends `updates`. Call it once.
    public func run() async {
        await withTaskCancellationHandler {
            await follow(learnPaired())
            for await change in browse() {
                await follow(learnPaired())
                await follow(directory.take(change, now: BootClock.now))
            }
            isEnding = true
            for plug in plugs.values { await plug.stop() }
            while let reading = readings.values.first { await reading.reader.value }
        } onCancel: {
            Task { await self.cancelReaders() }
        }
        updates.finish()
    }

    /// Reads the list of paired plugs if the last read is older than `freshness`.
    private func learnPaired() -> [PlugDirectory.Change] {
        let now = BootClock.now
        guard learnedAt.map({ now - $0 >= Self.freshness }) ?? true else { return [] }
        learnedAt = now
        guard let learned = paired() else { return [] }
        names = learned
        return directory.prioritize(learned, now: now)
    }

    private func follow(_ changes: [PlugDirectory.Change]) async {
        if directory.favoured != favoured {
            favoured = directory.favoured
            prioritize(favoured)
        }
        for change in changes {
            switch change {
            case .appeared(let name), .renewed(let name):
                if let plug = plugs[name] {
                    await plug.locate()
                } else if !isReached(announced: name) {
                    await begin(name)
                }
            case .disappeared(let name): await forgetIfAway(plugs[name])
            }
        }
    }

    private func cancelReaders() {
        isEnding = true
        for reading in readings.values {
            reading.reader.cancel()
            reading.renaming.cancel()
        }
    }

    /// Returns the plug with that name, in any capitalization; nil if no plug has the name or if it is ambiguous. The
    /// name of a paired plug refers to this plug only. A plug whose announcement expired while it is connected is found
    /// by its exact name.
    public func plug(named name: String) -> FollowedPlug? {
        switch PlugNameOwner(of: name, among: names) {
        case .plug(let id): return plug(of: id)
        case .ambiguous: return nil
        case .unknown: break
        }
        let bound = readings.values.filter { $0.name == name && isFollowed($0.plug) && !isNameOwnedByAnother($0.plug) }
        if let best = bound.max(by: { ($0.isConnected ? 1 : 0, $0.number) < ($1.isConnected ? 1 : 0, $1.number) }) {
            return best.plug
        }
        return plugs[directory.match(name) ?? name].flatMap { isNameOwnedByAnother($0) ? nil : $0 }
    }

    // MARK: Names

    func isFollowed(_ plug: FollowedPlug) -> Bool { plugs[plug.name] === plug }

    /// Returns true if the name is announced with the id of a paired plug that is already connected.
    private func isReached(announced name: String) -> Bool {
        guard let id = directory.id(of: name), names[id] != nil else { return false }
        return readings.values.contains { $0.isConnected && isFollowed($0.plug) && $0.plug.id == id }
    }

    /// Follows the other names that are announced with the id of this paired plug, because its connection has ended.
    private func tryOthers(for id: PlugID) async {
        guard names[id] != nil else { return }
        for name in directory.names(of: id) where plugs[name] == nil { await begin(name) }
    }

    /// Returns the name that is bound to the announced id, or else the announced name.
    private func boundName(announced name: String) -> String {
        directory.id(of: name).flatMap { names[$0] } ?? name
    }

    /// Returns the bound name of a connected plug by the names it reported; nil for a plug that is not paired.
    private func boundName(of plug: PlugID, _ names: PlugNames) -> String? {
        self.names = paired() ?? self.names
        guard let known = self.names[plug], plug.shared(in: known) != names.given else { return self.names[plug] }
        return names.bound(known: known) { name in
            self.names.contains { $0.key != plug && $0.value.foldedPlugName == name.foldedPlugName }
        }
    }

    /// Returns true if the plug's name belongs to a different paired plug. The plug's updates are then not reported.
    func isNameOwnedByAnother(_ plug: FollowedPlug) -> Bool {
        guard let own = readings[ObjectIdentifier(plug)] else { return false }
        let holders = names.filter { $0.value == own.name }.keys
        if holders.isEmpty || plug.id.map({ holders.contains($0) }) == true { return false }
        if plug.id != nil { return true }
        // The first announcement may lack the id.
        if let announced = directory.id(of: plug.name), !holders.contains(announced) { return true }
        return readings.values.contains { other in
            other.plug !== plug && isFollowed(other.plug) && other.plug.id.map { holders.contains($0) } == true
        }
    }

    /// Sets the plug's name in the updates and reports the change.
    private func call(_ plug: FollowedPlug, _ name: String) async {
        guard let reading = readings[ObjectIdentifier(plug)], reading.name != name || reading.told == nil else {
            return
        }
        readings[ObjectIdentifier(plug)]?.name = name
        await tellLost(plug)
        await tellFound(plug)
    }

    private func tellFound(_ plug: FollowedPlug) async {
        guard let name = readings[ObjectIdentifier(plug)]?.name, !isNameOwnedByAnother(plug) else { return }
        let isKnown = readings.values.contains { $0.told == name }
        readings[ObjectIdentifier(plug)]?.told = name
        if !isKnown { await updates.send(.found(name)) }
    }

    private func tellLost(_ plug: FollowedPlug) async {
        guard let told = readings[ObjectIdentifier(plug)]?.told else { return }
        readings[ObjectIdentifier(plug)]?.told = nil
        if !readings.values.contains(where: { $0.told == told }) { await updates.send(.lost(told)) }
    }

    // MARK: Following begins

    private func begin(_ name: String) async {
        await makeRoom()
        let known = await known(of: name)
        guard !isEnding, plugs[name] == nil else { return }
        let plug = follow(name, known)
        plugs[name] = plug
        lastNumber += 1
        // An earlier plug under the same name may have undelivered reports.
        let before = readings.values.filter { $0.plug.name == name }.max { $0.number < $1.number }?.reader
        let reader = Task {
            await before?.value
            await self.read(plug)
        }
        let renaming = Task {
            for await name in plug.renames { await self.renamed(plug, to: name) }
        }
        readings[ObjectIdentifier(plug)] = Reading(
            plug: plug, number: lastNumber, reader: reader, renaming: renaming, name: boundName(announced: name))
    }

    /// Waits while too many stopped plugs still have undelivered reports.
    private func makeRoom() async {
        while readings.count >= Self.readingLimit, !isEnding,
            let oldest = readings.values.filter({ plugs[$0.plug.name] !== $0.plug }).min(by: { $0.number < $1.number })
        {
            await oldest.reader.value
        }
    }

    /// Returns the last received events of all plugs. For the plug whose id is announced under this name, the position
    /// of its current connection is used.
    private func known(of name: String) async -> [PlugID: SequenceNumber] {
        guard let id = directory.id(of: name) else { return known }
        var known = known
        let same = readings.values.filter { ($0.plug.id ?? directory.id(of: $0.plug.name) ?? id) == id }
        for reading in same.sorted(by: { $0.number < $1.number }) {
            if let position = await reading.plug.position, position.plug == id { known[id] = position.last }
        }
        return known
    }

    // MARK: Updates of a plug

    private func read(_ plug: FollowedPlug) async {
        await tellFound(plug)
        for await report in plug.reports {
            if case .connected(let description) = report.update {
                let names = PlugNames(given: description.givenName, announced: description.name)
                let name = boundName(of: description.id, names) ?? plug.name
                guard await takesOver(plug, description, as: name) else {
                    await forget(plug)
                    break
                }
                await call(plug, name)
            }
            if !isNameOwnedByAnother(plug), let name = readings[ObjectIdentifier(plug)]?.name {
                var report = report
                report.plug = name
                await updates.send(.report(report))
            }
            switch report.update {
            case .connected: readings[ObjectIdentifier(plug)]?.isConnected = true
            case .disconnected:
                if readings[ObjectIdentifier(plug)]?.isConnected == false { doubt(plug.name) }
                readings[ObjectIdentifier(plug)]?.isConnected = false
                // Runs in a separate task, because a reader must not wait for other plugs.
                if let id = plug.id { Task { await tryOthers(for: id) } }
                await forgetIfAway(plugs[plug.name] === plug ? plug : nil)
            case .following, .snapshot, .state, .event, .gap, .log: break
            }
        }
        await ended(plug)
    }

    /// Marks an announcement as doubtful: it has the id of a paired plug, but the plug was not reached under this name.
    private func doubt(_ name: String) {
        let others = directory.doubt(name)
        // Runs in a separate task, because a reader must not wait for other plugs.
        if !others.isEmpty { Task { await follow(others) } }
    }

    /// Stops older followers of the same plug and first delivers their remaining reports, which keeps events in order.
    /// Returns false if the plug is already connected under the name it reports; `plug` is then a duplicate.
    private func takesOver(_ plug: FollowedPlug, _ description: PlugDescription, as name: String) async -> Bool {
        guard let number = readings[ObjectIdentifier(plug)]?.number else { return true }
        let others = readings.values.filter { $0.plug !== plug && $0.plug.id == description.id }
        if plug.name != description.name,
            others.contains(where: {
                $0.isConnected && $0.plug.name == description.name && plugs[$0.plug.name] === $0.plug
            })
        {
            return false
        }
        // Waits only for older followers, so that two followers never wait for each other.
        for other in others.filter({ $0.number < number }).sorted(by: { $0.number < $1.number }) {
            if other.told == name, other.name == name { readings[ObjectIdentifier(plug)]?.told = name }
            await forget(other.plug)
            await other.reader.value
        }
        return true
    }

    /// Cleans up after the plug's last report was delivered.
    private func ended(_ plug: FollowedPlug) async {
        if let position = await plug.position { remember(position.last, of: position.plug) }
        if plugs[plug.name] === plug { plugs[plug.name] = nil }
        guard let reading = readings[ObjectIdentifier(plug)] else { return }
        if !isEnding {
            if reading.isConnected {
                let update = PlugUpdate.disconnected(reason: .away("it was renamed"), retryIn: .zero)
                await updates.send(.report(PlugReport(plug: reading.name, at: .now, update: update)))
            }
            await tellLost(plug)
        }
        readings[ObjectIdentifier(plug)] = nil
    }

    /// Stores the plug's last event. The number of plugs is limited like in the directory, because ids come from the
    /// network. Above the limit, a returning plug counts as new.
    private func remember(_ sequence: SequenceNumber, of plug: PlugID) {
        guard known[plug] != nil || known.count < PlugDirectory.limit else { return }
        known[plug] = sequence
    }

    // MARK: Following ends

    /// Stops following a plug if its announcement has ended and it is not connected. A connected plug is kept, because
    /// multicast may fail while a connection works.
    private func forgetIfAway(_ plug: FollowedPlug?) async {
        guard let plug, !directory.contains(plug.name), readings[ObjectIdentifier(plug)]?.isConnected != true else {
            return
        }
        await forget(plug)
    }

    /// Follows the plug under its new name. If the new name is announced already, discovery reports no further change,
    /// so following begins here.
    private func renamed(_ plug: FollowedPlug, to names: PlugNames) async {
        guard plugs[plug.name] === plug, let before = readings[ObjectIdentifier(plug)]?.name else { return }
        let bound = plug.id.flatMap { boundName(of: $0, names) }
        let name = names.announced
        // If the reported name belongs to a different paired plug, the bound name does not change.
        guard bound ?? name != before else { return }
        let found = directory.match(name)
        guard found != plug.name else {
            // Only the capitalization changed. The directory has the old capitalization until the plug is announced
            // again.
            guard bound != nil else { return }
            await forget(plug)
            return await begin(plug.name)
        }
        if let found, plugs[found] == nil { await begin(found) }
        await forget(plug)
    }

    /// Stops following the plug. Its reader reports the loss after the remaining reports.
    private func forget(_ plug: FollowedPlug) async {
        guard plugs[plug.name] === plug else { return }
        plugs[plug.name] = nil
        await plug.stop()
        // Another plug may have taken the name. It is followed in a separate task, because a reader must not wait for
        // other plugs.
        guard let id = plug.id, let new = directory.id(of: plug.name), new != id, plugs[plug.name] == nil else {
            return
        }
        Task { await self.begin(plug.name) }
    }
}
