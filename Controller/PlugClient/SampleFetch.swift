import Metering
import PlugModel
import ProtocolCore

/// A fetch of samples that is in progress and may use several connections.
struct SampleFetch {
    /// The requested range, both ends included.
    enum Wanted {
        /// A range on the controller's clock, in any boot of the plug.
        case instants(Instant, Instant)
        /// A range within one boot, in milliseconds of its clock. A restarted plug has none of these samples.
        case boot(BootID, ClosedRange<Int64>)
    }

    /// The maximum number of fetches in progress, which is the limit of one session, so a new connection can carry them
    /// all. The limit prevents a caller that requests faster than the plug answers from filling the memory.
    static let limit = PlugWire.fetchesInFlight

    let id: UInt32
    private let wanted: Wanted
    /// True if the caller no longer waits for the fetch.
    var isWithdrawn = false
    /// The time at which the fetch resumes, on the clock of the boot in which the last chunk was received.
    private var next: (boot: BootID, time: Instant)?

    init(id: UInt32, _ wanted: Wanted) {
        self.id = id
        self.wanted = wanted
    }

    /// Returns the missing range on the plug's clock. After a restart of the plug, this is the whole range, limited to
    /// the new boot; or nil if the fetch is restricted to the previous boot.
    func remaining(of clock: ClockMapping) -> (from: Instant, to: Instant)? {
        let start: Instant
        let end: Instant
        switch wanted {
        case .instants(let from, let to):
            end = max(.zero, clock.plugTime(at: to))
            start = max(.zero, clock.plugTime(at: from))
        case .boot(let boot, let range):
            guard boot == clock.boot else { return nil }
            end = max(.zero, Self.time(range.upperBound))
            start = max(.zero, Self.time(range.lowerBound))
        }
        guard let next, next.boot == clock.boot else { return (min(start, end), end) }
        return (min(next.time, end), end)
    }

    /// Advances `next` past the received chunk.
    mutating func received(_ bytes: [UInt8], of boot: BootID) {
        guard let chunk = try? SampleChunk(bytes: bytes) else { return }
        next = (boot, Self.time(chunk.lastMilliseconds) + .milliseconds(1))
    }

    /// Converts a sample's time; the result saturates for extreme values.
    private static func time(_ milliseconds: Int64) -> Instant { Sample(milliseconds: milliseconds, deciwatts: 0).time }
}
