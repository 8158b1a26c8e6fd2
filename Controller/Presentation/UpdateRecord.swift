public import PlugModel
import PlugTopics

/// The state of an update of a plug's system, as shown by `plugctl update`.
public struct UpdateRecord: Encodable, Sendable {
    /// The plug's name.
    public var plug: String
    /// The plug's id.
    public var id: String
    /// idle, receiving, installing, installed, trying, returned, failed or unknown.
    public var phase: String
    /// The finished part of receiving or installing, from 0 to 100; omitted in the other phases.
    public var percent: Int?
    /// The board of the bundles that the plug accepts; omitted if the plug does not know it.
    public var board: String?
    /// The version of the running system; omitted if the plug does not know it.
    public var system: String?
    /// The version of the new system; omitted before it is known.
    public var newSystem: String?
    /// The version of the newest system at the given folder or server; omitted without one.
    public var available: String?
    /// Why the phase is returned or failed; omitted in the other phases.
    public var reason: String?
    /// True while a restart waits until the relay is off.
    public var restartsWhenOff: Bool
    /// True while the daemon carries out an update of the plug, or has it in its queue; omitted by `plugctl update`.
    public var updating: Bool?
    /// Why the daemon did not carry out its last update of the plug; omitted if it did.
    public var fault: String?

    /// Creates the record of a plug's report.
    ///
    /// - Parameter available: The version of the newest system, or nil if it was not requested.
    public init(_ report: UpdateReport, available: String? = nil, plug: String, id: PlugID) {
        (self.plug, self.id, self.available) = (plug, id.rawValue, available)
        board = report.board.isEmpty ? nil : report.board
        system = report.system.isEmpty ? nil : report.system
        newSystem = report.newSystem.isEmpty ? nil : report.newSystem
        restartsWhenOff = report.restartsWhenOff
        (phase, percent, reason) = report.phase.words
    }

    /// Text for the user, one line.
    public var text: String {
        let new = newSystem.map { " \($0)" } ?? ""
        let words =
            switch phase {
            case "idle": "runs the system \(system ?? "of an unknown version")" + news
            case "receiving": "receiving, \(percent ?? 0) %"
            case "installing": "installing\(new), \(percent ?? 0) %"
            case "installed":
                "the new system\(new) is installed and starts "
                    + (restartsWhenOff ? "when the plug is off" : "with the next restart")
            case "trying": "the new system\(new) runs and is being checked"
            case "returned": "the new system\(new) did not work: \(reason ?? ""); the previous system runs again"
            case "failed": "the update failed: \(reason ?? "")"
            default: "its system has not reported its state yet"
            }
        return "\(plug): \(words)"
    }

    private var news: String {
        available.map { $0 == system ? ", the newest" : "; \($0) is available" } ?? ""
    }
}
