public import PlugModel

/// The state of a plug's Wi-Fi, as shown by `plugctl wifi`.
public struct WiFiRecord: Encodable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The plug's id.
    public var id: String
    /// off, searching, joined, trying, setup or unknown.
    public var phase: String
    /// The network in the phases joined and trying; omitted in the other phases.
    public var network: String?
    /// The hardware address of the access point in the phase joined; omitted in the other phases.
    public var accessPoint: String?
    /// The strength of the signal in dBm; omitted if it is not known.
    public var signal: Int?
    /// The frequency in MHz; omitted if it is not known.
    public var megahertz: Int?
    /// The stored networks, in the order of their priority.
    public var networks: [String]
    /// The country of the radio; omitted if it is not known.
    public var country: String?
    /// The last network that an owner wanted, if the plug could not join it; otherwise omitted.
    public var failedNetwork: String?
    /// wrong-password, not-found, rejected, no-answer or not-stored; omitted without ``failedNetwork``.
    public var reason: String?

    /// Creates the record of a plug's report.
    public init(_ report: WiFiReport, plug: String, id: PlugID) {
        (self.plug, self.id) = (plug, id.rawValue)
        networks = report.networks.map(\.description)
        country = report.country?.rawValue
        failedNetwork = report.failure?.name.description
        reason = report.failure?.reason.rawValue
        switch report.phase {
        case .off: phase = "off"
        case .searching: phase = "searching"
        case .joined(let link):
            phase = "joined"
            (network, accessPoint) = (link.name.description, link.accessPoint)
            (signal, megahertz) = (link.signal, link.megahertz)
        case .trying(let name): (phase, network) = ("trying", name.description)
        case .setup: phase = "setup"
        case .unknown: phase = "unknown"
        }
    }

    /// Text for the user.
    public var lines: [String] {
        let state =
            switch phase {
            case "off": "the program that drives the radio (wpa_supplicant) does not answer"
            case "searching": networks.isEmpty ? "joins no network" : "no known network is within reach"
            case "joined":
                "joined \(network ?? "")" + (signal.map { ", signal \($0) dBm" } ?? "")
                    + (megahertz.map { ", \($0) MHz" } ?? "") + (accessPoint.map { ", access point \($0)" } ?? "")
            case "trying": "trying \(network ?? "")"
            case "setup": "its own network is open for the setup"
            default: "unknown state; a newer plugctl may know it"
            }
        var lines = ["\(plug): \(state)"]
        if !networks.isEmpty { lines.append("networks  \(networks.joined(separator: ", "))") }
        if let country { lines.append("country   \(country)") }
        if let failedNetwork, let reason { lines.append("cannot join \(failedNetwork): \(Self.text(reason))") }
        return lines
    }

    private static func text(_ reason: String) -> String {
        switch WiFiReport.Reason(rawValue: reason) {
        case .wrongPassword: "the network has a different password"
        case .notFound: "no access point with this name is within reach"
        case .rejected: "the access point rejected the plug; check the password"
        case .noAnswer: "the access point did not answer in time; check the password, or move the plug closer"
        case .notStored, nil: "the plug's flash could not be written"
        }
    }
}
