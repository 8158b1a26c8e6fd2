import ArgumentParser
import Daemon
import LinuxSystem
import PowerHistory

struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon",
        abstract: "Run the service that follows all plugs, runs the rules and serves the dashboard.",
        discussion: """
            The daemon stores on disk the last event it handled from each plug. After a restart, also after a crash, it continues \
            from there: no event is lost, and no button press takes effect twice.

            It also records the history of the plugs: samples, energy, events and the actions of rules. After a restart it fetches \
            the samples of the time when it did not run from the plugs.

            Rule files are reloaded when they change. Unchanged rules keep their state. If a file becomes invalid, the daemon \
            reports it and its last valid version stays active.

            The programs that rules may run and the web servers that they may call can be limited in /etc/smartplug/daemon.toml and \
            ~/.config/smartplug/daemon.toml, which are read when the daemon starts:
              [outside]
              run = ["/usr/bin/mpv"]
              web_hooks = "off"

            With a file broker.toml in one of these directories the daemon connects to an MQTT broker, where Home Assistant finds the plugs:
              [broker]
              host = "broker.local"

            With a file history.toml the history is sent to a PostgreSQL database or to a server that accepts Prometheus remote write:
              [house]
              name = "elm-street-5"
              [postgresql]
              host = "database.local"

            With a file wide_area.toml a dashboard that is open to the network is also registered in a domain of a name server:
              [wide_area]
              domain = "example.org"
              server = "192.0.2.53"
              key_file = "plugs.key"

            With a file updates.toml the daemon searches for new systems of plugs, and updates plugs on request:
              [updates]
              source = "https://example.org/plugs"

            With a file fleet.toml the dashboard also shows other houses; see plugctl help fleet.

            The dashboard is at http://127.0.0.1:7580/ and only reachable from this machine. To open it to the network (over TLS), set \
            a password first.

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
            A rule file, or a directory of rule files; may be given several times. (default: ~/.config/smartplug/rules, which \
            may be created later)
            """,
        completion: .file())
    var rules: [String] = []
    @Option(
        help: """
            The directory for state that must survive a restart: the last event of each plug, and unanswered commands. \
            (default: $STATE_DIRECTORY, else ~/.local/state/smartplug/daemon)
            """,
        completion: .directory)
    var state: String?
    @OptionGroup var history: HistoryOptions
    @Flag(help: "Do not record a history.")
    var noHistory = false
    @OptionGroup var dashboard: DashboardOptions

    func validate() throws {
        if history.history != nil, noHistory { throw ValidationError("--history and --no-history cannot be combined") }
    }

    func run() async throws {
        let settings = try dashboard.settings(state: state)
        try checkRules()
        let files = RulesDirectory(
            rules.isEmpty ? [UserDirectories.configuration + "/smartplug/rules"] : rules, mayBeMissing: rules.isEmpty,
            read: readRuleFile)
        let set = await files.current
        let store = try openRuleStore(state)
        let quarantine = store.map { _ in QuarantineFile(state ?? QuarantineFile.defaultDirectory()) }
        let recorded = noHistory ? nil : try openHistory(history.history)
        // A second connection to the database, so that a long read does not delay writes.
        let read = try recorded.map { _ in try history.open(.reader) }
        let face = DashboardSetup(
            settings: settings, history: read, wantsHistory: !noHistory, json: runner.json, quarantine: quarantine)
        try await runner.run(
            set, store, recorded, face, state: store.map { _ in state ?? usualRuleStore }, following: files)
    }

    /// Reports the first path of `--rules` that is missing. A file that becomes invalid or disappears later does not end
    /// the daemon.
    private func checkRules() throws {
        // A path whose file system does not answer is reported later.
        let missing = rules.first { path in
            FileSystemTimeout.ofFiles.within(place: path) { FileStamp(of: path) == nil } == true
        }
        guard let missing else { return }
        printError(
            """
            the rules \(missing) do not exist, or are not accessible
            hint: create the file or directory before the daemon starts
            """)
        throw ExitCode.failure
    }
}
