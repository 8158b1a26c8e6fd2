public import Logging
public import PowerHistory

/// The daemon's face: HTTP API, live stream, metrics and the web page, over TCP for people and over a local socket for the
/// command line.
public struct Dashboard: Sendable {
    let house: any CommandedHouse
    let board: LiveBoard
    let history: PowerHistory?
    let logger: Logger

    public init(house: any CommandedHouse, board: LiveBoard, history: PowerHistory?, logger: Logger) {
        self.house = house
        self.board = board
        self.history = history
        self.logger = logger
    }
}
