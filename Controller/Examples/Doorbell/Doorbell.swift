import Foundation
import Logging
import PlugClient
import PlugModel
import PlugTransport

/// Rings once for each press of a plug's button, even if this program or the plug restarts: `Doorbell PLUG FILE`. A
/// press that is reported 10 seconds or more after it happened does not ring.
///
/// This is the program of the tutorial in PlugClient's documentation.
@main struct Doorbell {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 2 else {
            print("usage: Doorbell PLUG FILE")
            exit(64)
        }
        do {
            try await run(arguments[0], URL(fileURLWithPath: arguments[1]))
        } catch {
            print("Error: \(error)")
            exit(1)
        }
    }

    private static func run(_ name: String, _ file: URL) async throws {
        let client = PlugClient(name: "doorbell", identity: try .ofThisController(), logger: Logger(label: "doorbell"))
        let plug = try await client.plug(name, within: .seconds(10))
        try await ring(for: plug, file)
        await client.stop()
    }

    private static func ring(for plug: Plug, _ file: URL) async throws {
        var store = try DoorbellStore(file)
        let cursor = store.lastSequence(of: plug.id).map { Cursor.after($0) } ?? .now
        for try await entry in plug.events(after: cursor) {
            try store.transaction {
                if isFreshPress(entry) { $0.ring() }
                $0.setLastSequence(entry.sequence, of: plug.id)
            }
        }
    }

    /// True for a press that happened less than 10 seconds ago.
    private static func isFreshPress(_ entry: JournalEntry) -> Bool {
        guard case .event(let event, let age?, _) = entry, case .buttonPressed = event.kind else { return false }
        return age < .seconds(10)
    }
}
