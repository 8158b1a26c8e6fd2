import Metering
import PlugProtocol
import ProtocolCore

/// A fetch of samples on its way, which may take more than one connection.
struct SampleFetch {
    /// Fetches that may be on their way: as many as one session takes, so that a new connection can carry them all. Stops a
    /// caller that asks faster than the plug answers from filling the memory.
    static let limit = PlugWire.fetchesInFlight

    let id: UInt32
    /// The controller's clock, both included.
    let from: Instant
    let to: Instant
    /// Nobody waits for it any more.
    var isWithdrawn = false
    /// Where it goes on, on the clock of the plug's boot that it began with.
    private var next: (boot: BootID, time: Instant)?

    init(id: UInt32, from: Instant, to: Instant) {
        self.id = id
        self.from = from
        self.to = to
    }

    /// What is missing, on the plug's clock. Of another boot than before that is everything since it began.
    func remaining(of clock: ClockMapping) -> (from: Instant, to: Instant) {
        let end = max(.zero, clock.plugTime(at: to))
        let start = max(.zero, clock.plugTime(at: from))
        guard let next, next.boot == clock.boot else { return (min(start, end), end) }
        return (min(next.time, end), end)
    }

    mutating func received(_ bytes: [UInt8], of boot: BootID) {
        guard let chunk = try? SampleChunk(bytes: bytes) else { return }
        // A sample's time saturates, whatever a plug may send.
        next = (boot, Sample(milliseconds: chunk.lastMilliseconds, deciwatts: 0).time + .milliseconds(1))
    }
}
