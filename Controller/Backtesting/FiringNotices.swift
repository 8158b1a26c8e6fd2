import Automation
import DurableRules

/// The notices about one firing, in ascending order of time.
struct FiringNotices: Sendable {
    private var told: [(at: Int64, notice: RuleNotice, isKept: Bool)]
    /// The number of steps of the trace.
    private var steps = 0
    /// A trace recorder without open firings, which has the rules' conditions.
    private let book: TraceRecorder

    /// Creates the notices of a firing. The first one is about the firing itself.
    ///
    /// - Parameters:
    ///   - time: Milliseconds since 1970.
    ///   - book: A trace recorder without firings.
    init(_ firing: Firing, at time: Int64, _ book: TraceRecorder) {
        told = [(time, .firing(firing), false)]
        self.book = book
    }

    /// Adds a notice.
    ///
    /// - Parameter isKept: True if the notice is about a command that waits for its plug.
    /// - Returns: The index of the step in the trace; nil if the trace does not store it.
    mutating func add(_ notice: RuleNotice, at time: Int64, isKept: Bool = false) -> Int? {
        told.append((time, notice, isKept))
        if case .step(_, .finished) = notice { return nil }
        let first = steps
        // Each line of a script's log is a step.
        if case .scriptLogged(_, let lines) = notice { steps += lines.count } else { steps += 1 }
        return first < RuleTrace.stepLimit ? first : nil
    }

    var trace: RuleTrace {
        var book = book
        var trace: RuleTrace?
        for (at, notice, isKept) in told {
            trace = book.record(notice, at: at, now: Backtest.instant(at)) ?? trace
            if isKept, case .commanded(let request, _) = notice { trace = book.keep(request.id) ?? trace }
        }
        guard let trace else { preconditionFailure("a firing begins its trace") }
        return trace
    }
}
