import Foundation

/// Why the daemon gave no answer, or another than was asked for.
public enum DaemonFault: Error, Hashable, Sendable {
    /// No daemon listens there.
    case noDaemon(path: String)
    /// What is there is not this user's daemon, and is not spoken to.
    case distrusted(path: String, why: String)
    /// The daemon's own words, with the status of its answer.
    case fault(status: Int, error: String, hint: String?)
    /// It listens, and its answer did not come, or cannot be understood.
    case broken(String)

    /// Out of an answer with a status that is no success; what does not say why is told by its status.
    init(status: Int, body: [UInt8]) {
        struct Told: Decodable {
            var error: String
            var hint: String?
        }
        let told = try? JSONDecoder().decode(Told.self, from: Data(body))
        let error = told?.error ?? "the daemon answered with status \(status)"
        self = .fault(status: status, error: error, hint: told?.hint)
    }
}

extension DaemonFault: CustomStringConvertible {
    /// For a person, the hint in a line of its own.
    public var description: String {
        switch self {
        case .noDaemon(let path):
            "no daemon listens at \(path)\nhint: `plugctl daemon` starts one; `plugctl help daemon` says more"
        case .distrusted(let path, let why):
            """
            \(path) is not spoken to: \(why)
            hint: name the daemon's socket in SMARTPLUG_DAEMON, or leave that empty to do without
            """
        case .fault(_, let error, let hint): error + (hint.map { "\nhint: \($0)" } ?? "")
        case .broken(let reason): "the daemon gave no answer: \(reason)\nhint: --direct does without it"
        }
    }
}
