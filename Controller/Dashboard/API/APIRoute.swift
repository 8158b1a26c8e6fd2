import HTTPTypes
import Hummingbird

/// One method of one path.
struct APIRoute: Sendable {
    let method: HTTPRequest.Method
    /// With `{plug}` for what is different in each request.
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
        houseRoutes + commandRoutes + powerRoutes + energyRoutes + eventRoutes + ruleRoutes + pairingRoutes
        + streamRoutes + fleetRoutes + serviceRoutes

    /// All of the API but the session.
    func addAPI(to router: Router<DashboardContext>) {
        for route in Self.routes {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                if let refused = AccessTable.refusal(of: route.method, route.path, for: context.pass) { throw refused }
                return try await route.handle(self, request, context)
            }
        }
    }
}
