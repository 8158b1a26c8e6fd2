import PlugModel

/// Handles the next key that a plug announces on a connection, and decides whether the controller confirms that it
/// stored the key.
///
/// A plug announces a key once per connection. A plug that sends more announcements causes few writes and answers: a
/// repeated key is ignored, one key is stored at a time, and the number of keys per connection is limited.
struct AnnouncedKey {
    /// The controller's reaction to an announced key.
    enum Step: Hashable {
        case ignore
        /// The key is already stored in the list of paired plugs, so the controller confirms it.
        case confirm
        /// The controller stores the key and then calls ``finished(_:isStored:)``.
        case store
    }

    /// The maximum number of keys per connection. A plug has one next key, and generates a new one only after a fault
    /// of its storage.
    static let limit = 8

    /// The plug's next key in the list of paired plugs: as read before the controller dialled the plug, or as stored
    /// since then on this connection.
    private var stored: PublicKey?
    /// The last key that the plug announced on this connection.
    private var last: PublicKey?
    private var count = 0
    private(set) var isStoring = false
    /// The newest key that arrived while another key was being stored.
    private var waiting: PublicKey?

    /// Sets the plug's next key as the list of paired plugs contains it. Called before the controller dials the plug.
    mutating func dialling(stored: PublicKey?) { self.stored = stored }

    /// Returns true if the list of paired plugs contains this key as the plug's next key.
    func isStored(_ key: PublicKey) -> Bool { stored == key }

    /// Resets the state of the previous connection.
    mutating func opened() { (last, count, waiting) = (nil, 0, nil) }

    /// Handles an announced key and returns the controller's reaction.
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

    /// Handles the end of a write, which ``announced(_:)`` or the previous call of this function requested.
    ///
    /// - Returns: `confirms` is true if the key is stored and is still the last announced one; the controller then
    ///   confirms it. `next` is the key to store next, or nil.
    mutating func finished(_ key: PublicKey, isStored: Bool) -> (confirms: Bool, next: PublicKey?) {
        if isStored { stored = key }
        let next = waiting.flatMap { $0 == key ? nil : $0 }
        waiting = nil
        isStoring = next != nil
        return (isStored && last == key, next)
    }
}
