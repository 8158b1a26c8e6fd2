public import PlugModel

/// A plug's Matter status, as shown by `plugctl matter`.
public struct MatterRecord: Encodable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The plug's id.
    public var id: String
    /// The text of the QR code.
    public var setupPayload: String
    /// The manual pairing code, 11 digits.
    public var manualCode: String
    /// The remaining time of the commissioning window in seconds; omitted while it is closed.
    public var windowSeconds: Int64?
    /// True if a controller opened the window with its own code. The codes of this record are then not accepted.
    public var enhanced: Bool
    /// The fabrics.
    public var fabrics: [MatterFabricRecord]

    /// Creates the record of a plug's report.
    public init(_ report: MatterReport, plug: String, id: PlugID) {
        (self.plug, self.id) = (plug, id.rawValue)
        (setupPayload, manualCode) = (report.setupPayload, report.manualCode)
        windowSeconds = report.windowOpenFor?.components.seconds
        enhanced = report.isEnhanced
        fabrics = report.fabrics.map(MatterFabricRecord.init)
    }

    /// True if a controller can use the codes of this record now.
    public var acceptsCodes: Bool { windowSeconds != nil && !enhanced }

    /// Text for the user: the codes and the window, and the fabrics.
    public var lines: [String] { [code, window] + fabricLines }

    /// Text for the user: one line per fabric.
    public var fabricLines: [String] {
        fabrics.isEmpty ? ["\(plug) has no Matter fabrics"] : fabrics.map(\.line)
    }

    private var code: String { "code    \(manualCode) (in a Matter application, add a device, and scan or type it)" }

    private var window: String {
        guard let windowSeconds else { return "window  closed (plugctl matter \"\(plug)\" --open-window opens it)" }
        let own = enhanced ? ", with a code of the controller that opened it" : ""
        return "window  open for \(windowSeconds) s\(own)"
    }
}

/// A Matter fabric of a plug: the controllers of one administrator.
public struct MatterFabricRecord: Codable, Hashable, Sendable {
    /// The index at the plug, 1 to 254.
    public var index: UInt8
    /// The fabric's id, 16 hexadecimal digits.
    public var fabricID: String
    /// The plug's node id in the fabric, 16 hexadecimal digits.
    public var nodeID: String
    /// The vendor id of the administrator.
    public var vendor: UInt16
    /// The label that the administrator chose; it can be empty.
    public var label: String
    /// The number of open sessions.
    public var sessions: Int

    /// Creates the record of a fabric.
    public init(_ fabric: MatterReport.Fabric) {
        index = fabric.index
        (fabricID, nodeID) = (Self.digits(fabric.fabricID, 16), Self.digits(fabric.nodeID, 16))
        (vendor, label, sessions) = (fabric.vendor, fabric.label, fabric.sessions)
    }

    /// Text for the user: `fabric 1  "Home"  node 000000000001B669 in 000000000000FAB1, vendor 0xFFF1, 2 sessions`.
    public var line: String {
        let count = sessions == 1 ? "1 session" : "\(sessions) sessions"
        return "fabric \(index)  \"\(label)\"  node \(nodeID) in \(fabricID), vendor 0x"
            + Self.digits(UInt64(vendor), 4) + ", \(count)"
    }

    private static func digits(_ number: UInt64, _ count: Int) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
