import ArgumentParser
import Daemon
import DurableFiles
import LinuxClocks
import PlugClient
import PlugModel

struct DaemonQuarantine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "Show the plugs that the daemon keeps away from since it died of them, and lift that.",
        discussion: """
            A daemon that died twice within a minute while it handled what the same plug said keeps away from it: for an hour, after \
            each further time for twice as long, a day at most. The rest of the house goes on. A plug that is lifted is followed again \
            within a minute, without a restart.

            Examples:
              plugctl daemon quarantine
              plugctl daemon quarantine --lift Heater
            """)

    @Option(help: "Follow this plug again: its name, or its id.")
    var lift: String?
    @Option(help: "Where the daemon keeps its state, if it was told so.", completion: .directory)
    var state: String?

    func run() async throws {
        try await saying {
            do {
                try lift.map(lift) ?? show()
            } catch let error as FileError {
                throw Complaint(error)
            }
        }
    }

    private var file: QuarantineFile { QuarantineFile(state ?? QuarantineFile.defaultDirectory()) }
    private var names: [PlugID: String] {
        ((try? PairedPlugs().all()) ?? []).reduce(into: [:]) { $0[$1.id] = $1.name }
    }

    private func show() throws {
        let names = names
        let kept = try file.read().entries.compactMap { entry in
            file.reason(for: entry.plug).map { (names[entry.plug] ?? "\(entry.plug)", $0) }
        }
        if kept.isEmpty { Output.line("the daemon keeps away from no plug") }
        for (name, words) in kept { Output.safeLine("\(name): \(words)") }
    }

    private func lift(_ wanted: String) throws {
        var quarantine = try file.read()
        let lowercased = wanted.lowercased()
        let named = names.filter { $0.value.lowercased() == lowercased }.map(\.key)
        let plugs = named + (PlugID(rawValue: wanted).map { [$0] } ?? [])
        guard let plug = plugs.first(where: { quarantine.lift($0) }) else {
            throw Complaint(
                "nothing is held against \"\(wanted)\"\nhint: `plugctl daemon quarantine` shows which plugs there are")
        }
        try file.write(quarantine)
        Output.safeLine("\(names[plug] ?? "\(plug)") is followed again, within a minute where a daemon runs")
    }
}
