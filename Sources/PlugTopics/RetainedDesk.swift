import DequeModule
import PlugModel
import ProtocolCore

/// The retained messages of every plug, and their delivery. A new message replaces the previous one of its topic, so
/// each plug has only a few.
struct RetainedDesk: Sendable {
    /// The messages in publishing order: Home Assistant needs the device first, then its state, then its availability.
    enum Slot: Int, CaseIterable, Sendable {
        case discovery, about, state, system, availability
    }

    struct Key: Hashable, Sendable {
        var plug: PlugID
        var slot: Slot
    }

    private struct Content: Sendable {
        var wanted: String
        var isDirty = false
        var isInFlight = false
    }

    private struct Plug: Sendable {
        var contents: [Content?] = Array(repeating: nil, count: Slot.allCases.count)
        /// True while the plug's messages are being removed from the broker.
        var isGoing = false
        /// The time at which the broker acknowledged the current availability in this connection, or nil if it has not
        /// done so yet.
        var saidAt: Instant?
    }

    private var plugs: [PlugID: Plug] = [:]
    /// The keys to publish, in order. Keys whose content no longer needs publishing are skipped.
    private var due: Deque<Key> = []

    var known: Set<PlugID> { Set(plugs.keys) }
    var hasDue: Bool { !due.isEmpty }
    func has(_ plug: PlugID) -> Bool { plugs[plug].map { !$0.isGoing } ?? false }

    /// Returns the time at which the broker acknowledged the plug's availability in this connection, or nil if it has
    /// not done so yet.
    func announced(_ plug: PlugID) -> Instant? { plugs[plug]?.saidAt }
    func isKnown(_ plug: PlugID) -> Bool { plugs[plug] != nil }

    func content(_ key: Key) -> String? { plugs[key.plug]?.contents[key.slot.rawValue]?.wanted }

    /// Sets the content of a message and queues it if it differs from the previous one. Returns true if the plug is
    /// new.
    mutating func want(_ text: String, _ key: Key) -> Bool {
        let isNew = plugs[key.plug] == nil
        var plug = plugs[key.plug] ?? Plug()
        plug.isGoing = false
        var content = plug.contents[key.slot.rawValue] ?? Content(wanted: "")
        guard content.wanted != text || plug.contents[key.slot.rawValue] == nil else {
            plugs[key.plug] = plug
            return isNew
        }
        content.wanted = text
        if !content.isDirty, !content.isInFlight { due.append(key) }
        content.isDirty = true
        if key.slot == .availability { plug.saidAt = nil }
        plug.contents[key.slot.rawValue] = content
        plugs[key.plug] = plug
        return isNew
    }

    /// Publishes empty messages for the plug, which removes it from the broker, and then forgets it.
    mutating func clear(_ plug: PlugID) {
        guard plugs[plug]?.isGoing == false else { return }
        for slot in Slot.allCases { _ = want("", Key(plug: plug, slot: slot)) }
        plugs[plug]?.isGoing = true
    }

    /// Publishes all messages again after a reconnect, because the broker may have lost its retained messages.
    mutating func forgetPublished() {
        due = []
        for id in plugs.keys {
            plugs[id]?.saidAt = nil
            for slot in Slot.allCases {
                plugs[id]?.contents[slot.rawValue]?.isDirty = false
                plugs[id]?.contents[slot.rawValue]?.isInFlight = false
            }
        }
        repeatAll()
    }

    /// Publishes all messages again. A message in flight is sent a second time.
    mutating func repeatAll() {
        for id in plugs.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            for slot in Slot.allCases {
                guard let content = plugs[id]?.contents[slot.rawValue] else { continue }
                if !content.isDirty, !content.isInFlight { due.append(Key(plug: id, slot: slot)) }
                plugs[id]?.contents[slot.rawValue]?.isDirty = true
            }
        }
    }

    mutating func takeDue() -> (key: Key, text: String)? {
        while let key = due.popFirst() {
            guard var content = plugs[key.plug]?.contents[key.slot.rawValue], content.isDirty, !content.isInFlight
            else {
                continue
            }
            content.isDirty = false
            content.isInFlight = true
            plugs[key.plug]?.contents[key.slot.rawValue] = content
            return (key, content.wanted)
        }
        return nil
    }

    /// Records that the broker acknowledged a message.
    ///
    /// - Returns: true if the plug was removed from the broker and from this table.
    mutating func taken(_ key: Key, now: Instant) -> Bool {
        guard var plug = plugs[key.plug], var content = plug.contents[key.slot.rawValue] else { return false }
        content.isInFlight = false
        if content.isDirty {
            due.append(key)
        } else if key.slot == .availability {
            plug.saidAt = plug.saidAt ?? now
        }
        plug.contents[key.slot.rawValue] = content
        plugs[key.plug] = plug
        guard plug.isGoing, plug.contents.allSatisfy({ $0.map { !$0.isDirty && !$0.isInFlight } ?? true }) else {
            return false
        }
        plugs[key.plug] = nil
        return true
    }

    mutating func notTaken(_ key: Key) {
        guard var content = plugs[key.plug]?.contents[key.slot.rawValue] else { return }
        content.isInFlight = false
        content.isDirty = true
        plugs[key.plug]?.contents[key.slot.rawValue] = content
        due.append(key)
    }
}
