import PlugClient
import PlugModel

/// The access of the recorder to the plugs: their clocks and stored samples.
protocol SampleSource: Sendable {
    /// Returns the clock of the plug with that name; nil before the first connection.
    func clock(of plug: String) async -> ClockMapping?

    /// Fetches the chunks of a range of the plug's clock, in milliseconds.
    ///
    /// - Throws: `Refusal` if no plug is followed under this name, or if the plug refused, was not connected yet or is
    ///   in a different boot; `SampleChunkError` if a chunk has no valid header; `CancellationError`. The call waits
    ///   for a plug that is disconnected.
    func chunks(of plug: String, boot: BootID, _ range: ClosedRange<Int64>) async throws -> FetchedChunks
}

extension HouseFollower: SampleSource {
    func clock(of name: String) async -> ClockMapping? { await plug(named: name)?.clock }

    func chunks(of name: String, boot: BootID, _ range: ClosedRange<Int64>) async throws -> FetchedChunks {
        guard let plug = plug(named: name) else { throw Refusal(.deadlinePassed, "the plug is away") }
        return try await plug.chunks(of: boot, range)
    }
}
