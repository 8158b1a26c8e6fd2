import Automation
import PlugModel

/// Effects on their way: so many of each kind at once, the others in the order in which they came, so that a program that hangs holds
/// up no notification and no web hook. Of notifications all begin at once: each receiver has a bounded queue of its own. The machine bounds
/// them all.
struct EffectQueue {
    /// Stops a rule that fires every second from starting programs, or requests, without end.
    static let atOnce = 8

    private enum Kind: CaseIterable {
        case notify, program, webHook
    }

    private var waiting: [EffectRequest] = []
    private var running: [RequestID: (kind: Kind, task: Task<Void, Never>)] = [:]

    var isIdle: Bool { running.isEmpty }

    mutating func add(_ request: EffectRequest) { waiting.append(request) }

    /// What is to begin now; each is to be answered with ``begun(_:_:)``.
    mutating func next() -> EffectRequest? {
        let free = Kind.allCases.filter { kind in
            kind == .notify || running.values.count { $0.kind == kind } < Self.atOnce
        }
        guard let index = waiting.firstIndex(where: { free.contains(Self.kind(of: $0)) }) else { return nil }
        return waiting.remove(at: index)
    }

    mutating func begun(_ request: EffectRequest, _ task: Task<Void, Never>) {
        running[request.id] = (Self.kind(of: request), task)
    }

    /// - Returns: false where it was withdrawn.
    mutating func ended(_ id: RequestID) -> Bool { running.removeValue(forKey: id) != nil }

    mutating func withdraw(_ id: RequestID) {
        waiting.removeAll { $0.id == id }
        running.removeValue(forKey: id)?.task.cancel()
    }

    /// Nothing begins any more.
    mutating func close() { waiting = [] }

    /// They end, and say how.
    func cancelAll() {
        for entry in running.values { entry.task.cancel() }
    }

    mutating func withdrawAll() {
        for entry in running.values { entry.task.cancel() }
        (waiting, running) = ([], [:])
    }

    private static func kind(of request: EffectRequest) -> Kind {
        switch request.effect {
        case .notify: .notify
        case .run: .program
        case .webHook: .webHook
        }
    }
}
