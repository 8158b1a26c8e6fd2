import PlugHardware
import Synchronization

/// Records the settings of lines in order, with the time that the test advances.
final class LineRecord: Sendable {
    private struct State {
        var now = Duration.zero
        var entries: [Entry] = []
        var levels: [String: Bool] = [:]
        var failures: [String: Int] = [:]
        var waiting: [(due: Duration, body: @Sendable () -> Void)] = []
    }

    struct Entry: Hashable {
        var time: Duration
        var line: String
        var active: Bool
    }

    private let state = Mutex(State())

    func line(_ name: String) -> any OutputLine { RecordingLine(name: name, record: self) }

    /// The lines that are active.
    var active: Set<String> { state.withLock { Set($0.levels.filter(\.value).map(\.key)) } }
    var entries: [Entry] { state.withLock { $0.entries } }
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// Makes the next `times` settings of a line fail.
    func fail(_ line: String, times: Int) { state.withLock { $0.failures[line] = times } }

    func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting.append(($0.now + delay, body)) }
    }

    func pass(_ time: Duration) {
        let end = state.withLock { $0.now + time }
        while let body = next(until: end) { body() }
        state.withLock { $0.now = end }
    }

    private func next(until end: Duration) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard let first = state.waiting.indices.min(by: { state.waiting[$0].due < state.waiting[$1].due }),
                state.waiting[first].due <= end
            else { return nil }
            state.now = state.waiting[first].due
            return state.waiting.remove(at: first).body
        }
    }

    fileprivate func set(_ line: String, _ active: Bool) throws(HardwareFault) {
        let fails = state.withLock { state in
            if let left = state.failures[line], left > 0 {
                state.failures[line] = left - 1
                return true
            }
            state.entries.append(Entry(time: state.now, line: line, active: active))
            state.levels[line] = active
            return false
        }
        if fails { throw HardwareFault(part: line, reason: "made to fail") }
    }
}

private struct RecordingLine: OutputLine {
    var name: String
    var record: LineRecord

    func set(active: Bool) throws(HardwareFault) { try record.set(name, active) }
}
