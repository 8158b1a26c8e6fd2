public import PlugModel

/// The topics of one house at a broker: `PREFIX/HOUSE/PLUG/...`, in which PLUG is the plug's id. Names of plugs appear
/// only in payloads, since they may contain `/`, `+` and `#`.
public struct TopicTree: Hashable, Sendable {
    /// The retained messages of a plug.
    public enum Retained: String, Sendable, CaseIterable {
        case about, availability, state
        /// The system of a plug whose system can be updated.
        case system
    }

    /// The requests to a plug.
    public enum Request: String, Sendable, CaseIterable {
        /// A command.
        case set
        /// A request for missed events.
        case replay
    }

    /// The limit of a prefix in bytes, with room for several levels.
    private static let prefixLimit = 128
    /// The limit of a house's name in bytes.
    private static let houseLimit = 64

    /// The first levels of all topics.
    public let prefix: String
    /// The level after the prefix.
    public let house: String
    private let root: String

    /// Creates the topics of a house.
    ///
    /// - Parameters:
    ///   - prefix: one or more levels, such as `smartplug` or `campus/smartplug`.
    ///   - house: one level.
    /// - Throws: an error message for the user.
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

    /// The topic of the retained availability of the program that represents the house. It is also the topic of the
    /// program's will.
    public var availability: String { root + "availability" }
    /// Returns the topic of a plug's events, one message per event, never retained.
    public func events(of plug: PlugID) -> String { root + plug.rawValue + "/event" }
    /// Returns the topic of a plug's retained messages of this kind.
    public func topic(_ kind: Retained, of plug: PlugID) -> String { root + plug.rawValue + "/" + kind.rawValue }
    /// Returns the topic of requests of this kind to a plug.
    public func topic(_ request: Request, of plug: PlugID) -> String { root + plug.rawValue + "/" + request.rawValue }
    /// The topic of a refresh. A message on it makes the house, or a plug with its own connection to the broker,
    /// publish all retained messages again.
    public var refresh: String { root + "refresh" }
    /// The topic filters of requests to any plug of the house, and the topic of a refresh.
    public var requests: [String] { Request.allCases.map { root + "+/" + $0.rawValue } + [refresh] }
    /// The topics of requests to one plug of the house, and the topic of a refresh.
    public func requests(to plug: PlugID) -> [String] { Request.allCases.map { topic($0, of: plug) } + [refresh] }

    /// The prefix of all response topics. A request with a different response topic is rejected: otherwise a client
    /// that may only send commands could publish as the house.
    public var answers: String { prefix + "/answers/" }

    /// Parses the topic of a request. Returns nil if it is not a request to a plug of this house.
    public func request(in topic: String) -> (plug: PlugID, request: Request)? {
        guard topic.hasPrefix(root) else { return nil }
        let levels = topic.dropFirst(root.count).split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 2, let plug = PlugID(rawValue: String(levels[0])),
            let request = Request(rawValue: String(levels[1]))
        else { return nil }
        return (plug, request)
    }

    /// Returns true if an answer may be published to this topic.
    public func isAnswer(_ topic: String) -> Bool {
        topic.utf8.count <= 256 && topic.hasPrefix(answers) && topic.count > answers.count
            && !topic.utf8.contains { $0 < 0x20 || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") }
    }

    private static func isPlain(_ text: String, also other: Character? = nil) -> Bool {
        text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") || $0 == other }
    }
}

/// The reason why a prefix, a house or a request is not valid.
public struct TopicError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason as text for the user.
    public let description: String

    init(_ description: String) { self.description = description }
}
