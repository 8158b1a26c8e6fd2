import PlugModel

extension WireManageHomeKit {
    init(_ order: HomeKitRequest) {
        self.init()
        switch order {
        case .ask: break
        case .remove(let identifier): remove = .init(identifier)
        case .removeAll: removeAll = true
        }
    }

    func model() throws(MessageFault) -> HomeKitRequest {
        guard !removeAll else { return .removeAll }
        guard !remove.isEmpty else { return .ask }
        return .remove(try WireScalar.homeKitIdentifier(remove, "remove"))
    }
}

extension WireHomeKitStatus {
    init(_ status: HomeKitReport) {
        self.init()
        setupCode = status.setupCode
        setupPayload = status.setupPayload
        deviceID = status.deviceID
        controllers = status.controllers.map { controller in
            var wire = WireHomeKitController()
            wire.identifier = .init(controller.identifier)
            wire.admin = controller.isAdmin
            wire.sessions = UInt32(clamping: controller.sessions)
            return wire
        }
    }

    func model() throws(MessageFault) -> HomeKitReport {
        guard controllers.count <= PlugWire.homeKitControllers else {
            throw .outOfRange(
                field: "controllers", value: Int64(controllers.count), allowed: 0...Int64(PlugWire.homeKitControllers))
        }
        var list: [HomeKitReport.Controller] = []
        for controller in controllers {
            list.append(
                HomeKitReport.Controller(
                    identifier: try WireScalar.homeKitIdentifier(controller.identifier, "identifier"),
                    isAdmin: controller.admin, sessions: Int(controller.sessions)))
        }
        return HomeKitReport(
            setupCode: try WireScalar.name(setupCode, "setup_code"),
            setupPayload: try WireScalar.name(setupPayload, "setup_payload"),
            deviceID: try WireScalar.name(deviceID, "device_id"), controllers: list)
    }
}

extension WireScalar {
    fileprivate static func homeKitIdentifier(
        _ bytes: some Collection<UInt8>, _ field: String
    ) throws(MessageFault) -> [UInt8] {
        guard (1...PlugWire.longestHomeKitIdentifier).contains(bytes.count) else {
            throw .length(field: field, bytes: bytes.count, allowed: 1...PlugWire.longestHomeKitIdentifier)
        }
        return Array(bytes)
    }
}
