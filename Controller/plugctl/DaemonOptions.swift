import ArgumentParser
import DaemonClient
import DurableFiles
import Foundation
import Presentation

/// Whether a command goes through the daemon.
struct DaemonOptions: ParsableArguments {
    @Flag(
        help: """
            Speak to the plugs themselves, also where a daemon runs. Commands with --interface or --controller do so anyway, \
            and those with SMARTPLUG_INTERFACE, or an empty SMARTPLUG_DAEMON, in their environment.
            """)
    var direct = false

    /// Nil where nobody wants it, or where none runs. It may be gone when it is asked.
    ///
    /// - Parameter network: the way to the plugs that the person chose; nil where it is not about a way.
    func daemon(_ network: NetworkOptions? = nil) -> DaemonClient? {
        guard !direct, network?.isParticular != true, !DaemonSocket.isDeclined else { return nil }
        let client = DaemonClient(path: DaemonSocket.path())
        return client.isThere ? client : nil
    }
}

extension DaemonClient {
    /// The record at a place of its API.
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
