import MatterSessions

extension NodeState {
    /// The pairing hints (Matter 5.4.2.5.6): the manual, and the button that is held for 5 s.
    private static let buttonHint: UInt32 = 1 << 15 | 1 << 5
    private static let buttonSeconds = "5"
    /// The pairing hints of a plug without a button: another administrator, and the manual.
    private static let administratorHint: UInt32 = 1 << 2 | 1 << 5

    /// The DNS-SD services (Matter 4.3).
    var announcements: [MatterAnnouncement] {
        (window.announced.map { [commissionable($0)] } ?? []) + records.fabrics.map(operational)
    }

    /// The service of the open commissioning window (Matter 4.3.1).
    private func commissionable(_ opening: CommissioningWindow.Opening) -> MatterAnnouncement {
        let (vendor, deviceType) = (configuration.vendor, model.primaryDeviceType)
        let hasButton = configuration.features.hasButton
        let name = label
        return MatterAnnouncement(
            name: opening.name, type: "_matterc._udp",
            subtypes: [
                "_L\(opening.discriminator)", "_S\(opening.discriminator >> 8)", "_V\(vendor)", "_T\(deviceType)",
                "_CM",
            ],
            txt: [
                ("D", "\(opening.discriminator)"), ("CM", opening.isEnhanced ? "2" : "1"),
                ("VP", "\(vendor)+\(configuration.product)"), ("DT", "\(deviceType)"),
            ] + (name.isEmpty ? [] : [("DN", name)]) + [
                ("PH", "\(hasButton ? Self.buttonHint : Self.administratorHint)")
            ] + (hasButton ? [("PI", Self.buttonSeconds)] : []) + Self.sessionParameters)
    }

    /// The service of a fabric (Matter 4.3.2).
    private func operational(_ fabric: Fabric) -> MatterAnnouncement {
        let id = hexadecimal(fabric.credentials.compressedID)
        return MatterAnnouncement(
            name: "\(id)-\(hexadecimal(fabric.credentials.nodeID))", type: "_matter._tcp", subtypes: ["_I\(id)"],
            txt: Self.sessionParameters)
    }

    /// The intervals of this node in milliseconds (Matter 4.3.4), and that it has no TCP.
    private static var sessionParameters: [(String, String)] {
        let parameters = SessionParameters.standard
        func milliseconds(_ duration: Duration) -> String {
            "\(duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000)"
        }
        return [
            ("SII", milliseconds(parameters.idleInterval)), ("SAI", milliseconds(parameters.activeInterval)),
            ("SAT", milliseconds(parameters.activeThreshold)), ("T", "0"),
        ]
    }
}
