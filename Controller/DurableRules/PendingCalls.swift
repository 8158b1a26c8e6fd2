import PlugModel
import RuleModel

/// The unanswered calls in the order in which they were decided. Lookup by id takes constant time.
public struct PendingCalls: Hashable, Sendable {
    /// The calls in order, with nil in place of each removed call.
    private var slots: [StoredRuleState.Call?] = []
    /// The index of the first used slot.
    private var start = 0
    /// The index of each call's slot, by call id.
    private var places: [UInt128: Int] = [:]
    /// The number of calls per script.
    private var shares: [String: Int] = [:]

    /// The number of calls.
    public var count: Int { places.count }
    /// True if the list has no calls.
    public var isEmpty: Bool { places.isEmpty }

    /// The calls in order.
    public var elements: [StoredRuleState.Call] { slots[start...].compactMap { $0 } }

    func count(of script: String) -> Int { shares[script] ?? 0 }

    /// Returns true if the script may add a call. A script that hangs can fill two thirds of the list, and a second one
    /// two thirds of the rest, so that room is left for other scripts even if several hang.
    func hasRoom(for script: String) -> Bool { count(of: script) < 2 * (ScriptLimits.calls - count) }

    var first: StoredRuleState.Call? { slots.indices.contains(start) ? slots[start] : nil }

    subscript(id: RequestID) -> StoredRuleState.Call? { places[id.key].flatMap { slots[$0] } }

    /// Appends a call. Returns false if a call with this id exists.
    mutating func append(_ call: StoredRuleState.Call) -> Bool {
        guard places[call.call.id.key] == nil else { return false }
        places[call.call.id.key] = slots.count
        slots.append(call)
        shares[call.call.handler.script, default: 0] += 1
        return true
    }

    /// Changes the function of a call, because the function may have a different place in the changed rule.
    mutating func move(_ id: RequestID, to handler: ScriptHandler) {
        if let place = places[id.key] { slots[place]?.call.handler = handler }
    }

    mutating func remove(_ id: RequestID) -> StoredRuleState.Call? {
        guard let place = places.removeValue(forKey: id.key) else { return nil }
        let call = slots[place]
        slots[place] = nil
        if let script = call?.call.handler.script {
            let left = count(of: script) - 1
            shares[script] = left == 0 ? nil : left
        }
        while start < slots.count, slots[start] == nil { start += 1 }
        // At least half of the slots are empty then, so a removal takes constant time on average.
        if slots.count > 2 * count + 64 { close() }
        return call
    }

    private mutating func close() {
        slots = elements
        start = 0
        for (place, call) in slots.enumerated() { if let call { places[call.call.id.key] = place } }
    }

    public static func == (one: PendingCalls, other: PendingCalls) -> Bool { one.elements == other.elements }

    public func hash(into hasher: inout Hasher) { hasher.combine(elements) }
}
