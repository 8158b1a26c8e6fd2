import HTTPTypes
import PlugModel

/// The roles that may use each route: one row per route of the API's document. A route without a row is rejected for
/// every role.
enum AccessTable {
    struct Row {
        let method: HTTPRequest.Method
        /// The path as in the OpenAPI document.
        let path: String
        /// The roles that may use the route; nil for a route that needs no login.
        let roles: Set<Role>?
        /// The action in the message "a viewer may not ...".
        let deed: String

        init(_ method: HTTPRequest.Method, _ path: String, _ roles: Set<Role>?, _ deed: String) {
            self.method = method
            self.path = path
            self.roles = roles
            self.deed = deed
        }
    }

    private static let anybody: Set<Role>? = nil
    private static let all: Set<Role> = [.owner, .user, .guest, .viewer]
    private static let users: Set<Role> = [.owner, .user, .guest]
    private static let owners: Set<Role> = [.owner]

    static let rows = [
        Row(.get, "/health", anybody, "see whether the daemon runs"),
        Row(.get, "/api/v1/session", anybody, "see their own session"),
        Row(.post, "/api/v1/session", anybody, "log in"),
        Row(.delete, "/api/v1/session", anybody, "log out"),
        Row(.get, "/api/v1/house", all, "see the house"),
        Row(.get, "/api/v1/plugs", all, "see the plugs"),
        Row(.get, "/api/v1/plugs/{plug}", all, "see a plug"),
        Row(.get, "/api/v1/plugs/{plug}/power", all, "see a plug's power"),
        Row(.get, "/api/v1/plugs/{plug}/settings", all, "see a plug's settings"),
        Row(.get, "/api/v1/energy", all, "see energy"),
        Row(.get, "/api/v1/energy/base", all, "see energy"),
        Row(.get, "/api/v1/tariff", all, "see the price of energy"),
        Row(.get, "/api/v1/budget", all, "see the budget"),
        Row(.get, "/api/v1/events", all, "see events"),
        Row(.get, "/api/v1/firings", all, "see what rules did"),
        Row(.get, "/api/v1/stream", all, "follow the house"),
        Row(.get, "/api/v1/rules", all, "see rules"),
        Row(.get, "/api/v1/rules/faults", all, "see rules"),
        Row(.get, "/api/v1/rules/{rule}/traces", all, "see why rules did something"),
        Row(.get, "/api/v1/machines", all, "see the machines"),
        Row(.get, "/api/v1/fleet", all, "see other houses"),
        Row(.get, "/api/v1/fleet/plugs", all, "see plugs of other houses"),
        Row(.get, "/api/v1/fleet/energy", all, "see energy of other houses"),
        Row(.post, "/api/v1/fleet/houses/{house}/plugs/{plug}/relay", users, "turn plugs of other houses on or off"),
        Row(.get, "/api/v1/push", all, "see their subscriptions"),
        Row(.post, "/api/v1/push/subscriptions", all, "receive notifications"),
        Row(.delete, "/api/v1/push/subscriptions/{subscription}", all, "end subscriptions"),
        Row(.get, "/api/v1/openapi.json", all, "see the API's description"),
        Row(.get, "/metrics", all, "see metrics"),
        Row(.get, "/ready", all, "see whether the daemon is ready"),
        Row(.post, "/api/v1/plugs/{plug}/relay", users, "turn plugs on or off"),
        Row(.post, "/api/v1/plugs/{plug}/level", users, "dim plugs"),
        Row(.post, "/api/v1/plugs/{plug}/identify", users, "make a plug blink"),
        Row(.post, "/api/v1/plugs/{plug}/protection/reset", users, "reset a plug's protection"),
        Row(.post, "/api/v1/machines/{machine}/wake", users, "wake machines"),
        Row(.post, "/api/v1/plugs/{plug}/name", owners, "rename plugs"),
        Row(.post, "/api/v1/plugs/{plug}/settings", owners, "change settings of plugs"),
        Row(.delete, "/api/v1/plugs/{plug}/settings", owners, "change settings of plugs"),
        Row(.get, "/api/v1/plugs/{plug}/update", owners, "see a plug's system"),
        Row(.post, "/api/v1/plugs/{plug}/update", owners, "update plugs"),
        Row(.delete, "/api/v1/plugs/{plug}/update", owners, "update plugs"),
        Row(.post, "/api/v1/plugs/{plug}/room", owners, "move plugs to rooms"),
        Row(.delete, "/api/v1/plugs/{plug}/room", owners, "move plugs to rooms"),
        Row(.post, "/api/v1/order", owners, "arrange plugs"),
        Row(.delete, "/api/v1/order", owners, "arrange plugs"),
        Row(.post, "/api/v1/plugs/{plug}/invitations", owners, "invite controllers"),
        Row(.post, "/api/v1/plugs/{plug}/unpair", owners, "unpair plugs"),
        Row(.post, "/api/v1/rules/{rule}/enabled", owners, "turn rules on or off"),
        Row(.post, "/api/v1/rules/{rule}/fire", owners, "run rules"),
        Row(.get, "/api/v1/rule-files", owners, "see rule files"),
        Row(.post, "/api/v1/rule-files", owners, "create rule files"),
        Row(.get, "/api/v1/rule-files/{file}", owners, "see rule files"),
        Row(.post, "/api/v1/rule-files/{file}", owners, "change rule files"),
        Row(.delete, "/api/v1/rule-files/{file}", owners, "remove rule files"),
        Row(.get, "/api/v1/rule-files/{file}/log", owners, "see the logs of scripts"),
        Row(.post, "/api/v1/rule-checks", owners, "check rules"),
        Row(.post, "/api/v1/rule-backtests", owners, "backtest rules"),
        Row(.post, "/api/v1/tariff", owners, "change the price of energy"),
        Row(.delete, "/api/v1/tariff", owners, "change the price of energy"),
        Row(.post, "/api/v1/budget", owners, "change the budget"),
        Row(.delete, "/api/v1/budget", owners, "change the budget"),
        Row(.post, "/api/v1/pairings", owners, "pair plugs"),
        Row(.get, "/api/v1/sessions", owners, "see who is logged in"),
        Row(.delete, "/api/v1/sessions", owners, "end sessions"),
        Row(.delete, "/api/v1/sessions/{session}", owners, "end sessions"),
    ]

    /// The paths that need no login for any of their methods.
    static var openPaths: Set<String> {
        Set(rows.map(\.path)).subtracting(rows.filter { $0.roles != nil }.map(\.path))
    }

    private static let byRoute = Dictionary(
        rows.map { ("\($0.method.rawValue) \($0.path)", $0) }, uniquingKeysWith: { first, _ in first })

    /// Returns why a role may not use a route; nil if it may.
    ///
    /// - Parameters:
    ///   - path: the path of the route, with placeholders such as `{plug}`.
    ///   - pass: the authorization of the request; nil without one.
    static func refusal(of method: HTTPRequest.Method, _ path: String, for pass: Authorization?) -> Refused? {
        guard let row = byRoute["\(method.rawValue) \(path)"] else {
            return Refused(403, "this request is not allowed", hint: "/api/v1/openapi.json lists the allowed requests")
        }
        guard let roles = row.roles else { return nil }
        guard let role = pass?.role else { return Refused(401, "this request requires the dashboard's password") }
        guard !roles.contains(role) else { return nil }
        let least = roles == owners ? "owner" : "user"
        return Refused(
            403, "\(role.described) may not \(row.deed); an owner of the dashboard may allow it",
            hint: "an owner can create a password with the role \(least): plugctl daemon password")
    }
}
