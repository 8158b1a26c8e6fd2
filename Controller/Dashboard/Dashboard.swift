public import FleetService
public import Logging
public import PowerHistory
public import RuleEditing

/// The daemon's HTTP server: the API, the event stream, the metrics and the web page. It serves people over TCP and the
/// command line over a local socket.
public struct Dashboard: Sendable {
    let house: any HouseCommands
    let board: LiveBoard
    let history: PowerHistory?
    let logger: Logger
    let settings: DashboardSettings
    let historyFault: @Sendable () async -> String?
    /// The other houses, or nil.
    let fleet: (any FleetSource)?
    /// The rule files that the daemon follows; nil if it follows none.
    let ruleEditor: RuleEditor?
    let wakes = WakeRequests()
    let budgetWatch = BudgetWatch()
    let push: PushStore

    /// Creates the dashboard. `run(_:)` starts it.
    ///
    /// - Parameters:
    ///   - house: receives the commands of the API.
    ///   - board: the current state and the event stream.
    ///   - history: the database to read, or nil.
    ///   - logger: the logger of the HTTP server.
    ///   - settings: addresses, limits and paths.
    ///   - fleet: other houses, or nil.
    ///   - ruleEditor: the rule files that the daemon follows, or nil.
    ///   - historyFault: returns why the configured history cannot be written; nil if it can, or if none is configured.
    public init(
        house: any HouseCommands, board: LiveBoard, history: PowerHistory?, logger: Logger,
        settings: DashboardSettings = DashboardSettings(), fleet: (any FleetSource)? = nil,
        ruleEditor: RuleEditor? = nil,
        historyFault: @escaping @Sendable () async -> String? = { nil }
    ) {
        self.historyFault = historyFault
        self.fleet = fleet
        self.ruleEditor = ruleEditor
        self.house = house
        self.board = board
        self.history = history
        self.logger = logger
        self.settings = settings
        push = PushStore(directory: settings.directory)
    }
}
