import PlugModel

/// The next key that a plug announces on a connection, and whether the plug was told that the controller stored it.
///
/// A plug announces a key once per connection. The messages of a plug that sends more cost neither writes nor answers: an identical key is
/// ignored, one key is stored at a time, and a connection has a limit of keys.
struct AnnouncedKey {
    enum Step: Hashable {
        case ignore
        /// The key is in the list of paired plugs: confirm it.
        case confirm
        case store
    }

    /// Keys per connection. A plug has one next key; it draws a new one after a fault of its storage.
    static let limit = 8

    /// The next key that the list of paired plugs had when the plug was dialled.
    private var stored: PublicKey?
    private var last: PublicKey?
    private var count = 0
    private(set) var isStoring = false
    /// The newest key that came while another one was being stored.
    private var waiting: PublicKey?

    mutating func dialling(stored: PublicKey?) { self.stored = stored }

    /// Whether the key was the announced one when the plug was dialled.
    func isStored(_ key: PublicKey) -> Bool { stored == key }

    /// A new connection.
    mutating func opened() { (last, count, waiting) = (nil, 0, nil) }

    mutating func announced(_ key: PublicKey) -> Step {
        guard key != last, count < Self.limit else { return .ignore }
        last = key
        count += 1
        if isStoring {
            waiting = key
            return .ignore
        }
        if key == stored { return .confirm }
        isStoring = true
        return .store
    }

    /// Ends the storing that ``announced(_:)`` or this function asked for.
    ///
    /// - Returns: whether to confirm the key, and the key to store next.
    mutating func finished(_ key: PublicKey, isStored: Bool) -> (confirms: Bool, next: PublicKey?) {
        if isStored { stored = key }
        let next = waiting.flatMap { $0 == key ? nil : $0 }
        waiting = nil
        isStoring = next != nil
        return (isStored && last == key, next)
    }
}
