/// Selects plugs or houses. Empty or nil properties select all. ``plugs`` and ``condition`` do not apply to a list of
/// houses.
public struct FleetFilter: Hashable, Sendable {
    /// The state of the selected plugs: all, away, or with a tripped protection.
    public enum Condition: String, CaseIterable, Sendable {
        case all, away, tripped
    }

    /// The maximum number of houses, labels or names per request. It limits the work of the database.
    public static let listLimit = 64
    /// The limit of each text in bytes.
    public static let textLimit = 200

    /// Names of houses.
    public var houses: [String] = []
    /// The labels that a house must have.
    public var labels: [FleetLabel] = []
    /// For a list of plugs: a part of a plug's name, or its whole id. For a list of houses: a part of a house's name.
    /// Case is ignored.
    public var search: String?
    /// Names of plugs, ignoring case, or their ids.
    public var plugs: [String] = []
    /// The state of the selected plugs.
    public var condition = Condition.all

    /// Creates a filter. It is not checked; see ``fault``.
    public init(
        houses: [String] = [], labels: [FleetLabel] = [], search: String? = nil, plugs: [String] = [],
        condition: Condition = .all
    ) {
        self.houses = houses
        self.labels = labels
        self.search = search
        self.plugs = plugs
        self.condition = condition
    }

    /// The reason why the filter is not valid; nil if it is.
    public var fault: String? {
        for (words, texts) in [
            ("houses", houses), ("labels", labels.flatMap { [$0.key, $0.value] }), ("plugs", plugs),
            ("words to search for", search.map { [$0] } ?? []),
        ] {
            if texts.count > 2 * Self.listLimit || words != "labels" && texts.count > Self.listLimit {
                return "more than \(Self.listLimit) \(words)"
            }
            if texts.contains(where: { $0.utf8.count > Self.textLimit }) {
                return "one of the \(words) has more than \(Self.textLimit) bytes"
            }
            if texts.contains(where: { $0.utf8.contains(0) }) { return "one of the \(words) has a zero byte" }
        }
        return nil
    }
}

/// A label of a house: `city=Bonn`.
public struct FleetLabel: Hashable, Sendable {
    /// The part before the first `=`.
    public var key: String
    /// The part after the first `=`; may be empty.
    public var value: String

    /// Creates a label.
    public init(key: String, value: String) {
        self.key = key
        self.value = value
    }

    /// Parses `key=value`; nil without `=` or without a key.
    public init?(_ written: String) {
        guard let mark = written.firstIndex(of: "="), mark > written.startIndex else { return nil }
        self.init(key: String(written[..<mark]), value: String(written[written.index(after: mark)...]))
    }
}
