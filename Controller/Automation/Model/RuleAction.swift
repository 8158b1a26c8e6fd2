public import PlugProtocol

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

    /// What becomes of the actions that follow where the time is over.
    public enum Timeout: Hashable, Sendable {
        case goOn, stop
    }

    public var plugs: [String] {
        switch self {
        case .turnOn(let plugs, _), .turnOff(let plugs), .toggle(let plugs), .dim(let plugs, _, _),
            .dimBy(let plugs, _, _), .restore(let plugs):
            plugs
        case .wait, .waitUntil, .notify, .run, .webHook: []
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
