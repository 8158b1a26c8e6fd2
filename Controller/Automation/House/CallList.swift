import PlugModel

/// Calls that are not answered, in the order in which they were decided, each found by its id at once: also among a thousand.
public struct CallList: Hashable, Sendable {
    /// Nil where one was taken out.
    private var slots: [HouseMemory.Call?] = []
    /// The first slot with one.
    private var start = 0
    /// By id.
    private var places: [UInt128: Int] = [:]
    /// How many there are of each script.
    private var shares: [String: Int] = [:]

    public var count: Int { places.count }
    public var isEmpty: Bool { places.isEmpty }

    /// In their order.
    public var elements: [HouseMemory.Call] { slots[start...].compactMap { $0 } }

    func count(of script: String) -> Int { shares[script] ?? 0 }

    /// Whether one more of the script has room: a script that stands still fills two thirds of the list, a second one two thirds of the
    /// rest, so that there is always some for one that does not.
    func hasRoom(for script: String) -> Bool { count(of: script) < 2 * (ScriptLimits.calls - count) }

    var first: HouseMemory.Call? { slots.indices.contains(start) ? slots[start] : nil }

    subscript(id: RequestID) -> HouseMemory.Call? { places[id.key].flatMap { slots[$0] } }

    /// False where it is there already.
    mutating func append(_ call: HouseMemory.Call) -> Bool {
        guard places[call.call.id.key] == nil else { return false }
        places[call.call.id.key] = slots.count
        slots.append(call)
        shares[call.call.handler.script, default: 0] += 1
        return true
    }

    /// The rule that calls it is one of another text, where its function may have another place.
    mutating func move(_ id: RequestID, to handler: ScriptHandler) {
        if let place = places[id.key] { slots[place]?.call.handler = handler }
    }

    mutating func remove(_ id: RequestID) -> HouseMemory.Call? {
        guard let place = places.removeValue(forKey: id.key) else { return nil }
        let call = slots[place]
        slots[place] = nil
        if let script = call?.call.handler.script {
            let left = count(of: script) - 1
            shares[script] = left == 0 ? nil : left
        }
        while start < slots.count, slots[start] == nil { start += 1 }
        // Each that is moved has been paid for by one that was taken out.
        if slots.count > 2 * count + 64 { close() }
        return call
    }

    private mutating func close() {
        slots = elements
        start = 0
        for (place, call) in slots.enumerated() { if let call { places[call.call.id.key] = place } }
    }

    public static func == (one: CallList, other: CallList) -> Bool { one.elements == other.elements }

    public func hash(into hasher: inout Hasher) { hasher.combine(elements) }
}
