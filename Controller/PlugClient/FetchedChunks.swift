public import LinuxClocks
public import Metering
public import PlugModel
import ProtocolCore

/// What a plug had of a stretch of one boot, as it sent it.
public struct FetchedChunks: Hashable, Sendable {
    /// Whole, oldest first: the first and the last may reach beyond what was asked for, and the last one may still grow.
    public var chunks: [SampleChunk]
    /// The plug's clock against the controller's when everything was there.
    public var clock: ClockMapping
    /// What the wall clock showed when the plug's clock stood at zero, as near as the controller can tell.
    public var origin: WallTime
    /// The plug's clock before it was asked, in milliseconds.
    public var asked: Int64

    public init(chunks: [SampleChunk], clock: ClockMapping, origin: WallTime, asked: Int64) {
        self.chunks = chunks
        self.clock = clock
        self.origin = origin
        self.asked = asked
    }
}

extension FollowedPlug {
    /// The chunks that the plug still has with samples of this boot in a range of its clock, in milliseconds, both ends
    /// included. It takes as many connections as it needs.
    ///
    /// - Throws: `Refusal`, also where the plug is in another boot by then; `SampleChunkError` for what is no chunk;
    ///   `CancellationError`. What is in a chunk is not looked at.
    public func chunks(of boot: BootID, _ range: ClosedRange<Int64>) async throws -> FetchedChunks {
        guard let asked = clock, asked.boot == boot else {
            throw Refusal(.deadlinePassed, "the plug was not reached yet, or is in another boot")
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

    /// The best that is known of the plug's clock; nil before it was reached.
    public var clock: ClockMapping? { machine.clock }
}
