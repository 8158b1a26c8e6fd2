import ArgumentParser
import DaemonClient
import DurableFiles
import Foundation
import Presentation

/// Selects whether a command goes through the daemon.
struct DaemonOptions: ParsableArguments {
    @Flag(
        help: """
            Speak to the plugs themselves, also where a daemon runs. Commands with --interface or --controller do so anyway, \
            and those with SMARTPLUG_INTERFACE, or an empty SMARTPLUG_DAEMON, in their environment.
            """)
    var direct = false

    /// Returns the daemon's client; nil if the user wants none or if no daemon is running. The daemon may still end
    /// before a request.
    ///
    /// - Parameter network: The network options of the user. If they select a network or a controller, the daemon is
    ///   not used.
    func daemon(_ network: NetworkOptions? = nil) -> DaemonClient? {
        guard !direct, network?.isParticular != true, !DaemonSocket.isDeclined else { return nil }
        let client = DaemonClient(path: DaemonSocket.path())
        return client.isThere ? client : nil
    }
}

extension DaemonClient {
    /// Reads the record at a path of the daemon's API.
    func read<Record: Decodable>(
        _ type: Record.Type, _ place: String, _ query: [(String, String)] = []
    ) async throws -> Record {
        try decoded(try await get(place, query))
    }

    func decoded<Record: Decodable>(_ body: [UInt8]) throws -> Record {
        guard let record = try? JSONDecoder().decode(Record.self, from: Data(body)) else {
            throw DaemonFault.broken("it says what this plugctl does not understand: is it of another version?")
        }
        return record
    }
}
