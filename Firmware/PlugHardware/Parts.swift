public import Metering
public import ProtocolCore

/// Why a part of the plug could not do what it was asked.
public struct HardwareFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which part, as a person knows it: "meter", "relay on line 17".
    public var part: String
    /// What went wrong and, where one is known, what to try.
    public var reason: String

    public init(part: String, reason: String) {
        self.part = part
        self.reason = reason
    }

    public var description: String { "\(part): \(reason)" }
}

/// Switches what is plugged in. A driver takes its lines and leaves them as they are until the first call.
public protocol Relay: Sendable {
    func set(on: Bool) throws(HardwareFault)
}

/// Sets how much of full power reaches the load while the relay is on.
public protocol Dimmer: Sendable {
    /// - Parameter fraction: 0 to 1.
    func set(fraction: Double) throws(HardwareFault)
}

/// The light that a person sees on the plug.
public protocol StatusLamp: Sendable {
    func set(lit: Bool) throws(HardwareFault)
}

/// One change of the button's contact, bouncing and all.
public struct ButtonEdge: Hashable, Sendable {
    public var down: Bool
    /// When the contact moved, as close to the contact as the hardware can say.
    public var time: Instant

    public init(down: Bool, time: Instant) {
        self.down = down
        self.time = time
    }
}

/// Tells of every edge of its contact.
public protocol Button: Sendable {
    /// Begins to watch; called once. `report` may be called on any thread, in the order of the edges.
    func watch(_ report: @escaping @Sendable (ButtonEdge) -> Void) throws(HardwareFault)
}

/// Measures what flows through the plug. A driver takes a bus and answers within some milliseconds.
public protocol PowerMeter: Sendable {
    func measure() throws(HardwareFault) -> Measurement
}

/// The parts that a plug is built of. What is nil it does not have.
public struct PlugParts: Sendable {
    public var relay: (any Relay)?
    public var button: (any Button)?
    public var lamp: (any StatusLamp)?
    public var meter: (any PowerMeter)?
    public var dimmer: (any Dimmer)?

    public init(
        relay: (any Relay)? = nil, button: (any Button)? = nil, lamp: (any StatusLamp)? = nil,
        meter: (any PowerMeter)? = nil, dimmer: (any Dimmer)? = nil
    ) {
        self.relay = relay
        self.button = button
        self.lamp = lamp
        self.meter = meter
        self.dimmer = dimmer
    }
}
