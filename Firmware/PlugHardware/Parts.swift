public import Metering
public import ProtocolCore

/// The reason why a part of the plug failed.
public struct HardwareFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The part's name for the user: "meter", "relay on line 17".
    public var part: String
    /// The error, with a hint if possible.
    public var reason: String

    /// Creates a fault.
    public init(part: String, reason: String) {
        self.part = part
        self.reason = reason
    }

    public var description: String { "\(part): \(reason)" }
}

/// Switches the load. A driver requests its lines at the first call and leaves them unchanged before.
public protocol Relay: Sendable {
    /// Closes (true) or opens (false) the relay.
    func set(on: Bool) throws(HardwareFault)

    /// Sets the relay's final state during an orderly stop. Returns when the relay is at rest.
    ///
    /// - Parameter keeping: true to keep the state if the board can, false to switch off.
    func release(keeping: Bool) async throws(HardwareFault)
}

extension Relay {
    /// Opens the relay unless its state is to be kept.
    public func release(keeping: Bool) async throws(HardwareFault) { if !keeping { try set(on: false) } }
}

/// Sets the share of full power while the relay is on.
public protocol Dimmer: Sendable {
    /// Sets the level.
    ///
    /// - Parameter fraction: the share of full power, 0 to 1.
    func set(fraction: Double) throws(HardwareFault)
}

/// The plug's status light.
public protocol StatusLamp: Sendable {
    /// Turns the light on or off.
    func set(lit: Bool) throws(HardwareFault)
}

/// One change of the button's contact, which may be a bounce.
public struct ButtonEdge: Hashable, Sendable {
    /// True if the contact closed.
    public var down: Bool
    /// The time of the change, as precise as the hardware allows.
    public var time: Instant

    /// Creates an edge.
    public init(down: Bool, time: Instant) {
        self.down = down
        self.time = time
    }
}

/// Reports every edge of its contact.
public protocol Button: Sendable {
    /// True if the kernel or the hardware debounces the edges.
    var isDebounced: Bool { get }

    /// Starts to watch the contact, or starts again after its source of edges failed. Only the latest `report` is
    /// called, on any thread, in the order of the edges.
    ///
    /// - Returns: the source from which the caller must read the edges, or nil if the button reports them itself.
    func watch(_ report: @escaping @Sendable (ButtonEdge) -> Void) throws(HardwareFault) -> (any EdgeSource)?
}

/// The source of a button's edges. An event loop waits for it together with all other input, so that no thread switch
/// delays the relay.
public protocol EdgeSource: Sendable {
    /// Opens a descriptor that is readable when there are edges. The caller must close it.
    func openDescriptor() throws(HardwareFault) -> Int32

    /// Reports the edges in the result of one read(2) of the descriptor. The buffer needs room for the kernel's queue,
    /// 16 edges of 48 bytes.
    ///
    /// - Throws: if the source failed, so that it has no further edges.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(HardwareFault)

    /// Ends the source after a read failed with this error number. A pressed contact is reported as released: its state
    /// is unknown from now on, and it must not count as held forever.
    ///
    /// - Returns: the reason for the user.
    func fail(_ number: Int32) -> HardwareFault
}

/// Measures the load. A driver uses a bus and answers within milliseconds, or within seconds if the bus is stuck. It is
/// therefore called on a separate thread, never concurrently.
///
/// A driver sets up its chip at the first call, and again after each bus fault, so that a chip may appear late or
/// return.
public protocol PowerMeter: Sendable {
    /// Measures once.
    ///
    /// - Throws: `HardwareFault` with the reason for a failure. An implausible value is thrown as well, never returned.
    func measure() throws(HardwareFault) -> Measurement
    /// The error counts since plugd started.
    var counters: MeterCounters { get }
}

/// The error counts of a meter since plugd started.
public struct MeterCounters: Hashable, Sendable {
    /// The number of implausible measurements, which were not used, and of answers that show a wrong chip.
    public var impossible: UInt64 = 0
    /// The number of failed bus transfers, or of failed readings of a kernel file.
    public var busFaults: UInt64 = 0
    /// The number of set-ups, including the first one.
    public var initialisations: UInt64 = 0

    /// Creates counters of zero.
    public init() {}
}

/// Measures the temperature inside the plug.
public protocol Thermometer: Sendable {
    /// Returns tenths of a degree Celsius.
    func temperature() throws(HardwareFault) -> Int16
}

/// The parts of a plug; nil for parts that it does not have.
public struct PlugParts: Sendable {
    /// The relay.
    public var relay: (any Relay)?
    /// The button.
    public var button: (any Button)?
    /// The status light.
    public var lamp: (any StatusLamp)?
    /// The meter.
    public var meter: (any PowerMeter)?
    /// The dimmer.
    public var dimmer: (any Dimmer)?
    /// The thermometer.
    public var thermometer: (any Thermometer)?

    /// Creates a set of parts.
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
