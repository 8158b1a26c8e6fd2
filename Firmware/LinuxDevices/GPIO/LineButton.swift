import Glibc
public import PlugHardware
import ProtocolCore
import Synchronization

/// A button on a GPIO line.
///
/// Edges are told on a thread of its own, with the kernel's time of each. A button that is down when it is first looked at means
/// nothing until it has been up once.
public final class LineButton: Button {
    public let isDebounced: Bool
    private let watch: EdgeWatch
    private let claim: LineClaim

    /// Takes the line and begins to collect its edges.
    ///
    /// - Parameters:
    ///   - isActiveLow: the contact connects the line to ground.
    ///   - debounce: what the kernel is asked to hide, where it can (libgpiod 2); else ``isDebounced`` is false and each bounce is told.
    ///   - complain: hears, on the button's thread, why it no longer works. It is tried anew every second.
    /// - Throws: there is no such line, there are two, or somebody has it.
    public init(
        _ place: LinePlace, isActiveLow: Bool, bias: LineBias, debounce: Duration,
        complain: @escaping @Sendable (HardwareFault) -> Void
    ) throws(HardwareFault) {
        let part = "button on line \(place)"
        do throws(LineCatalogue.Unknown) {
            let found = try LineCatalogue.read().find(place.resolved)
            claim = try LineClaim(found, for: "button")
            try found.checkFree()
            let microseconds = UInt32(clamping: debounce.wholeNanoseconds / 1000)
            let open: @Sendable () throws(SystemError) -> EdgeLine = { [key = found.key] () throws(SystemError) in
                try EdgeLine(key, isActiveLow: isActiveLow, bias: bias, debounce: microseconds)
            }
            let line: EdgeLine
            do throws(SystemError) {
                line = try open()
                watch = try EdgeWatch(line, reopen: open) { error in
                    complain(HardwareFault(part: part, reason: LineCatalogue.reason(error.number, hint: true)))
                }
            } catch {
                throw LineCatalogue.Unknown(description: LineCatalogue.reason(error.number, hint: true))
            }
            isDebounced = line.isDebounced
        } catch {
            throw HardwareFault(part: part, reason: error.description)
        }
    }

    deinit { watch.stop() }

    /// May be called again: then `report` hears of the edges from now on, and nobody else does.
    public func watch(_ report: @escaping @Sendable (ButtonEdge) -> Void) throws(HardwareFault) {
        do {
            try watch.start(report)
        } catch {
            throw HardwareFault(part: "button", reason: "a thread for its edges cannot be started: \(error)")
        }
    }
}
