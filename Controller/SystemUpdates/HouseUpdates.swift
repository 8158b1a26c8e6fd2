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

    private static let reconnectionPause = Duration.seconds(1)
    private static let quietTimePause = Duration.seconds(10)
    /// The time limit of an update, in which the plug may be away for a while.
    private static let patience = Duration.seconds(2 * 3600)
    /// The limit of changes that are not announced yet.
    private static let announcementLimit = 10_000

    private let settings: UpdateSettings?
    private let complain: @Sendable (String) -> Void
    private var machine: UpdatesMachine
    private var following: Following = { _ in nil }
    private var names: [PlugID: String] = [:]
    private var alarm: Task<Void, Never>?
    private var update: Task<Void, Never>?
    private let changes: AsyncStream<(PlugID, PlugSystem)>
    private let announcements: AsyncStream<(PlugID, PlugSystem)>.Continuation

    /// Creates the updates of a house.
    ///
    /// - Parameters:
    ///   - settings: nil to show the systems of plugs only.
    ///   - complain: Called with messages for the user.
    public init(_ settings: UpdateSettings?, complain: @escaping @Sendable (String) -> Void) {
        self.settings = settings
        self.complain = complain
        machine = UpdatesMachine(hasSource: settings != nil, now: BootClock.now)
        (changes, announcements) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.announcementLimit))
    }

    /// Searches for new systems and carries out updates until the task is cancelled.
    public func run(_ following: @escaping Following, announce: @escaping Announcement) async {
        self.following = following
        // Plugs that connected before this call.
        for plug in names.keys { advance(.connected(plug)) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await (plug, system) in self.changes { await announce(plug, system) } }
            guard let quietTime = settings?.quietTime else { return }
            group.addTask {
                while !Task.isCancelled {
                    await self.advance(.quietTime(quietTime.contains(WallTime.now.localMinuteOfDay)))
                    try? await Task.sleep(for: Self.quietTimePause)
                }
            }
        }
        alarm?.cancel()
        update?.cancel()
    }

    // MARK: Reports of the house

    public func note(_ record: RunnerRecord) {}
    public func rulesChanged(_ rules: [Rule], disabled: Set<String>, faults: [RuleFileFault]) {}

    public func handle(_ update: HouseFollower.Update) {
        guard case .report(let report) = update, case .connected(let plug) = report.update,
            plug.capabilities.contains(.update)
        else { return }
        names[plug.id] = report.plug
        advance(.connected(plug.id))
    }

    // MARK: Requests

    /// Asks a plug for its system.
    ///
    /// - Throws: `Refusal` if the plug refused, or ``SystemUpdateError/away``.
    public func system(of id: PlugID) async throws -> PlugSystem { try await ask(id, .ask) }

    /// Begins to update a plug to the newest system of the source, after the updates that were requested before.
    ///
    /// - Parameter restart: nil for the time in the settings.
    public func update(_ id: PlugID, restart: UpdateRestart? = nil) throws(SystemUpdateError) {
        if let obstacle = machine.obstacle(to: id) { throw obstacle }
        advance(.requested(id, restart ?? settings?.restart ?? .whenOff))
    }

    /// Ends an update whose bundle the plug has not received yet, or the plug's wait for a restart when its relay is off.
    ///
    /// - Throws: `Refusal` if the plug refused, or ``SystemUpdateError/away``.
    public func cancel(_ id: PlugID) async throws -> PlugSystem {
        advance(.cancelled(id))
        return try await ask(id, .cancel)
    }

    // MARK: The machine

    private func advance(_ event: UpdatesMachine.Event) {
        let actions = machine.handle(event, now: BootClock.now)
        alarm?.cancel()
        alarm = machine.nextDeadline.map { deadline in
            Task {
                try? await Task.sleep(for: max(.zero, deadline - BootClock.now))
                if !Task.isCancelled { advance(.deadlineReached) }
            }
        }
        for action in actions { perform(action) }
    }

    private func perform(_ action: UpdatesMachine.Action) {
        switch action {
        case .ask(let plug): Task { try? await ask(plug, .ask) }
        case .search(let board): Task { await search(board) }
        case .update(let plug, let restart): update = Task { await carryOut(plug, restart) }
        case .stop: update?.cancel()
        case .restart(let plug):
            Task { if (try? await ask(plug, .restart(whenOff: false))) == nil { advance(.notRestarted(plug)) } }
        case .announce(let plug, let system): announcements.yield((plug, system))
        case .complain(let words): complain(words)
        }
    }

    @discardableResult
    private func ask(_ id: PlugID, _ request: UpdateRequest) async throws -> PlugSystem {
        guard let plug = await connected(id), let report = try await plug.manageUpdate(request) else {
            throw SystemUpdateError.away
        }
        advance(.reported(id, report))
        return machine.system(of: id) ?? PlugSystem(report)
    }

    private func connected(_ id: PlugID) async -> FollowedPlug? {
        guard let name = names[id], let plug = await following(name), await plug.isConnected else { return nil }
        return plug
    }

    private func search(_ board: String) async {
        guard let source = settings?.source else { return }
        do {
            advance(.found(try await source.newest(for: board)?.system, board: board))
        } catch {
            advance(.failed(board: board, reason: "\(error)"))
        }
    }

    private func carryOut(_ id: PlugID, _ restart: UpdateRestart) async {
        do {
            try await proceed(id, restart)
            advance(.ended(id, fault: nil))
        } catch let refusal as Refusal {
            advance(.ended(id, fault: refusal.detail))
        } catch {
            advance(.ended(id, fault: "\(error)"))
        }
    }

    private func proceed(_ id: PlugID, _ restart: UpdateRestart) async throws {
        var update = PlugUpdate(
            from: settings?.source, onlyChecks: false, allowsOlder: false, cancels: false, restart: restart)
        let end = BootClock.now + Self.patience
        while true {
            if let plug = await connected(id) {
                let isDone = try await update.proceed(plug) { report, _ in advance(.reported(id, report)) }
                guard isDone == nil else { return }
            }
            guard BootClock.now < end else { throw SystemUpdateError.away }
            try await Task.sleep(for: Self.reconnectionPause)
        }
    }
}
