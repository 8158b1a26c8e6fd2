import Synchronization

/// Creates a part at its first use, and tries again at each use after a failure. A part that is missing when plugd
/// starts therefore does not stop the plug.
private final class LazyPart<Part: Sendable>: Sendable {
    /// The lock is held during the creation, so that the part is created once.
    private let made = Mutex<Part?>(nil)
    private let make: @Sendable () throws(HardwareFault) -> Part

    init(_ make: @escaping @Sendable () throws(HardwareFault) -> Part) { self.make = make }

    func get() throws(HardwareFault) -> Part {
        try made.withLock { part throws(HardwareFault) in
            if let part { return part }
            let new = try make()
            part = new
            return new
        }
    }
}

/// A line that may become available after plugd started.
public final class LateLine: OutputLine {
    private let line: LazyPart<any OutputLine>

    /// Creates a line with a closure that opens it at the first use.
    public init(_ make: @escaping @Sendable () throws(HardwareFault) -> any OutputLine) { line = LazyPart(make) }

    /// Checks whether the line is available, without driving it.
    public func open() throws(HardwareFault) { _ = try line.get() }

    public func set(active: Bool) throws(HardwareFault) { try line.get().set(active: active) }
}

/// A dimmer that may become available after plugd started.
public final class LateDimmer: Dimmer {
    private let dimmer: LazyPart<any Dimmer>

    /// Creates a dimmer with a closure that opens it at the first use.
    public init(_ make: @escaping @Sendable () throws(HardwareFault) -> any Dimmer) { dimmer = LazyPart(make) }

    /// Checks whether the dimmer is available, without changing it.
    public func open() throws(HardwareFault) { _ = try dimmer.get() }

    public func set(fraction: Double) throws(HardwareFault) { try dimmer.get().set(fraction: fraction) }
}

/// A button that may become available after plugd started.
public final class LateButton: Button {
    private let button: LazyPart<any Button>
    /// True if the button was available when plugd started and the kernel debounces it. Otherwise the machine debounces
    /// its edges. The edges of a button that becomes available later may be debounced twice, which adds a delay of the
    /// debounce time.
    public let isDebounced: Bool

    /// Creates a button, and tries to open it at once.
    public init(_ make: @escaping @Sendable () throws(HardwareFault) -> any Button) {
        button = LazyPart(make)
        isDebounced = (try? button.get())?.isDebounced ?? false
    }

    /// Checks whether the button is available.
    public func open() throws(HardwareFault) { _ = try button.get() }

    public func watch(
        _ report: @escaping @Sendable (ButtonEdge) -> Void
    ) throws(HardwareFault) -> (any EdgeSource)? {
        try button.get().watch(report)
    }
}
