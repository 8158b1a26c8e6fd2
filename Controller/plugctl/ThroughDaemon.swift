import DaemonClient
import PlugClient
import PlugModel
import Presentation

/// Sends a command through the daemon, which already has a connection to the plug.
struct ThroughDaemon: Sendable {
    enum End: Sendable {
        case done(CommandRecord)
        /// The daemon cannot send the command, so the caller sends it directly to the plug. The value is the command if
        /// the plug's state was known: a toggle is then already resolved to on or off, so that it is not executed
        /// twice.
        ///
        /// - since: When the daemon's connection to the plug ended, in ISO 8601; nil if it is connected or not known.
        case untried(PlugCommand?, since: String? = nil)
    }

    let client: DaemonClient

    func perform(_ command: (PlugState) -> PlugCommand, on name: String) async throws -> End {
        // An empty name would be the path of all plugs.
        guard !name.isEmpty else { return .untried(nil) }
        var found = name
        var known: PlugCommand?
        do {
            let plug = try await client.read(PlugRecord.self, "/api/v1/plugs/\(DaemonClient.part(name))")
            // The daemon prefers ids to names and may know other plugs, so its answer is used only if the plug has this
            // name.
            switch PlugNameOwner(of: name, among: (try? PairedPlugs().names()) ?? [:]) {
            case .plug(let id): guard plug.id == id.rawValue else { return .untried(nil) }
            case .ambiguous: return .untried(nil)
            case .unknown: guard plug.plug.foldedPlugName == name.foldedPlugName else { return .untried(nil) }
            }
            found = plug.plug
            // The plug's id is used, because the name may change before the second request.
            let place = "/api/v1/plugs/\(DaemonClient.part(plug.id ?? plug.plug))"
            guard let state = PlugState(plug) else { return .untried(nil, since: plug.since) }
            let command = command(state)
            known = command
            guard let request = CommandBody(command) else { return .untried(command) }
            let answer = try await client.post("\(place)/\(request.place)", json: Array(request.json.utf8))
            return .done(try client.decoded(answer))
        } catch DaemonFault.fault(let status, let error, let hint) where [409, 504].contains(status) {
            printError("\(found): \(error)" + (hint.map { "\nhint: \($0)" } ?? ""))
            return .done(CommandRecord(plug: found, error: error))
        } catch let fault as DaemonFault {
            if let warning = fault.warning { printError(warning) }
            return .untried(known)
        }
    }
}

extension DaemonFault {
    /// The warning that is printed before the command is sent directly. Nil if no daemon is running or the daemon
    /// answered with an error.
    var warning: String? {
        switch self {
        case .noDaemon, .fault: nil
        case .distrusted, .broken: "\(self)"
        }
    }
}
