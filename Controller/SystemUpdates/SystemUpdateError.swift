public import HTTPRequests
public import LinuxSystem
public import PlugClient

/// The reason why a system is not found at its source, or why an update does not begin.
public enum SystemUpdateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file of the source cannot be read.
    case unreadable(FileError)
    /// The server has no file at this address; the status of its answer.
    case notFound(address: String, status: UInt)
    /// The server did not send the file at this address.
    case unreachable(address: String, RequestFault)
    /// The JSON file with this path does not describe a bundle for the board.
    case notDescribed(path: String, board: String)
    /// The file with this path is not a bundle.
    case notABundle(path: String, SystemBundleError)
    /// The plug does not state its board, by which a source is searched.
    case unknownBoard
    /// The daemon has no source of systems.
    case noSource
    /// The plug is away, or has not reported that its system can be updated.
    case away
    /// An update of the plug is in progress.
    case busy

    /// The reason as text for the user, with a hint if there is a remedy.
    public var description: String {
        switch self {
        case .unreadable(let error): "\(error)" + (error.hint.map { "\nhint: \($0)" } ?? "")
        case .notFound(let address, let status): "\(address): status \(status)"
        case .unreachable(let address, let fault): "\(address): \(fault)"
        case .notDescribed(let path, let board):
            "\(path) is not the description of a bundle for \(board)\nhint: Scripts/image writes this file"
        case .notABundle(let path, let error): "\(path): \(error)"
        case .unknownBoard: "the plug does not state its board; give the file of a bundle"
        case .noSource:
            "the daemon knows no new systems\nhint: name their source in updates.toml, and restart the daemon"
        case .away: "the plug is away, or its system cannot be updated over the network"
        case .busy: "an update of the plug is in progress"
        }
    }
}
