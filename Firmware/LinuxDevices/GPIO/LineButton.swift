import Glibc
import LinuxSystem
public import PlugHardware
import ProtocolCore
import Synchronization

/// A button on a GPIO line.
///
/// The event loop that watches the button reads its edges, each with the kernel's timestamp. A button that is pressed
/// at the first reading is ignored until its first release.
public final class LineButton: Button, EdgeSource {
    private struct State {
        /// The line; nil after a failure until it is requested again.
        var line: EdgeLine?
        var contact: ContactReading
        var report: (@Sendable (ButtonEdge) -> Void)?

        init(_ line: EdgeLine) throws(SystemError) {
            self.line = line
            contact = ContactReading(isDown: try line.isActive)
        }
    }

    /// True if the kernel debounces the edges.
    public let isDebounced: Bool
    private let part: String
    private let claim: LineClaim
    private let open: @Sendable () throws(SystemError) -> EdgeLine
    private let state: Mutex<State>

    /// Requests the line and starts to collect its edges.
    ///
    /// - Parameters:
    ///   - isActiveLow: true if the contact connects the line to ground.
    ///   - debounce: the debounce time for the kernel, if it supports that (libgpiod 2). Otherwise ``isDebounced`` is
    ///     false and each bounce is reported.
    /// - Throws: if the line does not exist, is ambiguous, or is in use.
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
                throw LineCatalogue.Unknown(description: LineCatalogue.reason(error.code, hint: true))
            }
        } catch {
            throw HardwareFault(part: part, reason: error.description)
        }
    }

    /// Requests the line again if it had failed.
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
                guard let line = state.line else { throw SystemError(ENODEV) }
                let copy = fcntl(line.descriptor, F_DUPFD_CLOEXEC, 3)
                guard copy >= 0 else { throw SystemError(errno) }
                return copy
            }
        } catch {
            throw fault(error)
        }
    }

    public func receive(_ bytes: UnsafeRawBufferPointer) throws(HardwareFault) {
        // The clocks are read after the edges, so no edge is in the future.
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
            throw fail(error.code)
        }
    }

    public func fail(_ number: Int32) -> HardwareFault {
        tell { state in
            // A failed line is released before it is requested again.
            state.line = nil
            guard state.contact.isDown else { return [] }
            return state.contact.edge(down: false, at: ClockPair.read().boot).map { [$0] } ?? []
        }
        return fault(SystemError(number))
    }

    /// Reports without the lock, because the receiver may call any method here.
    private func tell<Failure>(
        _ edges: (inout State) throws(Failure) -> [ButtonEdge]
    ) throws(Failure) {
        let (found, report) = try state.withLock { state throws(Failure) in (try edges(&state), state.report) }
        for edge in found { report?(edge) }
    }

    private func fault(_ error: SystemError) -> HardwareFault {
        HardwareFault(part: part, reason: LineCatalogue.reason(error.code, hint: true))
    }
}
