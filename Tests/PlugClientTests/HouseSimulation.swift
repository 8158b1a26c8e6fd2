import LinuxSystem
import PlugModel
import ProtocolCore
import ServiceDiscovery

@testable import PlugClient

/// A ``HouseMachine`` with simulated plugs and a simulated network in virtual time. Each random step performs one
/// event, so connections, reports, deliveries and announcements have any order.
struct HouseSimulation {
    typealias FollowerID = HouseMachine.FollowerID

    private struct SimulatedPlug {
        let id: PlugID
        var given: String
        var announced: String
        /// The earlier names under which caches still find the plug.
        var oldNames: Set<String> = []
        var isOn = true
        var last: SequenceNumber = 0
    }

    /// The counterpart of a `FollowedPlug`.
    private struct Following {
        let name: String
        /// The name that the next attempt searches for.
        var search: String
        var known: [PlugID: SequenceNumber]
        /// The index of the connected plug.
        var plug: Int?
        var proved: PlugID?
        var reportedProof: PlugID?
        var position: ReceivedPosition?
        var reports: [PlugUpdate] = []
        var renamed: PlugNames?
        var isStopped = false
        var isReading = false
        var isDelivering = false
        /// The id of the plug in the last delivered connection report.
        var source: PlugID?
        var lastEvent: [PlugID: SequenceNumber] = [:]
    }

    private static let names = ["Lamp", "lamp", "Fan", "Lounge", "Heater"]

    private(set) var faults: [String] = []
    private(set) var isFinished = false
    /// The number of delivered events.
    private(set) var delivered = 0
    private var machine = HouseMachine()
    private var random: SeededRandom
    private var now = Instant.zero
    private var plugs: [SimulatedPlug] = []
    private var paired: [PlugID: String] = [:]
    private var isListReadable = true
    private var announcements: Set<String> = []
    private var followings: [FollowerID: Following] = [:]
    private var released: Set<FollowerID> = []
    private var deliveries: [FollowerID] = []
    private var queue: [HouseMachine.Action] = []
    private var isPerforming = false
    private var isStopping = false
    /// The names that the machine has reported as found and not as lost since.
    private var found: Set<String> = []
    /// The follower that delivered the latest connection of the plug.
    private var connected: [PlugID: FollowerID] = [:]

    init(seed: UInt64, plugs count: Int = 4) {
        random = SeededRandom(seed: seed)
        for index in 0..<count {
            let id = PlugID(drawnFrom: &random)
            let name = unusedName(Self.names[index % Self.names.count])
            plugs.append(SimulatedPlug(id: id, given: name, announced: name))
            if random.chance(0.6) { paired[id] = name }
        }
        feed(.started)
    }

    // MARK: Steps

    mutating func step() {
        now = now + random.duration(in: .zero ... .milliseconds(400))
        let index = Int.random(in: 0..<plugs.count, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<12: announce(index)
        case 12..<16:
            if let name = announcements.sorted().randomElement(using: &random) { withdraw(name) }
        case 16..<18: forge(index)
        case 18..<22: rename(index)
        case 22..<25: displace(index)
        case 25..<28: plugs[index].isOn.toggle()
        case 28..<42: if let id = some({ !$0.isStopped && $0.plug == nil }) { attempt(id) }
        case 42..<46: if let id = some({ $0.plug != nil }) { disconnect(id) }
        case 46..<56: happen(index)
        case 56..<74: if let id = some({ $0.isReading }) { read(id) }
        case 74..<90: if !deliveries.isEmpty { deliver() }
        case 90..<94: if let id = some({ $0.renamed != nil }) { reportRename(id) }
        case 94..<96: store(index)
        case 96..<98: pair(index)
        default: isListReadable.toggle()
        }
    }

    /// Stops the machine and performs all remaining requests.
    mutating func stop() {
        isStopping = true
        feed(.stopping)
        drain()
        check(isFinished && followings.isEmpty, "the machine does not finish")
    }

