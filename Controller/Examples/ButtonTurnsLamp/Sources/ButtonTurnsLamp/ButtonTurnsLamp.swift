import Foundation
import Logging
import PlugClient
import PlugModel
import PlugProtocol
import PlugTransport

/// Toggles the lamp on one plug at each single press of the button of a different plug. Each press counts exactly once,
/// even if this program or a plug restarts:
///
///     swift run --package-path Controller/Examples/ButtonTurnsLamp ButtonTurnsLamp BUTTON LAMP FILE
///
/// The plugs must be paired on this machine with `plugctl pair`. The program runs until it is interrupted. The file
/// stores the number of the last handled event and is written after the lamp has answered. If the program is killed
/// after the answer and before the write, it sends the command again after the next start. The request id is derived
/// from the press, so the lamp toggles once.
@main struct ButtonTurnsLamp {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 3 else {
            complain("usage: ButtonTurnsLamp BUTTON LAMP FILE")
            exit(64)
        }
        var pause = Duration.seconds(1)
        while true {
            let begun = ContinuousClock.now
            do {
                try await run(arguments[0], arguments[1], URL(fileURLWithPath: arguments[2]))
            } catch {
                complain("\(error)")
            }
            // The client reconnects by itself. An error here is a longer fault: an absent plug or a full disk.
            if begun.duration(to: .now) > .seconds(60) { pause = .seconds(1) }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(60))
        }
    }

    private static func run(_ button: String, _ lamp: String, _ file: URL) async throws {
        let interfaces = ProcessInfo.processInfo.environment["SMARTPLUG_INTERFACE"].map { [$0] } ?? []
        let client = PlugClient(
            name: "ButtonTurnsLamp", identity: try .ofThisController(), interfaces: Set(interfaces),
            logger: Logger(label: "ButtonTurnsLamp"))
        do {
            let (from, to) = (try await client.plug(button), try await client.plug(lamp))
            for try await entry in from.events(after: try cursor(in: file)) {
                switch entry {
                case .event(let event, age: _, at: let at) where event.kind == .buttonPressed(.single):
                    try await turnOver(to, for: event, of: from)
                    say("\(at.iso8601()) press \(event.sequence) of \(button)", .standardOutput)
                case .gap(let gap): complain("events \(gap.from) to \(gap.to) are lost: \(gap.reason)")
                case .began, .event: break
                }
                try Data("\(entry.sequence)\n".utf8).write(to: file, options: .atomic)
            }
        } catch {
            await client.stop()
            throw error
        }
        await client.stop()
    }

    private static func turnOver(_ lamp: Plug, for event: PlugEvent, of button: Plug) async throws {
        let request = RequestID(madeFrom: "ButtonTurnsLamp \(button.id) \(event.sequence)")
        for try await state in lamp.states() {
            do {
                try await lamp.send(.setRelay(on: !state.relayOn, autoOff: nil), as: request)
            } catch let refusal as Refusal {
                // A retry would be refused too, so the press is lost.
                complain("\(lamp.name): \(refusal.detail)")
            }
            break
        }
    }

    private static func cursor(in file: URL) throws -> Cursor {
        guard FileManager.default.fileExists(atPath: file.path) else { return .now }
        let text = try String(contentsOf: file, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let number = SequenceNumber(text) else { throw CocoaError(.fileReadCorruptFile) }
        return .after(number)
    }

    private static func complain(_ text: String) { say(text, .standardError) }

    private static func say(_ text: String, _ file: FileHandle) { file.write(Data((text + "\n").utf8)) }
}
