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

    /// - Parameter history: read from; nil where there is none.
    public init(
        house: any CommandedHouse, board: LiveBoard, history: PowerHistory?, logger: Logger,
        settings: DashboardSettings = DashboardSettings()
    ) {
        self.house = house
        self.board = board
        self.history = history
        self.logger = logger
        self.settings = settings
    }
}