    /// Ends all changes: every plug is on, only current names are announced, and every attempt succeeds. Then each plug
    /// must have exactly one follower.
    mutating func settle(renaming: Bool) {
        isListReadable = true
        for index in plugs.indices {
            plugs[index].isOn = true
            plugs[index].oldNames = []
            if renaming { rename(index, to: "Final \(index)") }
            store(index)
        }
        let current = Set(plugs.map(\.announced))
        for name in announcements.sorted() where !current.contains(name) { withdraw(name) }
        for _ in 0..<12 {
            now = now + .seconds(2)
            for index in plugs.indices {
                happen(index)
                announce(index, withID: true)
            }
            for (id, following) in followings.sorted(by: { $0.key < $1.key })
            where !following.isStopped && following.plug == nil {
                attempt(id)
            }
            drain()
        }
        for (index, plug) in plugs.enumerated() {
            let own = followings.filter { $0.value.plug == index }
            // A plug has no follower while the follower of its name is connected to a different plug.
            let isNameFree = renaming || !followings.values.contains { $0.name == plug.announced && $0.plug != index }
            check(own.count == 1 || !isNameFree && own.isEmpty, "a plug has \(own.count) followers")
            guard renaming else { continue }
            let name = paired[plug.id] ?? plug.announced
            check(found.contains(name), "\(name) is not found")
            check(machine.follower(named: name) == own.keys.first, "\(name) is a different plug")
        }
        check(
            followings.values.allSatisfy { !$0.isStopped && ($0.plug != nil || !current.contains($0.search)) },
            "a follower has no plug")
        if renaming { check(found.count == plugs.count, "found: \(found.sorted())") }
    }

    /// Performs all requests of the machine.
    private mutating func drain() {
        while true {
            if !deliveries.isEmpty {
                deliver()
            } else if let id = some({ $0.isReading && ($0.isStopped || !$0.reports.isEmpty) }) {
                read(id)
            } else if let id = some({ $0.renamed != nil }) {
                reportRename(id)
            } else {
                return
            }
        }
    }

    private mutating func some(_ condition: (Following) -> Bool) -> FollowerID? {
        followings.filter { condition($0.value) }.keys.sorted().randomElement(using: &random)
    }

    private mutating func check(_ condition: Bool, _ fault: String) {
        if !condition { faults.append(fault) }
    }

    // MARK: The network

    private func unusedName(_ name: String, except own: Int? = nil) -> String {
        let others = plugs.enumerated().filter { $0.offset != own }.map(\.element.announced.foldedPlugName)
        var candidate = name
        var number = 1
        while others.contains(candidate.foldedPlugName) {
            number += 1
            candidate = "\(name) (\(number))"
        }
        return candidate
    }

    private func identity(_ name: String) -> ServiceIdentity {
        ServiceIdentity(name: name, type: PlugClient.serviceType, interface: 2)
    }

    private mutating func announce(_ name: String, _ plug: PlugID?) {
        announcements.insert(name)
        feed(.announced(.found(identity(name), txt: plug.flatMap { try? TXTRecord(["id": $0.rawValue]) })))
    }

    private mutating func announce(_ index: Int, withID: Bool = false) {
        guard plugs[index].isOn else { return }
        announce(plugs[index].announced, withID || random.chance(0.8) ? plugs[index].id : nil)
    }

    private mutating func withdraw(_ name: String) {
        announcements.remove(name)
        feed(.announced(.lost(identity(name))))
    }

    /// Announces a name with the id of a plug that has a different name.
    private mutating func forge(_ index: Int) {
        announce(Self.names.randomElement(using: &random) ?? "", plugs[index].id)
    }

    private mutating func rename(_ index: Int, to name: String? = nil) {
        let given = name ?? Self.names.randomElement(using: &random) ?? ""
        guard given != plugs[index].given else { return }
        plugs[index].given = given
        move(index, to: unusedName(given, except: index))
        for id in followings.keys where followings[id]?.plug == index {
            followings[id]?.renamed = PlugNames(given: given, announced: plugs[index].announced)
        }
    }

    /// Changes only the announced name, as after a conflict.
    private mutating func displace(_ index: Int) {
        move(index, to: unusedName("\(plugs[index].given) (2)", except: index))
    }

