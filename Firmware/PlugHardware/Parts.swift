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

    /// Leaves the relay, at an orderly stop, as it is to be without the plug. Returns when it has come to rest.
    ///
    /// - Parameter keeping: as it is, as far as the board can; else off.
    func release(keeping: Bool) async throws(HardwareFault)
}

extension Relay {
    public func release(keeping: Bool) async throws(HardwareFault) { if !keeping { try set(on: false) } }
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
    /// True: edges come debounced, by the kernel or the hardware. False: they come as the contact bounces.
    var isDebounced: Bool { get }

    /// Begins to watch, and again where the edges came to an end; only the latest `report` is called then. It may be called on any
    /// thread, in the order of the edges.
    ///
    /// - Returns: where the edges are to be read; nil: the button needs nobody for that.
    func watch(_ report: @escaping @Sendable (ButtonEdge) -> Void) throws(HardwareFault) -> (any EdgeSource)?
}

/// Where the edges of a button wait to be read. An event loop waits for them beside everything else, so that no thread stands
/// between a contact and its relay.
public protocol EdgeSource: Sendable {
    /// A descriptor that is readable when there are edges, for who asks to close.
    func openDescriptor() throws(HardwareFault) -> Int32

    /// Reports the edges in what one read(2) of the descriptor gave. Its buffer needs room for all that a kernel
    /// keeps, 16 edges of 48 bytes.
    ///
    /// - Throws: no more edges will come from here.
    func take(_ bytes: UnsafeRawBufferPointer) throws(HardwareFault)

    /// No more edges come, since reading failed with this error number. A contact that was down is reported up: nobody could see
    /// it any more, and it must not count as held for ever.
    ///
    /// - Returns: why, for a person.
    func fail(_ number: Int32) -> HardwareFault
}

/// Measures what flows through the plug. A driver takes a bus and answers within some milliseconds, or with a stuck bus
/// within seconds: it is asked on a thread of its own, never twice at a time.
///
/// A driver sets its chip up when it is first asked, and again after each fault of the bus, so a chip that comes late or
/// comes back needs nobody.
public protocol PowerMeter: Sendable {
    /// - Throws: what kept it from measuring. A value that cannot be true is thrown too, never returned.
    func measure() throws(HardwareFault) -> Measurement
    /// What went wrong since the start.
    var counters: MeterCounters { get }
}

/// What went wrong with a meter since the start.
public struct MeterCounters: Hashable, Sendable {
    /// Measurements that cannot be true and were not used.
    public var impossible: UInt64 = 0
    /// Transfers that failed.
    public var busFaults: UInt64 = 0
    /// How often the chip was set up, the first time too.
    public var initialisations: UInt64 = 0

    public init() {}
}

/// Measures how hot the plug is inside.
public protocol Thermometer: Sendable {
    /// Tenths of a degree Celsius.
    func temperature() throws(HardwareFault) -> Int16
}

/// The parts that a plug is built of. What is nil it does not have.
public struct PlugParts: Sendable {
    public var relay: (any Relay)?
    public var button: (any Button)?
    public var lamp: (any StatusLamp)?
    public var meter: (any PowerMeter)?
    public var dimmer: (any Dimmer)?
    public var thermometer: (any Thermometer)?

    public init(
        relay: (any Relay)? = nil, button: (any Button)? = nil, lamp: (any StatusLamp)? = nil,
        meter: (any PowerMeter)? = nil, dimmer: (any Dimmer)? = nil,
        thermometer: (any Thermometer)? = nil
    ) {
        self.relay = relay
        self.button = button
        self.lamp = lamp
        self.meter = meter
        self.dimmer = dimmer
        self.thermometer = thermometer
    }
}
