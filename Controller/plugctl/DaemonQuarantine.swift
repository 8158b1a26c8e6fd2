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

    @Option(parsing: .unconditional, help: "Follow this plug again: its name, or its id.")
    var lift: String?
    // The name differs from the daemon's option `--state`, because the parser would assign the value to that one.
    @Option(help: "The directory that the daemon was given as --state.", completion: .directory)
    var directory: String?

    func run() async throws {
        try await saying {
            do {
                if let lift { try follow(again: lift) } else { try show() }
            } catch let error as FileError {
                throw Complaint(error)
            }
        }
    }

    private var file: QuarantineFile { QuarantineFile(directory ?? QuarantineFile.defaultDirectory()) }
    private var names: [PlugID: String] {
        (try? PairedPlugs().names()) ?? [:]
    }

    private func show() throws {
        let ids = Set(try file.read().entries.map(\.plug))
        // A plug that is not paired is not followed, so that it is not listed.
        let kept = ((try? PairedPlugs().all()) ?? []).filter { ids.contains($0.id) }.compactMap { plug in
            file.reason(for: plug).map { (plug.name, $0) }
        }
        if kept.isEmpty { Output.line("the daemon keeps away from no plug") }
        for (name, words) in kept { Output.safeLine("\(name): \(words)") }
    }

    private func follow(again wanted: String) throws {
        var quarantine = try file.read()
        if let shared = SharedPlugName(wanted, among: names) { throw shared }
        var named: [PlugID] = []
        if case .plug(let id) = PlugNameOwner(of: wanted, among: names) { named = [id] }
        let plugs = named + (PlugID(rawValue: wanted).map { [$0] } ?? [])
        guard let plug = plugs.first(where: { quarantine.lift($0) }) else {
            throw Complaint(
                "nothing is held against \"\(wanted)\"\nhint: `plugctl daemon quarantine` shows which plugs there are")
        }
        try file.write(quarantine)
        Output.safeLine("\(names[plug] ?? "\(plug)") is followed again, within a minute where a daemon runs")
    }
}
