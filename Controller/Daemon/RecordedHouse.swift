import PlugClient
import PlugModel

/// The house as its history sees it: what plugs still have of their past.
protocol RecordedHouse: Sendable {
    /// Of the plug of that name; nil before it was reached.
    func clock(of plug: String) async -> ClockMapping?

    /// - Throws: when the plug refused, is away, or is in another boot.
    func chunks(of plug: String, boot: BootID, _ range: ClosedRange<Int64>) async throws -> FetchedChunks
}

extension HouseFollower: RecordedHouse {
    func clock(of name: String) async -> ClockMapping? { await plug(named: name)?.clock }

    func chunks(of name: String, boot: BootID, _ range: ClosedRange<Int64>) async throws -> FetchedChunks {
        guard let plug = plug(named: name) else { throw Refusal(.deadlinePassed, "the plug is away") }
        return try await plug.chunks(of: boot, range)
    }
}