    private mutating func move(_ index: Int, to name: String) {
        if random.chance(0.5) { plugs[index].oldNames.insert(plugs[index].announced) }
        if random.chance(0.5) { withdraw(plugs[index].announced) }
        plugs[index].announced = name
        for id in followings.keys where followings[id]?.plug == index { followings[id]?.search = name }
        if random.chance(0.5) { announce(index) }
    }

    /// Stores the names of a paired plug, as a client does after a connection.
    private mutating func store(_ index: Int) {
        let plug = plugs[index]
        guard let known = paired[plug.id] else { return }
        let names = PlugNames(given: plug.given, announced: plug.announced)
        paired[plug.id] = names.bound(known: known) { name in
            paired.contains { $0.key != plug.id && $0.value.foldedPlugName == name.foldedPlugName }
        }
    }

    /// Pairs a plug, or removes its pairing.
    private mutating func pair(_ index: Int) {
        let plug = plugs[index]
        if paired.removeValue(forKey: plug.id) == nil, !paired.values.contains(plug.announced) {
            paired[plug.id] = plug.announced
        }
    }

    // MARK: Connections

    private mutating func attempt(_ id: FollowerID) {
        guard let search = followings[id]?.search else { return }
        let reached =
            plugs.firstIndex { $0.isOn && $0.announced == search }
            ?? plugs.firstIndex { $0.isOn && $0.oldNames.contains(search) }
        guard let reached else {
            followings[id]?.reports.append(.disconnected(reason: .away("not found"), retryIn: .zero))
            return
        }
        let plug = plugs[reached]
        followings[id]?.plug = reached
        followings[id]?.proved = plug.id
        followings[id]?.search = plug.announced
        let clock = ClockMapping(boot: boot, plugTime: .zero, asked: .zero, answered: .zero)
        let description = PlugDescription(
            id: plug.id, name: plug.announced, givenName: plug.given, capabilities: [], firmware: "1.0", boot: boot,
            clock: clock)
        followings[id]?.reports.append(.connected(description))
        if let known = followings[id]?.known[plug.id] {
            if known < plug.last { for number in (known + 1)...plug.last { receive(number, on: id) } }
        } else {
            followings[id]?.known[plug.id] = plug.last
            followings[id]?.reports.append(.following(after: plug.last))
        }
        followings[id]?.position = ReceivedPosition(plug: plug.id, last: plug.last)
    }

    private mutating func disconnect(_ id: FollowerID) {
        followings[id]?.plug = nil
        followings[id]?.reports.append(.disconnected(reason: .away("connection lost"), retryIn: .zero))
    }

    /// Records an event at the plug.
    private mutating func happen(_ index: Int) {
        plugs[index].last += 1
        for id in followings.keys where followings[id]?.plug == index {
            receive(plugs[index].last, on: id)
        }
    }

    private mutating func receive(_ number: SequenceNumber, on id: FollowerID) {
        guard let index = followings[id]?.plug else { return }
        let event = PlugEvent(sequence: number, boot: boot, time: .zero, kind: .buttonPressed(.single))
        followings[id]?.reports.append(.event(event, age: .zero))
        followings[id]?.known[plugs[index].id] = number
        followings[id]?.position = ReceivedPosition(plug: plugs[index].id, last: number)
    }

    private mutating func reportProofs() {
        for (id, following) in followings.sorted(by: { $0.key < $1.key }) {
            guard let proved = following.proved, proved != following.reportedProof else { continue }
            followings[id]?.reportedProof = proved
            feed(.proved(id, proved))
        }
    }

    private mutating func reportRename(_ id: FollowerID) {
        guard let names = followings[id]?.renamed else { return }
        followings[id]?.renamed = nil
        reportProofs()
        feed(.renamed(id, names))
    }

    private mutating func read(_ id: FollowerID) {
        guard let following = followings[id] else { return }
        if let update = following.reports.first {
            followings[id]?.reports.removeFirst()
            followings[id]?.isReading = false
            if case .connected = update { reportProofs() }
            let time = WallTime(nanosecondsSince1970: 0)
            feed(.report(id, PlugReport(plug: following.name, at: time, update: update)))
        } else if following.isStopped {
            followings[id]?.isReading = false
            reportProofs()
            feed(.ended(id, following.position, at: WallTime(nanosecondsSince1970: 0)))
        }
    }

