import LinuxClocks
import PlugHardware
import ProtocolCore
import Synchronization

/// A simulated plug's button and relay that know when they were last moved.
final class TimedButton: Relay {
    private let plug: SimulatedPlug
    private let times = Mutex((released: Instant.zero, switched: Instant.zero))

    init(of plug: SimulatedPlug) { self.plug = plug }

    var parts: PlugParts {
        var parts = plug.parts(dimmable: false)
        parts.relay = self
        return parts
    }

    func push() {
        plug.moveButton(down: true)
        let now = BootClock.now
        times.withLock { $0.released = now }
        plug.moveButton(down: false)
    }

    func set(on: Bool) {
        plug.set(on: on)
        let now = BootClock.now
        times.withLock { $0.switched = now }
    }

    /// Of the last push, nanoseconds of the clock: when the button was let go, and when the relay stood.
    var line: String { times.withLock { "\($0.released.nanoseconds) \($0.switched.nanoseconds)\n" } }
}
