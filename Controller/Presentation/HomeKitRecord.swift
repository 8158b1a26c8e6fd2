public import PlugModel

/// A plug's HomeKit status, as shown by `plugctl homekit`.
public struct HomeKitRecord: Encodable, Sendable {
    /// A HomeKit controller that is paired with the plug.
    public struct Controller: Encodable, Sendable {
        /// The pairing identifier.
        public var id: String
        /// True for an administrator.
        public var admin: Bool
        /// The number of open sessions.
        public var sessions: Int
    }

    /// The plug's name.
    public var plug: String
    /// The plug's id.
    public var id: String
    /// The setup code.
    public var setupCode: String
    /// The text of its QR code.
    public var setupPayload: String
    /// The accessory's device id.
    public var deviceID: String
    /// The paired controllers.
    public var controllers: [Controller]

    /// Creates the record of a plug's report.
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
                "\(plug) has no HomeKit controllers",
                "code  \(setupCode) (in Apple's Home app, choose Add Accessory, and scan or type it)",
            ]
        }
        return controllers.map { controller in
            let count = controller.sessions == 1 ? "1 session" : "\(controller.sessions) sessions"
            return "\(controller.id)  \(controller.admin ? "administrator" : "user")  \(count)"
        }
    }
}
