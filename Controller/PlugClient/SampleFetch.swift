import Metering
import PlugModel
import ProtocolCore

/// A fetch of samples on its way, which may take more than one connection.
struct SampleFetch {
    /// What is asked for, both ends included.
    enum Wanted {
        /// By the controller's clock, of whichever boot the plug has then.
        case instants(Instant, Instant)
        /// Of one boot, in milliseconds of its clock; a plug that has started anew has none of it.
        case boot(BootID, ClosedRange<Int64>)
    }

    /// Fetches that may be on their way: as many as one session takes, so that a new connection can carry them all. Stops a
    /// caller that asks faster than the plug answers from filling the memory.
    static let limit = PlugWire.fetchesInFlight

    let id: UInt32
    private let wanted: Wanted
    /// Nobody waits for it any more.
    var isWithdrawn = false
    /// Where it goes on, on the clock of the plug's boot that it began with.
    private var next: (boot: BootID, time: Instant)?

    init(id: UInt32, _ wanted: Wanted) {
        self.id = id
        self.wanted = wanted
    }

    /// What is missing, on the plug's clock. Of another boot than before that is everything since it began; nil where only
    /// the boot before was wanted.
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

    mutating func received(_ bytes: [UInt8], of boot: BootID) {
        guard let chunk = try? SampleChunk(bytes: bytes) else { return }
        next = (boot, Self.time(chunk.lastMilliseconds) + .milliseconds(1))
    }

    /// A sample's time saturates, whatever a plug may send.
    private static func time(_ milliseconds: Int64) -> Instant { Sample(milliseconds: milliseconds, deciwatts: 0).time }
}
