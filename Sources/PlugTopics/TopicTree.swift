public import PlugModel

/// The topics of one house at a broker: `PREFIX/HOUSE/PLUG/...`, where a plug is its id. Names of plugs stand in messages only, since a
/// person may write `/`, `+` and `#` in them.
public struct TopicTree: Hashable, Sendable {
    /// What is retained of a plug.
    public enum Retained: String, Sendable, CaseIterable {
        case about, availability, state
    }

    /// What others ask of a plug.
    public enum Request: String, Sendable, CaseIterable {
        /// A command.
        case set
        /// Events that somebody missed.
        case replay
    }

    /// Bytes of a prefix: room for some levels.
    private static let prefixLimit = 128
    /// Bytes of a house's name.
    private static let houseLimit = 64

    public let prefix: String
    public let house: String
    private let root: String

    /// - Parameters:
    ///   - prefix: one level or more, such as `smartplug` or `campus/smartplug`.
    ///   - house: one level.
    /// - Throws: a sentence for a person.
    public init(prefix: String, house: String) throws(TopicError) {
        guard (1...Self.prefixLimit).contains(prefix.utf8.count), Self.isPlain(prefix, also: "/"),
            !prefix.split(separator: "/", omittingEmptySubsequences: false).contains("")
        else {
            throw TopicError(
                "a prefix has 1 to \(Self.prefixLimit) letters, digits, - and _, with / between its levels")
        }
        guard (1...Self.houseLimit).contains(house.utf8.count), Self.isPlain(house) else {
            throw TopicError("a house has 1 to \(Self.houseLimit) letters, digits, - and _")
        }
        self.prefix = prefix
        self.house = house
        root = "\(prefix)/\(house)/"
    }

    /// Whether the program that speaks for the house is connected: retained, and its will.
    public var availability: String { root + "availability" }
    /// One message for each event of a plug; never retained.
    public func events(of plug: PlugID) -> String { root + plug.rawValue + "/event" }
    public func topic(_ kind: Retained, of plug: PlugID) -> String { root + plug.rawValue + "/" + kind.rawValue }
    public func topic(_ request: Request, of plug: PlugID) -> String { root + plug.rawValue + "/" + request.rawValue }
    /// A message there makes the house publish again all that is retained.
    public var refresh: String { root + "refresh" }
    /// The filters of all requests to the house and its plugs.
    public var requests: [String] { Request.allCases.map { root + "+/" + $0.rawValue } + [refresh] }
    /// The topics of requests to one plug of the house.
    public func requests(to plug: PlugID) -> [String] { Request.allCases.map { topic($0, of: plug) } + [refresh] }

    /// Answers go nowhere else: otherwise somebody who may only command would publish in the name of the house.
    public var answers: String { prefix + "/answers/" }

    /// Nil for a topic that is not a request to a plug of this house.
    public func request(in topic: String) -> (plug: PlugID, request: Request)? {
        guard topic.hasPrefix(root) else { return nil }
        let levels = topic.dropFirst(root.count).split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 2, let plug = PlugID(rawValue: String(levels[0])),
            let request = Request(rawValue: String(levels[1]))
        else { return nil }
        return (plug, request)
    }

    /// Whether an answer may be published there.
    public func isAnswer(_ topic: String) -> Bool {
        topic.utf8.count <= 256 && topic.hasPrefix(answers) && topic.count > answers.count
            && !topic.utf8.contains { $0 < 0x20 || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }
    }

    private static func isPlain(_ text: String, also other: Character? = nil) -> Bool {
        text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") || $0 == other }
    }
}

/// Why a prefix or a house cannot stand in topics.
public struct TopicError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
