import PlugModel

/// A fetch that receives its result chunk by chunk.
protocol FetchInProgress: Sendable {
    /// Processes one chunk.
    ///
    /// - Parameters:
    ///   - bytes: The encoded chunk; empty if the plug has no samples in the range.
    ///   - clock: The plug's clock relative to the controller's.
    ///   - last: True for the last part of the fetch.
    /// - Returns: True when the fetch is complete; the caller then calls ``succeed()``.
    /// - Throws: An error if the fetch cannot continue; the caller then calls ``fail(_:)``.
    mutating func receive(_ bytes: [UInt8], of clock: ClockMapping, last: Bool) throws -> Bool
    /// Completes the fetch with the received data.
    func succeed()
    /// Completes the fetch with an error.
    func fail(_ error: any Error)
}
