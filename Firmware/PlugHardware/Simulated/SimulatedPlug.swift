public import Metering
public import ProtocolCore
import Synchronization

/// A complete simulated plug: an outlet with a relay, a dimmer, a meter, a light and a button, and a load that the user
/// can change while it runs.
public final class SimulatedPlug: Relay, Dimmer, StatusLamp, Button, PowerMeter {
    private struct State {
        var load: SimulatedLoad
        var relayOn = false
        var fraction = 1.0
        var lit = false
        var report: (@Sendable (ButtonEdge) -> Void)?
    }

    /// The lock is held while the load computes its power, but not while `clock` or `report` runs.
    private let state: Mutex<State>
    private let mains: Mains
    private let clock: @Sendable () -> Instant

    /// - Parameters:
    ///   - seed: the seed of the noise; the same seed results in the same run.
    ///   - speed: how many times faster than real time an appliance runs; a recording has its own speed.
    ///   - clock: the plug's clock.
    public init(
        load: PluggedLoad, seed: UInt64, speed: Double = 1, clock: @escaping @Sendable () -> Instant
    ) {
        self.clock = clock
        mains = Mains(noise: Noise(seed: seed ^ 0x6D61_696E_73))
        state = Mutex(State(load: SimulatedLoad(load, seed: seed, speed: speed, now: clock())))
    }

    /// Returns the parts for the running plug.
    public func parts(dimmable: Bool) -> PlugParts {
        PlugParts(relay: self, button: self, lamp: self, meter: self, dimmer: dimmable ? self : nil)
    }

    public func set(on: Bool) {
        let now = clock()
        state.withLock {
            $0.relayOn = on
            $0.load.setPower(on, now: now)
        }
    }

    public func set(fraction: Double) { state.withLock { $0.fraction = min(max(fraction, 0), 1) } }

    public func set(lit: Bool) { state.withLock { $0.lit = lit } }

    public var isDebounced: Bool { false }

    public var counters: MeterCounters { MeterCounters() }

    public func watch(_ report: @escaping @Sendable (ButtonEdge) -> Void) -> (any EdgeSource)? {
        state.withLock { $0.report = report }
        return nil
    }

    public func measure() throws(HardwareFault) -> Measurement {
        let now = clock()
        let volts = mains.volts(at: Instant.zero.duration(to: now).inSeconds)
        let draw = state.withLock { $0.load.draw(now: now, level: $0.fraction, volts: volts) }
        let amperes = draw.watts / (volts * draw.powerFactor)
        guard var measurement = Measurement(watts: draw.watts, volts: volts, amperes: abs(amperes)),
            let alternating = Self.alternating(draw)
        else {
            throw HardwareFault(part: "simulated meter", reason: "\(draw.watts) W is out of its range")
        }
        measurement.alternating = alternating
        return measurement
    }

    /// Returns the quantities of a lagging load on mains of exactly 50 Hz, or nil if they are out of range.
    private static func alternating(_ draw: Draw) -> AlternatingPower? {
        let apparent = abs(draw.watts) / draw.powerFactor
        let reactive = max(0, apparent * apparent - draw.watts * draw.watts).squareRoot()
        guard let decivoltAmperes = UInt32(exactly: (apparent * 10).rounded()),
            let decivars = Int32(exactly: (reactive * 10).rounded())
        else { return nil }
        let factor = draw.watts < 0 ? -draw.powerFactor : draw.powerFactor
        return AlternatingPower(
            apparentDecivoltAmperes: decivoltAmperes, reactiveDecivars: decivars,
            powerFactorThousandths: Int16((factor * 1000).rounded()), millihertz: 50_000)
    }

    /// Presses or releases the button.
    public func moveButton(down: Bool) {
        let edge = ButtonEdge(down: down, time: clock())
        state.withLock { $0.report }?(edge)
    }

    /// The current load.
    public var load: PluggedLoad { state.withLock { $0.load.plugged } }

    /// Changes the load or its mode. ``PluggedLoad/parse(_:replacing:)`` creates one from the user's text.
    public func change(load: PluggedLoad) {
        let now = clock()
        state.withLock { $0.load.change(to: load, now: now) }
    }

    /// True while the relay is closed.
    public var isRelayOn: Bool { state.withLock { $0.relayOn } }
    /// True while the light is on.
    public var isLit: Bool { state.withLock { $0.lit } }
}
