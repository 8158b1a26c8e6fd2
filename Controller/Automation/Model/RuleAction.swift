public import PlugModel

/// What a rule does. What depends on the present state becomes an absolute command in the moment of the action.
public enum RuleAction: Hashable, Sendable {
    /// - Parameter autoOff: the plug turns itself off after so long, whatever becomes of the controller.
    case turnOn([String], autoOff: Duration? = nil)
    case turnOff([String])
    case toggle([String])
    case dim([String], to: DimLevel, over: Duration)
    /// Brighter or darker by so many thousandths.
    case dimBy([String], permille: Int, over: Duration)
    /// As it was before a rule changed it last. Where somebody else has switched it since, it stays as it is.
    case restore([String])
    case wait(Duration)
    /// Until the condition holds, but not longer than this.
    case waitUntil(Condition, timeout: Duration, Timeout)
    /// Words for a person. `{rule}`, `{plug}`, `{value}`, `{why}` and `{time}` in them are filled in.
    case notify(title: String?, text: String)
    /// A program with its arguments as they are written, which gets the event as JSON on its standard input and is killed after the timeout.
    case run([String], timeout: Duration)
    case webHook(WebHook)
    /// A function of a script, which answers later with what is to be done.
    case call(ScriptHandler)

    /// What becomes of the actions that follow where the time is over.
    public enum Timeout: Hashable, Sendable {
        case goOn, stop
    }

    public var plugs: [String] {
        switch self {
        case .turnOn(let plugs, _), .turnOff(let plugs), .toggle(let plugs), .dim(let plugs, _, _),
            .dimBy(let plugs, _, _), .restore(let plugs):
            plugs
        case .wait, .waitUntil, .notify, .run, .webHook, .call: []
        }
    }
}

/// A request to a web server; without a body of its own it carries the event as JSON.
public struct WebHook: Hashable, Sendable {
    public var url: String
    /// POST, PUT or GET.
    public var method: String
    /// With the same placeholders as a notification; of one that begins with `{` or `[` they are escaped as texts in JSON are.
    public var body: String?

    public init(url: String, method: String = "POST", body: String? = nil) {
        self.url = url
        self.method = method
        self.body = body
    }
}

extension WebHook {
    /// Which server is asked: `POST https://host/…`. What follows the host is left out, since a path or a query often is the secret that
    /// lets somebody in, and words go to logs, pages and the history.
    public var words: String { "\(method) \(Self.origin(of: url) ?? "…")" }

    /// Scheme and host of an address, without user, password and whatever follows: `https://host:8443/…`, or `https://host` where
    /// nothing follows. Nil of what begins with no scheme and host.
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
