import Automation
import PlugProtocol

/// Effects on their way: so many at once, the others in the order in which they came. The machine bounds them all.
struct EffectQueue {
    /// Stops a rule that fires every second from starting programs without end.
    static let atOnce = 16

    private var waiting: [EffectRequest] = []
    private var running: [RequestID: Task<Void, Never>] = [:]

    var tasks: [Task<Void, Never>] { Array(running.values) }

    mutating func add(_ request: EffectRequest) { waiting.append(request) }

    /// What is to begin now; each is to be answered with ``begun(_:_:)``.
    mutating func next() -> EffectRequest? {
        guard running.count < Self.atOnce, !waiting.isEmpty else { return nil }
        return waiting.removeFirst()
    }

    mutating func begun(_ id: RequestID, _ task: Task<Void, Never>) { running[id] = task }

    /// - Returns: false where it was withdrawn.
    mutating func ended(_ id: RequestID) -> Bool { running.removeValue(forKey: id) != nil }

    mutating func withdraw(_ id: RequestID) {
        waiting.removeAll { $0.id == id }
        running.removeValue(forKey: id)?.cancel()
    }

    /// Nothing begins any more.
    mutating func close() { waiting = [] }

    mutating func withdrawAll() {
        for task in running.values { task.cancel() }
        (waiting, running) = ([], [:])
    }
}
