public import PlugModel

/// Which houses somebody may see, and in which of them they may switch.
public struct FleetRights: Hashable, Sendable {
    /// Some houses: one by its name, or all whose names begin with the same text.
    public struct Houses: Hashable, Sendable {
        /// Bytes of what is written. No house has a longer name.
        private static let limit = 100

        let text: String
        /// `text` is the beginning of a name.
        let isBeginning: Bool

        /// - Parameter written: `elm-street-5`, `elm-*` or `*`. Nil for an empty text, and where `*` stands before the end.
        public init?(_ written: String) {
            let isBeginning = written.hasSuffix("*")
            let text = isBeginning ? String(written.dropLast()) : written
            guard isBeginning || !text.isEmpty, !text.contains("*"), text.utf8.count <= Self.limit else { return nil }
            self.text = text
            self.isBeginning = isBeginning
        }

        func contains(_ house: String) -> Bool {
            // By bytes, as the database compares: two spellings of a letter are two houses.
            isBeginning ? house.utf8.starts(with: text.utf8) : house.utf8.elementsEqual(text.utf8)
        }
    }

    /// The roles that somebody may have in a house, from the highest on.
    public static let order: [Role] = [.owner, .user, .viewer]
    private var houses: [Role: [Houses]] = [:]

    private var grants: [(role: Role, houses: Houses)] {
        Self.order.flatMap { role in (houses[role] ?? []).map { (role, $0) } }
    }

    /// None at all.
    public init() {}

    public var isEmpty: Bool { houses.isEmpty }

    public mutating func add(_ role: Role, in some: Houses) { houses[role, default: []].append(some) }

    /// The highest that was given; nil: none.
    public func role(in house: String) -> Role? { grants.first { $0.houses.contains(house) }?.role }

    public func maySwitch(in house: String) -> Bool {
        switch role(in: house) {
        case .owner, .user: true
        case .viewer, .guest, nil: false
        }
    }

    /// All houses that somebody may see, for a query: exact names, and beginnings of names.
    var seen: (names: [String], beginnings: [String]) {
        let all = grants.map(\.houses)
        return (all.filter { !$0.isBeginning }.map(\.text), all.filter(\.isBeginning).map(\.text))
    }
}