    private mutating func deliver() {
        let id = deliveries.removeFirst()
        followings[id]?.isDelivering = false
        feed(.delivered(id))
    }

    // MARK: The machine

    private mutating func feed(_ event: HouseMachine.Event) {
        queue += machine.handle(event, now: now)
        guard !isPerforming else { return }
        isPerforming = true
        while !queue.isEmpty { perform(queue.removeFirst()) }
        isPerforming = false
    }

    private mutating func perform(_ action: HouseMachine.Action) {
        check(!isFinished, "an action follows `finish`")
        switch action {
        case .readPaired: feed(.paired(isListReadable ? paired : nil))
        case .prioritize: break
        case .follow(let id, let name, let known, let resumed):
            check(!isStopping, "following begins after the stop")
            check(followings[id] == nil && !released.contains(id), "a follower id is used twice")
            check(!followings.values.contains { $0.name == name && !$0.isStopped }, "\(name) is followed twice")
            var known = known
            for earlier in resumed?.followers ?? [] {
                check(followings[earlier] != nil, "a released follower is resumed")
                guard let position = followings[earlier]?.position, position.plug == resumed?.plug else { continue }
                known[position.plug] = position.last
            }
            followings[id] = Following(name: name, search: name, known: known)
        case .locate(let id): check(followings[id]?.isStopped == false, "a stopped plug is located")
        case .read(let id):
            checkIdle(id)
            followings[id]?.isReading = true
        case .deliver(let id, let updates):
            checkIdle(id)
            check(!updates.isEmpty, "there is nothing to deliver")
            followings[id]?.isDelivering = true
            deliveries.append(id)
            for update in updates { record(update, of: id) }
        case .stop(let id):
            check(followings[id]?.isStopped == false, "a follower is stopped twice")
            followings[id]?.isStopped = true
            followings[id]?.plug = nil
        case .release(let id):
            checkIdle(id)
            check(followings[id]?.isStopped == true, "a follower is released before its end")
            check(followings[id]?.reports.isEmpty == true, "a follower is released before its reports are read")
            followings[id] = nil
            released.insert(id)
        case .finish:
            isFinished = true
            check(followings.isEmpty && deliveries.isEmpty, "followers are left")
        }
    }

    /// Checks that the follower exists and has no pending request.
    private mutating func checkIdle(_ id: FollowerID) {
        guard let following = followings[id] else { return check(false, "an action for a released follower") }
        check(!following.isReading && !following.isDelivering, "a follower has two requests")
    }

    private mutating func record(_ update: HouseFollower.Update, of id: FollowerID) {
        switch update {
        case .found(let name): check(found.insert(name).inserted, "\(name) is found twice")
        case .lost(let name): check(found.remove(name) != nil, "\(name) is lost and was not found")
        case .report(let report):
            check(found.contains(report.plug), "a report of \(report.plug), which is not found")
            record(report.update, of: id)
        }
    }

    private mutating func record(_ update: PlugUpdate, of id: FollowerID) {
        switch update {
        case .connected(let plug):
            followings[id]?.source = plug.id
            if followings[id]?.proved == plug.id { connected[plug.id] = id }
        case .event(let event, _):
            guard let plug = followings[id]?.source else { return check(false, "an event precedes the connection") }
            delivered += 1
            check((followings[id]?.lastEvent[plug] ?? 0) < event.sequence, "events are not in order")
            followings[id]?.lastEvent[plug] = event.sequence
            guard followings[id]?.proved == plug else { return }
            let latest = connected[plug] ?? id
            // A stopped follower may still deliver its events after the connection of an older follower was delivered.
            let isInOrder = followings[id]?.isStopped == true ? latest <= id : latest == id
            check(isInOrder, "an event of an earlier follower comes late")
        case .following, .snapshot, .state, .gap, .log, .disconnected: break
        }
    }
}
