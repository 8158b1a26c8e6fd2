public import FleetService
public import Logging
public import PowerHistory

/// The daemon's face: HTTP API, live stream, metrics and the web page, over TCP for people and over a local socket for the
/// command line.
public struct Dashboard: Sendable {
    let house: any CommandedHouse
    let board: LiveBoard
    let history: PowerHistory?
    let logger: Logger
    let settings: DashboardSettings
    let historyFault: @Sendable () async -> String?
    /// Nil where the daemon knows of no other houses.
    let fleet: (any FleetSource)?

    /// - Parameters:
    ///   - history: read from; nil where there is none.
    ///   - fleet: other houses; nil where there are none.
    ///   - historyFault: says why the history that is wanted cannot be written; nil where it can, or where none is wanted.
    public init(
        house: any CommandedHouse, board: LiveBoard, history: PowerHistory?, logger: Logger,
        settings: DashboardSettings = DashboardSettings(), fleet: (any FleetSource)? = nil,
        historyFault: @escaping @Sendable () async -> String? = { nil }
    ) {
        self.historyFault = historyFault
        self.fleet = fleet
        self.house = house
        self.board = board
        self.history = history
        self.logger = logger
        self.settings = settings
    }
}
