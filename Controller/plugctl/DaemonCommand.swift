import ArgumentParser
import Daemon
import DurableFiles
import Foundation
import PowerHistory

struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon",
        abstract: "Follow every plug, run the rules and show the house in a browser, as a service.",
        discussion: """
            It keeps on disk where it was with each plug. Started again, also after it was killed, it goes on from there: \
            nothing is lost, and no press takes effect twice.

            Beside it, it keeps the plugs' history: samples, energy, events, and what rules did. What a plug has of the time \
            when no daemon ran is fetched.

            Rule files are read anew when they change: rules that stay as they are go on in the midst of what they do, and \
            of a file that is broken the last good version runs on, which is said.

            Which programs rules may run, and which web servers they may ask, can be limited in /etc/smartplug/daemon.toml and \
            ~/.config/smartplug/daemon.toml, which are read at the start:
              [outside]
              run = ["/usr/bin/mpv"]
              web_hooks = "off"

            With a file broker.toml in one of these places the house speaks to an MQTT broker, where Home Assistant finds the plugs:
              [broker]
              host = "broker.local"

            With a file history.toml there the history goes to a PostgreSQL database, or to a server that takes Prometheus' remote write:
              [house]
              name = "elm-street-5"
              [postgresql]
              host = "database.local"

            With a file fleet.toml there the dashboard also shows other houses; see plugctl help fleet.

            The dashboard is at http://127.0.0.1:7580/, for this machine alone. To let others of the network in, set a password \
            first; they come by TLS then.

            Examples:
              plugctl daemon --rules /etc/smartplug/rules
              plugctl daemon password
              plugctl daemon sessions
              plugctl daemon --listen 0.0.0.0:7580
            """,
        subcommands: [DaemonPassword.self, DaemonSessions.self, DaemonQuarantine.self])

    @OptionGroup var runner: RunnerOptions
    @Option(
        help: """
            A rule file, or a directory of them; may be given several times. (default: ~/.config/smartplug/rules, where it \
            is there)
            """,
        completion: .file())
    var rules: [String] = []
    @Option(
        help: """
            Where to keep what must survive the daemon: where it was with each plug, and commands without an answer. \
            (default: $STATE_DIRECTORY, else ~/.local/state/smartplug/daemon)
            """,
        completion: .directory)
    var state: String?
    @OptionGroup var history: HistoryOptions
    @Flag(help: "Keep no history.")
    var noHistory = false
    @OptionGroup var dashboard: DashboardOptions

    func validate() throws {
        if history.history != nil, noHistory { throw ValidationError("--history and --no-history exclude each other") }
    }

    func run() async throws {
        let settings = try dashboard.settings(state: state)
        let files = RulesDirectory(rules.isEmpty ? usualRules : rules, read: readRuleFile)
        let set = await files.current
        let store = try openRuleStore(state)
        let quarantine = store.map { _ in QuarantineFile(state ?? QuarantineFile.defaultDirectory()) }
        let recorded = noHistory ? nil : try openHistory(history.history)
        // A second connection to the database, so that a long read does not delay writes.
        let read = try recorded.map { _ in try history.open(.reader) }
        let face = DaemonFace(
            settings: settings, history: read, wantsHistory: !noHistory, json: runner.json, quarantine: quarantine)
        try await runner.run(
            set, store, recorded, face, state: store.map { _ in state ?? usualRuleStore }, following: files)
    }

    private var usualRules: [String] {
        let path = UserDirectories.configuration + "/smartplug/rules"
        return FileManager.default.fileExists(atPath: path) ? [path] : []
    }
}
