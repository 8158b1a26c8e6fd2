import PlugModel

/// What comes in chunk by chunk for somebody who waits.
protocol FetchInProgress: Sendable {
    /// - Returns: true once everything is there: then ``succeed()``.
    /// - Throws: what makes the rest useless: then ``fail(_:)``.
    mutating func take(_ bytes: [UInt8], of clock: ClockMapping, last: Bool) throws -> Bool
    func succeed()
    func fail(_ error: any Error)
}
