public import PlugModel

/// Who may command a plug: at most ``limit`` controllers, each by its key.
public struct PairedControllers: Hashable, Sendable {
    public struct Controller: Hashable, Sendable {
        public var key: PublicKey
        /// The key that it will use from some moment on; until then either counts.
        public var nextKey: PublicKey?
        /// By which its requests are known, also under a later key.
        public var authority: AuthorityID
        /// Of the plug's next key, where the controller has stored it: the beginning of its hash.
        public var knownNext: AuthorityID?
        /// What a person calls it, at most 63 bytes. No two controllers of a plug have the same.
        public var name: String
        public var role: Role
        /// Seconds that it stays paired while the plug has power, once those that are under way are over
        /// (``PlugServer/Access``); nil: until it is removed.
        public var secondsLeft: UInt32?

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

    /// Stops the list of those who may from growing beyond what anybody looks through.
    public static let limit = 16

    /// In the order in which they were paired.
    public private(set) var all: [Controller] = []

    /// Those beyond the limit, and a key that comes twice, are left out.
    public init(_ controllers: [Controller] = []) {
        for controller in controllers { _ = add(controller) }
    }

    /// By the key that it has, or the one that it announced.
    public subscript(key: PublicKey) -> Controller? { all.first { $0.has(key) } }

    public subscript(fingerprint fingerprint: String) -> Controller? { all.first { $0.key.fingerprint == fingerprint } }

    public var owners: [Controller] { all.filter { $0.role == .owner } }

    /// Nobody else could let anybody in or remove anybody.
    public func isLastOwner(_ controller: Controller) -> Bool {
        controller.role == .owner && owners.count == 1
    }

    /// False when there is no room. A controller that is there already gets its new name, and its new role unless it is an owner.
    /// Where another has the name already, a number is put behind it.
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
        // Whoever has a key that another controller had once is not that one.
        while all.contains(where: { $0.authority == controller.authority }) {
            controller.authority = controller.authority.following
        }
        all.append(controller)
        return true
    }

    /// Notes that the controller of this key will use another one. Returns false if another controller has that key.
    mutating func announce(_ next: PublicKey, of key: PublicKey) -> Bool {
        guard let index = all.firstIndex(where: { $0.has(key) }),
            !all.contains(where: { $0.key != all[index].key && $0.has(next) })
        else { return false }
        all[index].nextKey = next == all[index].key ? nil : next
        return true
    }

    /// The controller of this key has stored the plug's next key.
    mutating func note(plugsNext next: PublicKey, of key: PublicKey) {
        guard let index = all.firstIndex(where: { $0.has(key) }) else { return }
        all[index].knownNext = AuthorityID(next)
    }

    /// How long the plug's next key waits for controllers that are not owners.
    public static let guestRotationTime = Duration.seconds(24 * 3600)

    /// The controllers for which the plug keeps its key: each owner that has not stored the next key, and each other controller that has
    /// not, for ``guestRotationTime`` after the announcement. Later a user or a viewer cannot delay the rotation, and has to pair again.
    ///
    /// - Parameter time: since this process announced the key.
    public func delaying(_ next: PublicKey, announcedFor time: Duration) -> [Controller] {
        all.filter { $0.knownNext != AuthorityID(next) && ($0.role == .owner || time < Self.guestRotationTime) }
    }

    /// It has begun to use the key that it announced.
    ///
    /// - Returns: the key of before; nil where this one was not announced.
    mutating func turn(to key: PublicKey) -> PublicKey? {
        guard let index = all.firstIndex(where: { $0.nextKey == key }) else { return nil }
        defer { (all[index].key, all[index].nextKey) = (key, nil) }
        return all[index].key
    }

    public mutating func setRole(_ grant: Grant, of key: PublicKey) {
        guard let index = all.firstIndex(where: { $0.key == key }) else { return }
        all[index].role = grant.role
        all[index].secondsLeft = grant.seconds
    }

    mutating func setSecondsLeft(_ seconds: UInt32, of key: PublicKey) {
        guard let index = all.firstIndex(where: { $0.key == key }) else { return }
        all[index].secondsLeft = seconds
    }

    /// The controller that was removed; nil if there was none of this fingerprint.
    public mutating func remove(fingerprint: String) -> Controller? {
        guard let index = all.firstIndex(where: { $0.key.fingerprint == fingerprint }) else { return nil }
        return all.remove(at: index)
    }

    /// Events tell who did something by this name. So no other controller may have it, and it has no round brackets: they surround
    /// the name that a controller calls itself in Hello.
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
