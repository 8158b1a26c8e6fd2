public import PlugModel

/// An action of a rule. An action that depends on the plug's state becomes an absolute command when it runs.
public enum RuleAction: Hashable, Sendable {
    /// Turns the relays on.
    ///
    /// - Parameter autoOff: the time after which the plug turns itself off, even if the controller is down by then.
    case turnOn([String], autoOff: Duration? = nil)
    /// Turns the relays off.
    case turnOff([String])
    /// Inverts each relay's expected state, which is its state after all unanswered commands.
    case toggle([String])
    /// Sets the level, with a transition of the given length.
    case dim([String], to: DimLevel, over: Duration)
    /// Changes the level by thousandths of full brightness: positive for brighter, negative for darker.
    case dimBy([String], permille: Int, over: Duration)
    /// Restores the state before the last change by a rule. Does nothing if the relay was switched by other means after
    /// that change.
    case restore([String])
    /// Waits. Zero has no effect.
    case wait(Duration)
    /// Waits until the condition holds, for at most the timeout. After the timeout, ``Timeout`` decides about the
    /// remaining actions.
    case waitUntil(Condition, timeout: Duration, Timeout)
    /// A message for the user. The placeholders `{rule}`, `{plug}`, `{value}`, `{why}` and `{time}` are filled in.
    case notify(title: String?, text: String)
    /// A program and its literal arguments. It receives the event as JSON on its standard input and is killed after the
    /// timeout.
    case run([String], timeout: Duration)
    /// Sends a request to a web server.
    case webHook(WebHook)
    /// Wakes the machine with this name by magic packets.
    case wake(String)
    /// Calls a function of a script. The function answers later with the actions to run.
    case call(ScriptHandler)

    /// The handling of the remaining actions after a timeout.
    public enum Timeout: Hashable, Sendable {
        /// `goOn` runs the remaining actions. `stop` drops them.
        case goOn, stop
    }

    /// The plugs that the action commands, as the rule names them. Plugs of a ``waitUntil(_:timeout:_:)`` condition are
    /// not included.
    public var plugs: [String] {
        switch self {
        case .turnOn(let plugs, _), .turnOff(let plugs), .toggle(let plugs), .dim(let plugs, _, _),
            .dimBy(let plugs, _, _), .restore(let plugs):
            plugs
        case .wait, .waitUntil, .notify, .run, .webHook, .wake, .call: []
        }
    }
}

/// A request to a web server. A POST or PUT request without its own body sends the event as JSON. A GET request sends
/// no body.
public struct WebHook: Hashable, Sendable {
    /// The complete address, with path and query.
    public var url: String
    /// POST, PUT or GET.
    public var method: String
    /// The body, with the placeholders of a notification; nil for the event as JSON. If it begins with `[`, or with a
    /// `{` that does not open a placeholder, the values are escaped as JSON strings.
    public var body: String?

    /// Creates a request.
    public init(url: String, method: String = "POST", body: String? = nil) {
        self.url = url
        self.method = method
        self.body = body
    }
}

extension WebHook {
    /// The request in words: `POST https://host/…`. The path and the query are omitted because they often contain a
    /// secret, and the words are written to logs, pages and the history.
    public var words: String { "\(method) \(Self.origin(of: url) ?? "…")" }

    /// Returns the scheme, host and port of an address, without user and password: `https://host`. If more than a slash
    /// follows the host, the result ends with `/…`. Nil if the address does not begin with a scheme and a host.
    public static func origin(of url: String) -> String? {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url[colon...].hasPrefix("://") else { return nil }
        let rest = url[colon...].dropFirst(3)
        let end = rest.utf8.firstIndex { "/?#\\".utf8.contains($0) } ?? rest.endIndex
        let authority = rest[..<end]
        let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
        let host = at.map { authority[authority.utf8.index(after: $0)...] } ?? authority
        guard !host.isEmpty else { return nil }
        let hidesMore = rest[end...].utf8.count > 1
        return "\(url[..<colon])://\(host)" + (hidesMore ? "/…" : "")
    }
}
