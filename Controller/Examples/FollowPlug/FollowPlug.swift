import Foundation
import LinuxSystem
import Logging
import PlugClient
import PlugModel
import PlugTransport

/// Writes every event of a plug to a file exactly once, even if this program or the plug restarts:
/// `FollowPlug NAME FILE`.
///
/// The file is both the output and the cursor. Each line begins with its event's number. The next start removes an
/// incomplete last line, and resumes after the last complete one.
@main struct FollowPlug {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let name = arguments.first, let path = arguments.last else {
            complain("usage: FollowPlug NAME FILE")
            exit(64)
        }
        let interfaces = ProcessInfo.processInfo.environment["SMARTPLUG_INTERFACE"].map { [$0] } ?? []
        do {
            let client = PlugClient(
                name: "FollowPlug", identity: try .ofThisController(), interfaces: Set(interfaces),
                logger: Logger(label: "FollowPlug"))
            let plug = try await client.plug(name, within: .seconds(10))
            try await follow(plug, into: EventFile(path))
            await client.stop()
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private static func follow(_ plug: Plug, into file: EventFile) async throws {
        for try await entry in plug.events(after: file.cursor) {
            switch entry {
            case .began: try file.append(entry.sequence, "began")
            case .event(let event, _, let at): try file.append(entry.sequence, "\(at.iso8601()) \(event.kind)")
            case .gap(let gap): try file.append(entry.sequence, "lost from \(gap.from): \(gap.reason)")
            }
        }
    }
}

func complain(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
