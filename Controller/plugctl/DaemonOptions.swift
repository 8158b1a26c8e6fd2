import ArgumentParser
import DaemonClient
import Foundation
import LinuxSystem
import Presentation

/// Selects whether a command goes through the daemon.
struct DaemonOptions: ParsableArguments {
    @Flag(
        help: """
            Connect directly to the plugs, even if a daemon is running. This is implied by --interface, --controller, \
            --address, SMARTPLUG_INTERFACE in the environment, or an empty SMARTPLUG_DAEMON.
            """)
    var direct = false

    /// Returns the daemon's client; nil if the user wants none or if the daemon's socket file does not exist. The file
    /// of a killed daemon remains, so a request may still fail.
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
            throw DaemonFault.broken("unexpected response; daemon and plugctl versions may differ")
        }
        return record
    }
}
