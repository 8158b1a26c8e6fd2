import Glibc
public import PlugHardware
import ProtocolCore
import Synchronization

/// A button on a GPIO line.
///
/// Its edges are read by who watches, with the kernel's time of each. A button that is down when it is first looked at means
/// nothing until it has been up once.
public final class LineButton: Button, EdgeSource {
    private struct State {
        /// Nil after it failed, until it is taken anew.
        var line: EdgeLine?
        var contact: ContactReading
        var report: (@Sendable (ButtonEdge) -> Void)?

        init(_ line: EdgeLine) throws(SystemError) {
            self.line = line
            contact = ContactReading(isDown: try line.isActive)
        }
    }

    public let isDebounced: Bool
    private let part: String
    private let claim: LineClaim
    private let open: @Sendable () throws(SystemError) -> EdgeLine
    private let state: Mutex<State>

    /// Takes the line and begins to collect its edges.
    ///
    /// - Parameters:
    ///   - isActiveLow: the contact connects the line to ground.
    ///   - debounce: what the kernel is asked to hide, where it can (libgpiod 2); else ``isDebounced`` is false and each bounce is told.
    /// - Throws: there is no such line, there are two, or somebody has it.
    public init(
        _ place: LinePlace, isActiveLow: Bool, bias: LineBias, debounce: Duration
    ) throws(HardwareFault) {
        part = "button on line \(place)"
        do throws(LineCatalogue.Unknown) {
            let found = try LineCatalogue.read().find(place.resolved)
            claim = try LineClaim(found, for: "button")
            try found.checkFree()
            let microseconds = UInt32(clamping: debounce.wholeNanoseconds / 1000)
            open = { [key = found.key] () throws(SystemError) in
                try EdgeLine(key, isActiveLow: isActiveLow, bias: bias, debounce: microseconds)
            }
            do throws(SystemError) {
                let line = try open()
                isDebounced = line.isDebounced
                state = Mutex(try State(line))
            } catch {
                throw LineCatalogue.Unknown(description: LineCatalogue.reason(error.number, hint: true))
            }
        } catch {
            throw HardwareFault(part: part, reason: error.description)
        }
    }

    /// Takes the line anew where it had failed.
    public func watch(
        _ report: @escaping @Sendable (ButtonEdge) -> Void
    ) throws(HardwareFault) -> (any EdgeSource)? {
        do {
            try state.withLock { state throws(SystemError) in
                if state.line == nil { state = try State(open()) }
                state.report = report
            }
        } catch {
            throw fault(error)
        }
        return self
    }

    public func openDescriptor() throws(HardwareFault) -> Int32 {
        do {
            return try state.withLock { state throws(SystemError) in
                guard let line = state.line else { throw SystemError(number: ENODEV) }
                let copy = fcntl(line.descriptor, F_DUPFD_CLOEXEC, 3)
                guard copy >= 0 else { throw SystemError(number: errno) }
                return copy
            }
        } catch {
            throw fault(error)
        }
    }

    public func take(_ bytes: UnsafeRawBufferPointer) throws(HardwareFault) {
        // The edges are there already: none of them is of the future.
        let clocks = ClockPair.read()
        do {
            try tell { state throws(SystemError) in
                var edges: [ButtonEdge] = []
                let isComplete = EdgeLine.decode(bytes, interface: gpioInterface) { edge in
                    let time = clocks.instant(of: edge.time)
                    if let edge = state.contact.edge(down: edge.isActive, at: time) { edges.append(edge) }
                }
                if !isComplete, let isDown = try state.line?.isActive, isDown != state.contact.isDown,
                    let edge = state.contact.edge(down: isDown, at: ClockPair.read().boot)
                {
                    edges.append(edge)
                }
                return edges
            }
        } catch {
            throw fail(error.number)
        }
    }

    public func fail(_ number: Int32) -> HardwareFault {
        tell { state in
            // What failed is let go of before it is taken anew.
            state.line = nil
            guard state.contact.isDown else { return [] }
            return state.contact.edge(down: false, at: ClockPair.read().boot).map { [$0] } ?? []
        }
        return fault(SystemError(number: number))
    }

    /// Reports without the lock: who hears of an edge may ask for anything here.
    private func tell<Failure>(
        _ edges: (inout State) throws(Failure) -> [ButtonEdge]
    ) throws(Failure) {
        let (found, report) = try state.withLock { state throws(Failure) in (try edges(&state), state.report) }
        for edge in found { report?(edge) }
    }

    private func fault(_ error: SystemError) -> HardwareFault {
        HardwareFault(part: part, reason: LineCatalogue.reason(error.number, hint: true))
    }
}
