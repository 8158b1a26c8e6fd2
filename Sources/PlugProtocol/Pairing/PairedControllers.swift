public import PlugModel

/// Who may command a plug: at most ``limit`` controllers, each by its key.
public struct PairedControllers: Hashable, Sendable {
    public struct Controller: Hashable, Sendable {
        public var key: PublicKey
        /// What a person calls it, at most 63 bytes.
        public var name: String

        public init(key: PublicKey, name: String) {
            self.key = key
            self.name = name
        }
    }

    /// Stops the list of those who may from growing beyond what anybody looks through.
    public static let limit = 16

    /// In the order in which they were paired.
    public private(set) var all: [Controller] = []

    /// Those beyond the limit, and a key that comes twice, are left out.
    public init(_ controllers: [Controller] = []) {
        for controller in controllers { _ = add(controller) }
    }

    public subscript(key: PublicKey) -> Controller? { all.first { $0.key == key } }

    /// False when there is no room. A controller that is there already gets its new name.
    public mutating func add(_ controller: Controller) -> Bool {
        if let index = all.firstIndex(where: { $0.key == controller.key }) {
            all[index].name = controller.name
            return true
        }
        guard all.count < Self.limit else { return false }
        all.append(controller)
        return true
    }

    /// The controller that was removed; nil if there was none of this fingerprint.
    public mutating func remove(fingerprint: String) -> Controller? {
        guard let index = all.firstIndex(where: { $0.key.fingerprint == fingerprint }) else { return nil }
        return all.remove(at: index)
    }
}
