public import LinuxSystem
public import Metering
public import PlugModel
import ProtocolCore

/// The sample chunks of a time range within one boot of a plug, as the plug sent them.
public struct FetchedChunks: Hashable, Sendable {
    /// Whole chunks, oldest first. The first and the last chunk may extend beyond the requested range, and the last one
    /// may still grow.
    public var chunks: [SampleChunk]
    /// The plug's clock relative to the controller's when the fetch was complete.
    public var clock: ClockMapping
    /// The wall-clock time at which the plug's clock was zero, as estimated by the controller.
    public var origin: WallTime
    /// The time on the plug's clock just before the request, in milliseconds.
    public var asked: Int64

    /// Creates a result from its parts.
    public init(chunks: [SampleChunk], clock: ClockMapping, origin: WallTime, asked: Int64) {
        self.chunks = chunks
        self.clock = clock
        self.origin = origin
        self.asked = asked
    }
}

extension FollowedPlug {
    /// Fetches the chunks that contain samples of a time range within one boot. The fetch continues over as many
    /// connections as it needs.
    ///
    /// - Parameters:
    ///   - boot: The boot that the samples belong to.
    ///   - range: The time range on the plug's clock, in milliseconds, both ends included.
    /// - Throws: `Refusal`, also if the plug was not reached yet or is in a different boot; `SampleChunkError` if a
    ///   chunk has no valid header; `CancellationError`. The samples in a chunk are not validated.
    public func chunks(of boot: BootID, _ range: ClosedRange<Int64>) async throws -> FetchedChunks {
        guard let asked = clock, asked.boot == boot else {
            throw Refusal(.deadlinePassed, "the plug is not connected, or has restarted")
        }
        let before = asked.plugTime(at: BootClock.now)
        let outcome = await fetch {
            .fetchBoot($0, boot, range)
        } into: {
            ChunksInProgress($0)
        }
        try Task.checkCancellation()
        let chunks = try outcome.get()
        guard let clock, clock.boot == boot else { throw Refusal(.outOfRange, "the plug has restarted") }
        let origin = WallTime.now - (BootClock.now - clock.instant(ofPlugTime: .zero))
        return FetchedChunks(
            chunks: chunks, clock: clock, origin: origin, asked: before.nanoseconds / 1_000_000)
    }

    /// The current estimate of the plug's clock; nil before the first connection.
    public var clock: ClockMapping? { machine.clock }
}
