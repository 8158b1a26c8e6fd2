public import AsyncAlgorithms
import LinuxClocks
public import PlugModel
import ProtocolCore
package import ServiceDiscovery

/// Follows every plug of the house: those that are there, those that come, until they go. One that is given another name is lost
/// under its old one and found under the new one.
///
/// The name of a plug that is paired is bound to its id. The plug keeps it under whatever name it is announced, and nothing is told of
/// another host that is announced under it.
public actor HouseFollower {
    public enum Update: Sendable {
        case found(String)
        case report(PlugReport)
        case lost(String)

        /// The plug whose words it is made of.
        public var source: PlugID? { if case .report(let report) = self { report.source } else { nil } }
    }

    /// A plug whose reports are still read, be it followed or stopped.
    struct Reading {
        var plug: FollowedPlug
        /// In the order in which following began.
        var number: Int
        /// Delivers its reports. It begins nothing, so that whoever begins something may wait for it.
        var reader: Task<Void, Never>
        var renaming: Task<Void, Never>
        /// Its name in the updates: that under which it is paired, or that under which it was found.
        var name: String
        /// Its name in the last `found`; nil where `lost` was told since, or nothing yet.
        var told: String?
        /// As far as its reports were delivered.
        var isConnected = false
    }

    /// Plugs whose reports are read at the same time. Stops a network whose names come and go from filling the memory while
    /// nobody takes the updates.
    private static let readingLimit = 2 * PlugDirectory.limit

    /// In order for each plug. A reader that is slow slows the reading from the network down; nothing piles up.
    public nonisolated let updates = AsyncChannel<Update>()
    /// Plugs that another program paired have room within this time.
    private static let freshness = Duration.seconds(1)

    private let browse: @Sendable () -> any AsyncSequence<ServiceChange, Never>
    private let follow: @Sendable (String, [PlugID: SequenceNumber]) -> FollowedPlug
    /// The plugs that matter, by what they were called last; nil where nobody can say now.
    let paired: @Sendable () -> [PlugID: String]?
    /// Gets their names, and those that claim to be one of them, whenever they change.
    private let favour: @Sendable (Set<String>) -> Void
    private var learnedAt: Instant?
    /// What was learned.
    private(set) var names: [PlugID: String] = [:]
    private var favoured: Set<String> = []
    private(set) var directory = PlugDirectory()
    /// Those that are followed, by the name under which that began.
    private(set) var plugs: [String: FollowedPlug] = [:]
    private(set) var readings: [ObjectIdentifier: Reading] = [:]
    private var lastNumber = 0
    private var isEnding = false
    /// The last event accounted for of each plug that is away: what happens meanwhile is delivered or told as a gap.
    private var known: [PlugID: SequenceNumber]

    /// - Parameters:
    ///   - client: finds and connects the plugs.
    ///   - cursor: where the events of a plug begin that is not among the known.
    ///   - known: the last event seen of plugs by their id.
    ///   - stateOptions: how often a reading is worth sending; nil for no states.
    public init(
        _ client: PlugClient, after cursor: Cursor = .now, known: [PlugID: SequenceNumber] = [:],
        stateOptions: StateOptions? = StateOptions()
    ) {
        self.init(known: known) {
            client.pairedNames()
        } favour: {
            client.favour($0)
        } browse: {
            client.browse().map(\.change)
        } follow: { name, known in
            client.follow(name, after: cursor, known: known, stateOptions: stateOptions)
        }
    }

    package init(
        known: [PlugID: SequenceNumber] = [:], paired: @escaping @Sendable () -> [PlugID: String]? = { nil },
        favour: @escaping @Sendable (Set<String>) -> Void = { _ in },
        browse: @escaping @Sendable () -> any AsyncSequence<ServiceChange, Never>,
        follow: @escaping @Sendable (String, [PlugID: SequenceNumber]) -> FollowedPlug
    ) {
        self.known = known
        self.paired = paired
        self.favour = favour
        self.browse = browse
        self.follow = follow
    }

    /// Browses and follows until the task is cancelled.
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

    /// Reads which plugs matter, where that was a while ago.
    private func learnPaired() -> [PlugDirectory.Change] {
        let now = BootClock.now
        guard learnedAt.map({ now - $0 >= Self.freshness }) ?? true else { return [] }
        learnedAt = now
        guard let learned = paired() else { return [] }
        names = learned
        return directory.favour(learned, now: now)
    }

    private func follow(_ changes: [PlugDirectory.Change]) async {
        if directory.favoured != favoured {
            favoured = directory.favoured
            favour(favoured)
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

    /// The plug of that name, in any spelling of capitals; nil while there is none. The name of a paired plug means this plug only. One
    /// whose announcement ran out while its connection lives goes by its exact name.
    public func plug(named name: String) -> FollowedPlug? {
        switch PlugNameOwner(of: name, among: names) {
        case .plug(let id): return plug(of: id)
        case .ambiguous: return nil
        case .unknown: break
        }
        let bound = readings.values.filter { $0.name == name && isFollowed($0.plug) && !isOvershadowed($0.plug) }
        if let best = bound.max(by: { ($0.isConnected ? 1 : 0, $0.number) < ($1.isConnected ? 1 : 0, $1.number) }) {
            return best.plug
        }
        return plugs[directory.match(name) ?? name].flatMap { isOvershadowed($0) ? nil : $0 }
    }

    // MARK: Names

    func isFollowed(_ plug: FollowedPlug) -> Bool { plugs[plug.name] === plug }

    /// Whether it is announced with the id of a paired plug that is connected already: that needs nobody else, whoever says so.
    private func isReached(announced name: String) -> Bool {
        guard let id = directory.id(of: name), names[id] != nil else { return false }
        return readings.values.contains { $0.isConnected && isFollowed($0.plug) && $0.plug.id == id }
    }

    /// Those that are announced with the id of the paired plug are tried, since its connection has ended.
    private func tryOthers(for id: PlugID) async {
        guard names[id] != nil else { return }
        for name in directory.names(of: id) where plugs[name] == nil { await begin(name) }
    }

    /// The name by which the plug goes: the one that is bound to its id, or the one under which it is announced.
    private func boundName(announced name: String) -> String {
        directory.id(of: name).flatMap { names[$0] } ?? name
    }

    /// The same for a plug that was reached, by what it says itself; nil for one that is not paired.
    private func boundName(of plug: PlugID, _ names: PlugNames) -> String? {
        self.names = paired() ?? self.names
        guard let known = self.names[plug], plug.shared(in: known) != names.given else { return self.names[plug] }
        return names.bound(known: known) { name in
            self.names.contains { $0.key != plug && $0.value.foldedPlugName == name.foldedPlugName }
        }
    }

    /// Whether another plug is paired under the name by which it goes, and it did not prove to be that one. Nothing is told of it.
    func isOvershadowed(_ plug: FollowedPlug) -> Bool {
        guard let own = readings[ObjectIdentifier(plug)] else { return false }
        let holders = names.filter { $0.value == own.name }.keys
        if holders.isEmpty || plug.id.map({ holders.contains($0) }) == true { return false }
        if plug.id != nil { return true }
        // Its announcement may come without an id at first.
        if let announced = directory.id(of: plug.name), !holders.contains(announced) { return true }
        return readings.values.contains { other in
            other.plug !== plug && isFollowed(other.plug) && other.plug.id.map { holders.contains($0) } == true
        }
    }

    /// From here on it goes by this name.
    private func call(_ plug: FollowedPlug, _ name: String) async {
        guard let reading = readings[ObjectIdentifier(plug)], reading.name != name || reading.told == nil else {
            return
        }
        readings[ObjectIdentifier(plug)]?.name = name
        await tellLost(plug)
        await tellFound(plug)
    }

    private func tellFound(_ plug: FollowedPlug) async {
        guard let name = readings[ObjectIdentifier(plug)]?.name, !isOvershadowed(plug) else { return }
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
        // One that had the name before may have reports left.
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

    /// Waits for the reader of the updates where too many plugs that were stopped still have reports for it.
    private func makeRoom() async {
        while readings.count >= Self.readingLimit, !isEnding,
            let oldest = readings.values.filter({ plugs[$0.plug.name] !== $0.plug }).min(by: { $0.number < $1.number })
        {
            await oldest.reader.value
        }
    }

    /// What has been seen of the plugs, with where the one is that may be about to change to this name.
    private func known(of name: String) async -> [PlugID: SequenceNumber] {
        guard let id = directory.id(of: name) else { return known }
        var known = known
        let same = readings.values.filter { ($0.plug.id ?? directory.id(of: $0.plug.name) ?? id) == id }
        for reading in same.sorted(by: { $0.number < $1.number }) {
            if let position = await reading.plug.position, position.plug == id { known[id] = position.last }
        }
        return known
    }

    // MARK: What is heard

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
            if !isOvershadowed(plug), let name = readings[ObjectIdentifier(plug)]?.name {
                var report = report
                report.plug = name
                await updates.send(.report(report))
            }
            switch report.update {
            case .connected: readings[ObjectIdentifier(plug)]?.isConnected = true
            case .disconnected:
                if readings[ObjectIdentifier(plug)]?.isConnected == false { doubt(plug.name) }
                readings[ObjectIdentifier(plug)]?.isConnected = false
                // A task of its own, since readers wait for nothing.
                if let id = plug.id { Task { await tryOthers(for: id) } }
                await forgetIfAway(plugs[plug.name] === plug ? plug : nil)
            case .following, .snapshot, .state, .event, .gap, .log: break
            }
        }
        await ended(plug)
    }

    /// Somebody says that this is a plug that matters, and it was not reached.
    private func doubt(_ name: String) {
        let others = directory.doubt(name)
        // A task of its own, since readers wait for nothing.
        if !others.isEmpty { Task { await follow(others) } }
    }

    /// The plug that was reached may have been followed under another name. What is left of that is delivered first, so that
    /// its events stay in their order. False: it is connected under the name that it calls itself, and this one is another.
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
        // Only older ones, so that no two wait for each other.
        for other in others.filter({ $0.number < number }).sorted(by: { $0.number < $1.number }) {
            if other.told == name, other.name == name { readings[ObjectIdentifier(plug)]?.told = name }
            await forget(other.plug)
            await other.reader.value
        }
        return true
    }

    /// Its last report is delivered.
    private func ended(_ plug: FollowedPlug) async {
        if let position = await plug.position { remember(position.last, of: position.plug) }
        if plugs[plug.name] === plug { plugs[plug.name] = nil }
        guard let reading = readings[ObjectIdentifier(plug)] else { return }
        if !isEnding {
            if reading.isConnected {
                let update = PlugUpdate.disconnected(reason: .away("it has another name now"), retryIn: .zero)
                await updates.send(.report(PlugReport(plug: reading.name, at: .now, update: update)))
            }
            await tellLost(plug)
        }
        readings[ObjectIdentifier(plug)] = nil
    }

    /// Bounded as the directory is, since ids come from the network; beyond it a plug that returns is new.
    private func remember(_ sequence: SequenceNumber, of plug: PlugID) {
        guard known[plug] != nil || known.count < PlugDirectory.limit else { return }
        known[plug] = sequence
    }

    // MARK: Following ends

    /// A plug whose announcement ran out but whose connection lives is still there: multicast may be what is broken.
    private func forgetIfAway(_ plug: FollowedPlug?) async {
        guard let plug, !directory.contains(plug.name), readings[ObjectIdentifier(plug)]?.isConnected != true else {
            return
        }
        await forget(plug)
    }

    /// It goes on under its other name. That may be announced already, or still, and then nothing more tells of it.
    private func renamed(_ plug: FollowedPlug, to names: PlugNames) async {
        guard plugs[plug.name] === plug, let before = readings[ObjectIdentifier(plug)]?.name else { return }
        let bound = plug.id.flatMap { boundName(of: $0, names) }
        let name = names.announced
        // The name of another paired plug changes nothing.
        guard bound ?? name != before else { return }
        let found = directory.match(name)
        guard found != plug.name else {
            // Other capitals are the same name on the network, until they are announced anew.
            guard bound != nil else { return }
            await forget(plug)
            return await begin(plug.name)
        }
        if let found, plugs[found] == nil { await begin(found) }
        await forget(plug)
    }

    /// It is away, or has another name now. Its reader tells that, after what it still has to deliver.
    private func forget(_ plug: FollowedPlug) async {
        guard plugs[plug.name] === plug else { return }
        plugs[plug.name] = nil
        await plug.stop()
        // Another plug may have taken its name. A task of its own, since readers wait for nothing.
        guard let id = plug.id, let new = directory.id(of: plug.name), new != id, plugs[plug.name] == nil else {
            return
        }
        Task { await self.begin(plug.name) }
    }
}
