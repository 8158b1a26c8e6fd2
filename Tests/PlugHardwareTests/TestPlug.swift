import Metering
import PlugHardware
import ProtocolCore
import Synchronization

/// A simulated plug with a clock that the test advances.
final class TestPlug: Sendable {
    let plug: SimulatedPlug
    private let box: Box

    init(_ load: PluggedLoad, seed: UInt64 = 1, speed: Double = 1, relayOn: Bool = true) {
        let box = Box()
        plug = SimulatedPlug(load: load, seed: seed, speed: speed) { box.now }
        self.box = box
        if relayOn { plug.set(on: true) }
    }

    private final class Box: Sendable {
        private let time = Mutex(Instant.zero)
        var now: Instant {
            get { time.withLock { $0 } }
            set { time.withLock { $0 = newValue } }
        }
    }

    var now: Instant {
        get { box.now }
        set { box.now = newValue }
    }

    func wait(_ seconds: Double) { now = now + .seconds(seconds) }

    /// The current power in watts.
    var watts: Double {
        get throws { try Double(plug.measure().deciwatts) / 10 }
    }

    /// Returns the power in watts once per second, beginning now.
    func watch(seconds: Int) throws -> [Double] {
        try (0..<seconds).map { _ in
            defer { wait(1) }
            return try watts
        }
    }
}
