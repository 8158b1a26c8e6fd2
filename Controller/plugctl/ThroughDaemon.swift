import DaemonClient
import PlugClient
import PlugModel
import Presentation

/// The way of a command through the daemon, which has a connection to the plug already.
struct ThroughDaemon: Sendable {
    enum End: Sendable {
        case done(CommandRecord)
        /// The daemon cannot: the plugs themselves are asked, with this command where it is known. One that turns a plug over
        /// is absolute by then, so that it is not done twice.
        case untried(PlugCommand?)
    }

    let client: DaemonClient

    func perform(_ command: (PlugState) -> PlugCommand, on name: String) async throws -> End {
        // That would be the path of all plugs.
        guard !name.isEmpty else { return .untried(nil) }
        var found = name
        var known: PlugCommand?
        do {
            let plug = try await client.read(PlugRecord.self, "/api/v1/plugs/\(DaemonClient.part(name))")
            // To the daemon an id goes before a name, and it may know other plugs: only the plug that is called so is meant.
            switch PlugNameOwner(of: name, among: (try? PairedPlugs().names()) ?? [:]) {
            case .plug(let id): guard plug.id == id.rawValue else { return .untried(nil) }
            case .ambiguous: return .untried(nil)
            case .unknown: guard plug.plug.foldedPlugName == name.foldedPlugName else { return .untried(nil) }
            }
            found = plug.plug
            // The name may be another's by the time of the second request.
            let place = "/api/v1/plugs/\(DaemonClient.part(plug.id ?? plug.plug))"
            guard let state = PlugState(plug) else { return .untried(nil) }
            let command = command(state)
            known = command
            guard let request = CommandRequest(command) else { return .untried(command) }
            let answer = try await client.post("\(place)/\(request.place)", json: Array(request.json.utf8))
            return .done(try client.decoded(answer))
        } catch DaemonFault.fault(status: 409, let error, let hint) {
            complain("\(found): \(error)" + (hint.map { "\nhint: \($0)" } ?? ""))
            return .done(CommandRecord(plug: found, error: error))
        } catch let fault as DaemonFault {
            if let warning = fault.warning { complain(warning) }
            return .untried(known)
        }
    }
}

extension DaemonFault {
    /// What a person should know although there is another way: not that no daemon runs, nor that it does not reach a plug.
    var warning: String? {
        switch self {
        case .noDaemon, .fault: nil
        case .distrusted, .broken: "\(self)"
        }
    }
}
