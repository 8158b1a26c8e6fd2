public import Daemon
import LinuxSystem
public import PlugClient
public import PlugModel
import ProtocolCore
public import RuleModel

/// The system of a plug, and its update.
public struct PlugSystem: Hashable, Sendable {
    /// The plug's last report.
    public var report: UpdateReport
    /// The version of the newest system at the source; nil before the first answer of a source.
    public var available: String?
    /// True from the request for an update until it has ended.
    public var isUpdating = false
    /// Why the last update was not carried out; nil if it was, and if ``report`` has the reason.
    public var fault: String?

    /// Creates the system of a plug.
    public init(_ report: UpdateReport) { self.report = report }
}

/// Knows the systems of the house's plugs, compares them with the newest ones at the owner's source, and updates plugs on
/// request, one after the other. It receives the same reports as the rules, the history and the dashboard, and uses the
/// same connections to the plugs.
public actor HouseUpdates: HouseObserver {
    /// Returns the followed plug with this name.
    public typealias Following = @Sendable (String) async -> FollowedPlug?
    /// Receives a plug's system after each change.
    public typealias Announcement = @Sendable (PlugID, PlugSystem) async -> Void

    /// The time between two searches for new systems.
    private static let searchPause = Duration.seconds(6 * 3600)
    /// The time between two questions to a plug that installs or proves its system.
    private static let questionPause = Duration.seconds(5)
    private static let reconnectionPause = Duration.seconds(1)
    private static let quietTimePause = Duration.seconds(10)
    /// The time after which the next plug restarts in the quiet time, although the last one has not returned.
    private static let returnLimit = Duration.seconds(900)
    /// The time limit of an update, in which the plug may be away for a while.
    private static let patience = Duration.seconds(2 * 3600)
    /// The limit of updates that wait for their turn.
    private static let queueLimit = 1000

    private let settings: UpdateSettings?
    private let complain: @Sendable (String) -> Void
    private var following: Following = { _ in nil }
    private var announce: Announcement = { _, _ in }
    private var names: [PlugID: String] = [:]
    private var systems: [PlugID: PlugSystem] = [:]
    /// The newest system of each board; nil if the source has none or did not answer.
    private var newest: [String: String?] = [:]
    /// The plugs that are asked again after a pause.
    private var watched: Set<PlugID> = []
    private var cancelled: Set<PlugID> = []
    /// The last plug that was restarted because of the quiet time.
    private var restarted: (plug: PlugID, at: Instant)?
    private let orders: AsyncStream<(PlugID, UpdateRestart)>
    private let queue: AsyncStream<(PlugID, UpdateRestart)>.Continuation

    /// Creates the updates of a house.
    ///
    /// - Parameters:
    ///   - settings: nil to show the systems of plugs only.
    ///   - complain: Called with messages for the user.
    public init(_ settings: UpdateSettings?, complain: @escaping @Sendable (String) -> Void) {
        self.settings = settings
        self.complain = complain
        (orders, queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.queueLimit))
    }

    /// Searches for new systems and carries out updates until the task is cancelled.
    public func run(_ following: @escaping Following, announce: @escaping Announcement) async {
        (self.following, self.announce) = (following, announce)
        // Plugs that connected before this call.
        for plug in names.keys { Task { try? await ask(plug) } }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    await self.search()
                    try? await Task.sleep(for: Self.searchPause)
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    await self.restartInQuietTime()
                    try? await Task.sleep(for: Self.quietTimePause)
                }
            }
            group.addTask { for await (plug, restart) in self.orders { await self.perform(plug, restart) } }
        }
    }

    // MARK: Reports of the house

    public func note(_ record: RunnerRecord) {}
    public func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) {}

    public func handle(_ update: HouseFollower.Update) {
        guard case .report(let report) = update, case .connected(let plug) = report.update,
            plug.capabilities.contains(.update)
        else { return }
        names[plug.id] = report.plug
        Task { try? await ask(plug.id) }
    }

    // MARK: Requests

    /// Asks a plug for its system.
    ///
    /// - Throws: `Refusal` if the plug refused, or ``SystemUpdateError/away``.
    public func system(of id: PlugID) async throws -> PlugSystem { try await ask(id) }

    /// Begins to update a plug to the newest system of the source, after the updates that were requested before.
    ///
    /// - Parameter restart: nil for the time in the settings.
    public func update(_ id: PlugID, restart: UpdateRestart? = nil) async throws(SystemUpdateError) {
        guard let settings else { throw .noSource }
        guard let system = systems[id] else { throw .away }
        guard !system.isUpdating, case .enqueued = queue.yield((id, restart ?? settings.restart)) else { throw .busy }
        await change(id) {
            $0.isUpdating = true
            $0.fault = nil
        }
    }

    /// Ends an update whose bundle the plug has not received yet, or the plug's wait for a restart when its relay is off.
    ///
    /// - Throws: `Refusal` if the plug refused, or ``SystemUpdateError/away``.
    public func cancel(_ id: PlugID) async throws -> PlugSystem {
        if systems[id]?.isUpdating == true { cancelled.insert(id) }
        return try await ask(id, .cancel)
    }

    // MARK: Systems

    @discardableResult
    private func ask(_ id: PlugID, _ request: UpdateRequest = .ask) async throws -> PlugSystem {
        guard let plug = await connected(id), let report = try await plug.manageUpdate(request) else {
            throw SystemUpdateError.away
        }
        return await note(report, of: id)
    }

    private func connected(_ id: PlugID) async -> FollowedPlug? {
        guard let name = names[id], let plug = await following(name), await plug.isConnected else { return nil }
        return plug
    }

    private func note(_ report: UpdateReport, of id: PlugID) async -> PlugSystem {
        let system = await change(id) { $0.report = report }
        if newest[report.board] == nil { await search(report.board) }
        if system.isMoving, !system.isUpdating { watch(id) }
        return systems[id] ?? system
    }

    @discardableResult
    private func change(_ id: PlugID, _ work: (inout PlugSystem) -> Void) async -> PlugSystem {
        var system = systems[id] ?? PlugSystem(UpdateReport(phase: .unknown))
        work(&system)
        if let found = newest[system.report.board] { system.available = found }
        guard system != systems[id] else { return system }
        systems[id] = system
        await announce(id, system)
        return system
    }

    /// Asks again after a pause, because a plug does not report the progress by itself.
    private func watch(_ id: PlugID) {
        guard watched.insert(id).inserted else { return }
        Task {
            try? await Task.sleep(for: Self.questionPause)
            watched.remove(id)
            _ = try? await ask(id)
        }
    }

    // MARK: The source

    private func search() async {
        // A plug may state a different board after an update.
        newest = newest.filter { board, _ in systems.values.contains { $0.report.board == board } }
        for board in Set(systems.values.map(\.report.board)).sorted() { await search(board) }
    }

    private func search(_ board: String) async {
        guard let source = settings?.source, !board.isEmpty else { return }
        let isFirst = newest[board] == nil
        // Other plugs with this board need no search of their own.
        if isFirst { newest[board] = .some(nil) }
        do {
            newest[board] = .some(try await source.newest(for: board)?.system)
        } catch {
            // The last answer stays valid. The failure is reported once.
            if isFirst { complain("cannot search for new systems: \(error)") }
        }
        for (id, system) in systems where system.report.board == board { await change(id) { _ in } }
    }

    // MARK: Updates

    private func perform(_ id: PlugID, _ restart: UpdateRestart) async {
        var fault: String?
        do {
            try await carryOut(id, restart)
        } catch let refusal as Refusal {
            fault = refusal.detail
        } catch {
            fault = "\(error)"
        }
        if cancelled.remove(id) != nil { fault = nil }
        await change(id) {
            $0.isUpdating = false
            $0.fault = fault
        }
        _ = try? await ask(id)
    }

    /// Restarts the next plug with an installed system, unless the previous one still has to prove itself.
    private func restartInQuietTime() async {
        guard settings?.quietTime?.contains(WallTime.now.localMinuteOfDay) == true else { return }
        if let at = restarted?.at, BootClock.now >= at + Self.returnLimit { restarted = nil }
        if let restarted {
            let phase = systems[restarted.plug]?.report.phase
            guard phase != .installed, phase != .trying else { return }
        }
        for (id, system) in systems.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where system.report.phase == .installed && !system.isUpdating && id != restarted?.plug {
            guard (try? await ask(id, .restart(whenOff: false))) != nil else { continue }
            restarted = (id, BootClock.now)
            return
        }
    }

    private func carryOut(_ id: PlugID, _ restart: UpdateRestart) async throws {
        var update = PlugUpdate(
            from: settings?.source, onlyChecks: false, allowsOlder: false, cancels: false, restart: restart)
        let end = BootClock.now + Self.patience
        while !cancelled.contains(id) {
            if let plug = await connected(id) {
                let isDone = try await update.proceed(plug) { report, _ in _ = await note(report, of: id) }
                guard isDone == nil else { return }
            }
            guard BootClock.now < end else { throw SystemUpdateError.away }
            try await Task.sleep(for: Self.reconnectionPause)
        }
    }
}

extension PlugSystem {
    /// True while the plug changes its phase without a further request.
    fileprivate var isMoving: Bool {
        switch report.phase {
        case .installing, .trying: true
        case .idle, .receiving, .installed, .returned, .failed, .unknown: false
        }
    }
}
