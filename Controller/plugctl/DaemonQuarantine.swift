import ArgumentParser
import Daemon
import LinuxSystem
import PlugClient
import PlugModel

struct DaemonQuarantine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "List plugs disabled because they crashed the daemon, and enable them again.",
        discussion: """
            If messages from one plug crash the daemon twice within a minute, the daemon disables that plug for an hour. The time \
            doubles each time the plug is disabled again, up to a day. Other plugs are not affected. If you enable a plug again, \
            the daemon follows it within a minute, without a restart.

            Examples:
              plugctl daemon quarantine
              plugctl daemon quarantine --lift Heater
            """)

    @Option(parsing: .unconditional, help: "Enable this plug again, by name or id.")
    var lift: String?
    // The name differs from the daemon's option `--state`, because the parser would assign the value to the daemon's
    // option.
    @Option(help: "The directory that the daemon uses for --state.", completion: .directory)
    var directory: String?

    func run() async throws {
        try await saying {
            do {
                if let lift { try follow(again: lift) } else { try show() }
            } catch let error as FileError {
                throw CLIError(error)
            }
        }
    }

    private var file: QuarantineFile { QuarantineFile(directory ?? QuarantineFile.defaultDirectory()) }
    private var names: [PlugID: String] {
        (try? PairedPlugs().names()) ?? [:]
    }

    private func show() throws {
        let ids = Set(try file.read().entries.map(\.plug))
        // The daemon does not follow unpaired plugs, so they are not listed.
        let kept = ((try? PairedPlugs().all()) ?? []).filter { ids.contains($0.id) }.compactMap { plug in
            file.reason(for: plug).map { (plug.name, $0) }
        }
        if kept.isEmpty { Output.line("no plug is disabled") }
        for (name, words) in kept { Output.safeLine("\(name): \(words)") }
    }

    private func follow(again wanted: String) throws {
        var quarantine = try file.read()
        if let shared = SharedPlugName(wanted, among: names) { throw shared }
        var named: [PlugID] = []
        if case .plug(let id) = PlugNameOwner(of: wanted, among: names) { named = [id] }
        let plugs = named + (PlugID(rawValue: wanted).map { [$0] } ?? [])
        guard let plug = plugs.first(where: { quarantine.lift($0) }) else {
            throw CLIError(
                "\"\(wanted)\" is not disabled\nhint: `plugctl daemon quarantine` lists the disabled plugs")
        }
        try file.write(quarantine)
        Output.safeLine("\(names[plug] ?? "\(plug)") is enabled; a running daemon follows it again within a minute")
    }
}
