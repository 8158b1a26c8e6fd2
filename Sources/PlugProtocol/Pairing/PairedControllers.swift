public import PlugModel

/// The controllers that are paired with a plug, at most ``limit``, each with a distinct key.
public struct PairedControllers: Hashable, Sendable {
    /// A paired controller.
    public struct Controller: Hashable, Sendable {
        /// The current key.
        public var key: PublicKey
        /// The announced next key, or nil if none is announced. Until the first session with this key, the plug accepts
        /// both keys.
        public var nextKey: PublicKey?
        /// The id of the controller in the request ledger. It stays the same when the key changes.
        public var authority: AuthorityID
        /// The plug's next key that the controller has stored, as the first 16 bytes of the key's hash. Nil if it has
        /// stored none.
        public var knownNext: AuthorityID?
        /// The name of the controller, at most 63 bytes, unique per plug.
        public var name: String
        /// The access rights of the controller.
        public var role: Role
        /// The time in seconds that remains after the current part of a limited time, or nil for no limit. Only the
        /// time while the plug has power counts. `AccessExpiry` explains the parts.
        public var secondsLeft: UInt32?

        /// Creates an entry. Without `authority` the entry's authority is derived from the key.
        public init(
            key: PublicKey, nextKey: PublicKey? = nil, authority: AuthorityID? = nil, name: String, role: Role = .owner,
            secondsLeft: UInt32? = nil
        ) {
            self.key = key
            self.nextKey = nextKey
            self.authority = authority ?? AuthorityID(key)
            self.name = name
            self.role = role
            self.secondsLeft = secondsLeft
        }

        func has(_ key: PublicKey) -> Bool { self.key == key || nextKey == key }
    }

    /// The maximum number of controllers. A longer list could not be reviewed by a user.
    public static let limit = 16

    /// The controllers in the order of their pairing.
    public private(set) var all: [Controller] = []

    /// Creates a list. Controllers beyond the limit are dropped. A repeated key updates the earlier entry, as in
    /// ``add(_:)``.
    public init(_ controllers: [Controller] = []) {
        for controller in controllers { _ = add(controller) }
    }

    /// The controller with this current or announced key, or nil.
    public subscript(key: PublicKey) -> Controller? { all.first { $0.has(key) } }

    /// The controller whose current key has this fingerprint, or nil.
    public subscript(fingerprint fingerprint: String) -> Controller? { all.first { $0.key.fingerprint == fingerprint } }

    /// All owners.
    public var owners: [Controller] { all.filter { $0.role == .owner } }

    /// Returns true if the controller is the only owner: without it, no controller could invite or remove controllers.
    public func isLastOwner(_ controller: Controller) -> Bool {
        controller.role == .owner && owners.count == 1
    }

    /// Adds a controller, or replaces the entry of a controller with the same key and keeps that entry's authority. An
    /// owner stays an owner. If the name is in use, a number is appended.
    ///
    /// - Returns: false if a new controller cannot be added, because the list is full or another controller has its
    ///   next key.
    public mutating func add(_ controller: Controller) -> Bool {
        var controller = controller
        controller.name = freeName(controller)
        if let index = all.firstIndex(where: { $0.has(controller.key) }) {
            if all[index].role == .owner {
                controller.role = .owner
                controller.secondsLeft = nil
            }
            controller.authority = all[index].authority
            controller.knownNext = nil
            all[index] = controller
            return true
        }
        guard all.count < Self.limit, controller.nextKey.map({ self[$0] == nil }) ?? true else { return false }
        // If another controller has used the key earlier, that controller has the key's authority. The new controller
        // then gets a different authority.
        while all.contains(where: { $0.authority == controller.authority }) {
            controller.authority = controller.authority.following
        }
        all.append(controller)
        return true
    }

    /// Stores the announced next key of a controller. If `next` is the controller's current key, removes an earlier
    /// announcement. Returns false if another controller has that key or no controller has `key`.
    mutating func announce(_ next: PublicKey, of key: PublicKey) -> Bool {
        guard let index = all.firstIndex(where: { $0.has(key) }),
            !all.contains(where: { $0.key != all[index].key && $0.has(next) })
        else { return false }
        all[index].nextKey = next == all[index].key ? nil : next
        return true
    }

    /// Records that the controller with this key has stored the plug's next key.
    mutating func note(plugsNext next: PublicKey, of key: PublicKey) {
        guard let index = all.firstIndex(where: { $0.has(key) }) else { return }
        all[index].knownNext = AuthorityID(next)
    }

    /// The time for which the plug's next key waits for controllers that are not owners.
    public static let guestRotationTime = Duration.seconds(24 * 3600)

    /// Returns the controllers that delay the rotation of the plug's key, because they have not stored the next key.
    /// Owners delay it without a time limit. Other controllers delay it for ``guestRotationTime`` and must then pair
    /// again.
    ///
    /// - Parameter time: the time since this process announced the key.
    public func delaying(_ next: PublicKey, announcedFor time: Duration) -> [Controller] {
        all.filter { $0.knownNext != AuthorityID(next) && ($0.role == .owner || time < Self.guestRotationTime) }
    }

    /// Replaces a controller's current key by its announced key.
    ///
    /// - Returns: the previous key, or nil if `key` was not announced.
    mutating func turn(to key: PublicKey) -> PublicKey? {
        guard let index = all.firstIndex(where: { $0.nextKey == key }) else { return nil }
        defer { (all[index].key, all[index].nextKey) = (key, nil) }
        return all[index].key
    }

    /// Changes the role and time limit of the controller with this current key.
    public mutating func setRole(_ grant: Grant, of key: PublicKey) {
        guard let index = all.firstIndex(where: { $0.key == key }) else { return }
        all[index].role = grant.role
        all[index].secondsLeft = grant.seconds
    }

    mutating func setSecondsLeft(_ seconds: UInt32, of key: PublicKey) {
        guard let index = all.firstIndex(where: { $0.key == key }) else { return }
        all[index].secondsLeft = seconds
    }

    /// Removes a controller and returns it, or returns nil if no controller has this fingerprint.
    public mutating func remove(fingerprint: String) -> Controller? {
        guard let index = all.firstIndex(where: { $0.key.fingerprint == fingerprint }) else { return nil }
        return all.remove(at: index)
    }

    /// Returns a unique name without round brackets. Events identify controllers by name, and round brackets enclose
    /// the name that a controller states in Hello.
    private func freeName(_ controller: Controller) -> String {
        let base = String(controller.name.map { $0 == "(" ? "[" : $0 == ")" ? "]" : $0 })
        let taken = Set(all.filter { !$0.has(controller.key) }.map(\.name))
        guard taken.contains(base) else { return base }
        for number in 2... {
            let suffix = " \(number)"
            var name = base
            while name.utf8.count + suffix.utf8.count > PlugWire.maximumName { name.removeLast() }
            if !taken.contains(name + suffix) { return name + suffix }
        }
        preconditionFailure("fewer than \(Self.limit) names are taken")
    }
}
