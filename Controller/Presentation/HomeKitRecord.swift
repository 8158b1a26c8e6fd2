public import PlugModel

/// A plug's HomeKit status, as shown by `plugctl homekit`.
public struct HomeKitRecord: Encodable, Sendable {
    public struct Controller: Encodable, Sendable {
        public var id: String
        public var admin: Bool
        public var sessions: Int
    }

    public var plug: String
    public var id: String
    public var setupCode: String
    public var setupPayload: String
    public var deviceID: String
    public var controllers: [Controller]

    public init(_ report: HomeKitReport, plug: String, id: PlugID) {
        (self.plug, self.id) = (plug, id.rawValue)
        (setupCode, setupPayload, deviceID) = (report.setupCode, report.setupPayload, report.deviceID)
        controllers = report.controllers.map {
            Controller(id: String(decoding: $0.identifier, as: UTF8.self), admin: $0.isAdmin, sessions: $0.sessions)
        }
    }

    /// Text for the user.
    public var lines: [String] {
        guard !controllers.isEmpty else {
            return [
                "nobody is paired with \(plug) by HomeKit",
                "code  \(setupCode): in Apple's Home application, Add Accessory, and scan or type it",
            ]
        }
        return controllers.map { controller in
            let count = controller.sessions == 1 ? "1 session" : "\(controller.sessions) sessions"
            return "\(controller.id)  \(controller.admin ? "administrator" : "user")  \(count)"
        }
    }
}
