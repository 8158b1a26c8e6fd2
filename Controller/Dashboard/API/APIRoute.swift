import HTTPTypes
import Hummingbird

/// A route: one method of one path.
struct APIRoute: Sendable {
    let method: HTTPRequest.Method
    /// The path, with a placeholder such as `{plug}` or `{rule}` for each part that differs per request.
    let path: String
    let handle: @Sendable (Dashboard, Request, DashboardContext) async throws -> Response

    init(
        _ method: HTTPRequest.Method, _ path: String,
        _ handle: @escaping @Sendable (Dashboard, Request, DashboardContext) async throws -> Response
    ) {
        self.method = method
        self.path = path
        self.handle = handle
    }
}

extension Dashboard {
    static let routes: [APIRoute] =
        houseRoutes + commandRoutes + powerRoutes + energyRoutes + tariffRoutes + budgetRoutes + eventRoutes
        + ruleRoutes + ruleFileRoutes + settingsRoutes + updateRoutes + roomRoutes + orderRoutes + pairingRoutes
        + machineRoutes + streamRoutes + fleetRoutes + pushRoutes + serviceRoutes

    /// Adds all routes of the API except those of the session.
    func addAPI(to router: Router<DashboardContext>) {
        for route in Self.routes {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                if let refused = AccessTable.refusal(of: route.method, route.path, for: context.pass) { throw refused }
                return try await route.handle(self, request, context)
            }
        }
    }
}
