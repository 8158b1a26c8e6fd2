import Foundation

/// The reason why a request to the daemon failed.
public enum DaemonFault: Error, Hashable, Sendable {
    /// No daemon listens at the path.
    case noDaemon(path: String)
    /// The file at the path is not a socket of this user's daemon, so no request is sent.
    case distrusted(path: String, why: String)
    /// The error that the daemon reported, with the status code of its response.
    case fault(status: Int, error: String, hint: String?)
    /// The daemon or its socket did not respond, or the response is incomplete, too long or invalid.
    case broken(String)

    /// Parses the body of an error response. Without a valid body, the message contains the status code.
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
    /// The message for the user, with the hint in a separate line.
    public var description: String {
        switch self {
        case .noDaemon(let path):
            "no daemon is listening at \(path)\nhint: start it with `plugctl daemon`; see `plugctl help daemon`"
        case .distrusted(let path, let why):
            """
            the daemon's socket \(path) is not trusted: \(why)
            hint: set SMARTPLUG_DAEMON to the daemon's socket, or to an empty value to bypass the daemon
            """
        case .fault(_, let error, let hint): error + (hint.map { "\nhint: \($0)" } ?? "")
        case .broken(let reason): "\(reason)\nhint: use --direct to bypass the daemon"
        }
    }
}
