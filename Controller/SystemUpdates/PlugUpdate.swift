public import PlugClient
public import PlugModel

/// The time of the restart after an installation.
public enum UpdateRestart: String, CaseIterable, Sendable {
    /// At once, also if the relay is on.
    case now
    /// When the relay is off.
    case whenOff = "when-off"
    /// By a later request, or when the plug's power returns.
    case later
}

/// An update, which continues in a further session if a session ends.
public struct PlugUpdate: Sendable {
    private enum Stage: Sendable {
        /// Comparing the plug's system with the source's.
        case comparing(UpdateSource, onlyChecks: Bool)
        case sending(SystemBundle)
        /// Waiting for the installer. If the last part of the bundle was lost with its session, it is sent again.
        case installing(SystemBundle?)
        case restarting
        /// A single request.
        case asking(UpdateRequest)
    }

    private var stage: Stage
    private let allowsOlder: Bool
    private let restart: UpdateRestart?
    private var shown: UpdateReport?

    /// The time between two requests for the state.
    private static let pause = Duration.seconds(1)

    /// Creates an update, or a single request if `source` and `restart` are nil.
    ///
    /// - Parameters:
    ///   - source: The place of the bundle; nil to send none.
    ///   - onlyChecks: True to compare the plug's system with the newest one of the source, and send nothing.
    ///   - allowsOlder: True to accept a system that is older than the plug's.
    ///   - cancels: True to delete a bundle that was received in part.
    ///   - restart: The time of the restart; nil for none.
    public init(
        from source: UpdateSource?, onlyChecks: Bool, allowsOlder: Bool, cancels: Bool, restart: UpdateRestart?
    ) {
        (self.allowsOlder, self.restart) = (allowsOlder, restart)
        if let source {
            stage = .comparing(source, onlyChecks: onlyChecks)
        } else if restart != nil {
            stage = .installing(nil)
        } else {
            stage = .asking(cancels ? .cancel : .ask)
        }
    }

    /// Continues the update in a session. Returns true if it succeeded, false if it failed, and nil if the session ended.
    ///
    /// - Parameter show: Receives the state, if it is worth showing, and the version of the source's newest system.
    /// - Throws: `Refusal`, ``SystemUpdateError``, or `CancellationError`.
    public mutating func proceed(
        _ plug: FollowedPlug, isolation: isolated (any Actor)? = #isolation,
        show: (UpdateReport, _ available: String?) async -> Void
    ) async throws -> Bool? {
        while true {
            try Task.checkCancellation()
            switch stage {
            case .asking(let request):
                guard let report = try await plug.manageUpdate(request) else { return nil }
                await show(report, nil)
                return true
            case .comparing(let source, let onlyChecks):
                guard let report = try await plug.manageUpdate(.ask) else { return nil }
                let newest = try await source.newest(for: report.board)
                if onlyChecks || newest != nil { await show(report, newest?.system) }
                guard !onlyChecks, newest?.system != report.system else { return true }
                // An update that waits for its restart is not sent again.
                let isInstalled = report.phase == .installed && newest?.system == report.newSystem
                stage = isInstalled ? .installing(nil) : .sending(try await source.bundle(newest))
            case .sending(let bundle):
                var answer = try await plug.manageUpdate(
                    .begin(bundle.id, size: UInt64(bundle.size), allowsOlder: allowsOlder))
                while let report = answer, case .receiving(let offset, _) = report.phase,
                    let part = bundle.part(at: offset)
                {
                    await tell(report, show)
                    // The plug may have the last part although its answer is lost.
                    if offset + UInt64(part.count) == UInt64(bundle.size) { stage = .installing(bundle) }
                    answer = try await plug.manageUpdate(.part(offset: offset, part))
                }
                guard answer != nil else { return nil }
                stage = .installing(bundle)
            case .installing(let bundle):
                guard let report = try await plug.manageUpdate(.ask) else { return nil }
                await tell(report, show)
                switch report.phase {
                case .installed:
                    guard let restart, restart != .later else { return true }
                    guard let answer = try await plug.manageUpdate(.restart(whenOff: restart == .whenOff)) else {
                        return nil
                    }
                    guard !answer.restartsWhenOff else {
                        await tell(answer, show)
                        return true
                    }
                    stage = .restarting
                // The plug has restarted, although its answer to the request is lost.
                case .trying: stage = .restarting
                case .failed, .returned: return false
                case .idle, .receiving:
                    guard let bundle, case .receiving = report.phase else {
                        throw Refusal(.outOfRange, "no new system is installed")
                    }
                    stage = .sending(bundle)
                case .installing, .unknown: try await Task.sleep(for: Self.pause)
                }
            case .restarting:
                guard let report = try await plug.manageUpdate(.ask) else { return nil }
                await tell(report, show)
                switch report.phase {
                case .idle: return true
                case .failed, .returned: return false
                case .installed, .trying, .installing, .receiving, .unknown: try await Task.sleep(for: Self.pause)
                }
            }
        }
    }

    /// Shows a report if its phase is new, or if ten percent more are done.
    private mutating func tell(
        _ report: UpdateReport, isolation: isolated (any Actor)? = #isolation,
        _ show: (UpdateReport, String?) async -> Void
    ) async {
        let isNew =
            switch (shown?.phase, report.phase) {
            case (.receiving(let before, _), .receiving(let now, let size)):
                now > before && now - before >= size / 10
            case (.installing(let before), .installing(let now)): now >= before + 10
            default: shown != report
            }
        guard isNew else { return }
        shown = report
        await show(report, nil)
    }
}
