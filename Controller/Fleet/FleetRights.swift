public import PlugModel

/// The houses that a user may see, and those in which the user may switch plugs.
public struct FleetRights: Hashable, Sendable {
    /// A set of houses: one by its name, or all whose names begin with the same text.
    public struct Houses: Hashable, Sendable {
        /// The limit of the text in bytes, which equals the limit of names.
        private static let limit = 100

        let text: String
        /// True if `text` is the beginning of the names, false if it is a whole name.
        let isBeginning: Bool

        /// Parses `elm-street-5`, `elm-*` or `*`; nil for an empty text, if `*` is not at the end, and if the text has
        /// more than 100 bytes without the `*`.
        public init?(_ written: String) {
            let isBeginning = written.hasSuffix("*")
            let text = isBeginning ? String(written.dropLast()) : written
            guard isBeginning || !text.isEmpty, !text.contains("*"), text.utf8.count <= Self.limit else { return nil }
            self.text = text
            self.isBeginning = isBeginning
        }

        func contains(_ house: String) -> Bool {
            // Bytes are compared, as in the database: two encodings of the same letter are different houses.
            isBeginning ? house.utf8.starts(with: text.utf8) : house.utf8.elementsEqual(text.utf8)
        }
    }

    /// The roles in a house, highest first.
    public static let order: [Role] = [.owner, .user, .viewer]
    private var houses: [Role: [Houses]] = [:]

    private var grants: [(role: Role, houses: Houses)] {
        Self.order.flatMap { role in (houses[role] ?? []).map { (role, $0) } }
    }

    /// Creates rights without any house.
    public init() {}

    /// True if no house is visible.
    public var isEmpty: Bool { houses.isEmpty }

    /// Grants a role in a set of houses.
    public mutating func add(_ role: Role, in some: Houses) { houses[role, default: []].append(some) }

    /// Returns the highest granted role, or nil without rights in the house.
    public func role(in house: String) -> Role? { grants.first { $0.houses.contains(house) }?.role }

    /// Returns true for the roles that may switch plugs: owner and user.
    public func maySwitch(in house: String) -> Bool {
        switch role(in: house) {
        case .owner, .user: true
        case .viewer, .guest, nil: false
        }
    }

    /// The visible houses for a query: exact names, and beginnings of names.
    var seen: (names: [String], beginnings: [String]) {
        let all = grants.map(\.houses)
        return (all.filter { !$0.isBeginning }.map(\.text), all.filter(\.isBeginning).map(\.text))
    }
}
