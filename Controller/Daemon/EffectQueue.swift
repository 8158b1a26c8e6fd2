import Automation
import PlugModel

/// Schedules effects. For programs, for web hooks and for wakes of machines, the number that runs at the same time is
/// limited. Effects beyond the limit of their kind wait in order. A program that hangs therefore delays no effect of
/// another kind. Notifications begin immediately, because each receiver has its own limited queue. The rule machine
/// limits the total number of effects.
struct EffectQueue {
    /// The maximum number of concurrent effects of each kind except notifications. Prevents a rule that fires every
    /// second from starting an unlimited number.
    static let atOnce = 8

    private enum Kind: CaseIterable {
        case notify, program, webHook, wake
    }

    private var waiting: [EffectRequest] = []
    private var running: [RequestID: (kind: Kind, task: Task<Void, Never>)] = [:]

    var isIdle: Bool { running.isEmpty }

    mutating func add(_ request: EffectRequest) { waiting.append(request) }

    /// Returns the next effect to begin, or nil. The caller begins it and calls ``begun(_:_:)``.
    mutating func next() -> EffectRequest? {
        let free = Kind.allCases.filter { kind in
            kind == .notify || running.values.count { $0.kind == kind } < Self.atOnce
        }
        guard let index = waiting.firstIndex(where: { free.contains(Self.kind(of: $0)) }) else { return nil }
        return waiting.remove(at: index)
    }

    /// Registers the task of an effect.
    mutating func begun(_ request: EffectRequest, _ task: Task<Void, Never>) {
        running[request.id] = (Self.kind(of: request), task)
    }

    /// Removes a finished effect.
    ///
    /// - Returns: False if the effect was withdrawn.
    mutating func ended(_ id: RequestID) -> Bool { running.removeValue(forKey: id) != nil }

    /// Removes a waiting effect or cancels a running one.
    mutating func withdraw(_ id: RequestID) {
        waiting.removeAll { $0.id == id }
        running.removeValue(forKey: id)?.task.cancel()
    }

    /// Removes all waiting effects.
    mutating func close() { waiting = [] }

    /// Cancels the running effects, which still report their outcomes.
    func cancelAll() {
        for entry in running.values { entry.task.cancel() }
    }

    /// Cancels and removes all effects.
    mutating func withdrawAll() {
        for entry in running.values { entry.task.cancel() }
        (waiting, running) = ([], [:])
    }

    private static func kind(of request: EffectRequest) -> Kind {
        switch request.effect {
        case .notify: .notify
        case .run: .program
        case .webHook: .webHook
        case .wake: .wake
        }
    }
}
