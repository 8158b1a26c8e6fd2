import LinuxSystem
import PlugHardware
import ProtocolCore
import Synchronization

/// The button and relay of a simulated plug, with the times of their last changes.
final class TimedButton: Relay {
    private let plug: SimulatedPlug
    private let times = Mutex((released: Instant.zero, switched: Instant.zero))

    init(of plug: SimulatedPlug) { self.plug = plug }

    var parts: PlugParts {
        var parts = plug.parts(dimmable: false)
        parts.relay = self
        return parts
    }

    /// Pushes and releases the button, and records the time of the release.
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

    /// The times of the last release and of the last setting of the relay, in nanoseconds since boot.
    var line: String { times.withLock { "\($0.released.nanoseconds) \($0.switched.nanoseconds)\n" } }
}
