import Glibc
import PlugHardware
import ProtocolCore
import Synchronization

/// The thread that waits for a button's edges and tells of them.
final class EdgeWatch: Sendable {
    /// Milliseconds between two tries to take a line anew that failed.
    private static let pause: Int32 = 1000

    private struct Listener {
        var report: (@Sendable (ButtonEdge) -> Void)?
        var isRunning = false
    }

    /// What a line had when it was taken, before anybody listened.
    private struct Source {
        var line: EdgeLine
        var contact: ContactReading
    }

    /// For the thread to take.
    private let first: Mutex<Source?>
    private let reopen: @Sendable () throws(SystemError) -> EdgeLine
    private let complain: @Sendable (SystemError) -> Void
    private let listener = Mutex(Listener())
    /// A pipe, readable when the thread is to end.
    private let end: (read: Int32, write: Int32)

    init(
        _ line: EdgeLine, reopen: @escaping @Sendable () throws(SystemError) -> EdgeLine,
        complain: @escaping @Sendable (SystemError) -> Void
    ) throws(SystemError) {
        first = Mutex(Source(line: line, contact: ContactReading(isDown: try line.isActive)))
        self.reopen = reopen
        self.complain = complain
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError(number: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        end = (ends[0], ends[1])
    }

    deinit {
        close(end.read)
        close(end.write)
    }

    func start(_ report: @escaping @Sendable (ButtonEdge) -> Void) throws(SystemError) {
        let isRunning = listener.withLock { listener in
            listener.report = report
            defer { listener.isRunning = true }
            return listener.isRunning
        }
        if !isRunning { try startThread(named: "button") { self.run() } }
    }

    /// Edges that are being told come to their end.
    func stop() {
        listener.withLock { $0.report = nil }
        _ = write(end.write, "", 1)
    }

    private func run() {
        var source = first.withLock { first in
            defer { first = nil }
            return first
        }
        while let current = source {
            // What failed is let go of before it is taken anew.
            source = nil
            if follow(current) { return }
            source = takenAnew()
        }
    }

    /// Tells of edges until it is stopped (true) or the line has failed (false).
    private func follow(_ source: Source) -> Bool {
        var contact = source.contact
        do {
            while try wait(for: source.line.descriptor) {
                // Read when the edges are there: none of them is of the future then.
                var clocks: ClockPair?
                let isComplete = try source.line.read { edge in
                    let now = clocks ?? ClockPair.read()
                    clocks = now
                    tell(contact.edge(down: edge.isActive, at: now.instant(of: edge.time)))
                }
                guard !isComplete else { continue }
                let isDown = try source.line.isActive
                if isDown != contact.isDown { tell(contact.edge(down: isDown, at: ClockPair.read().boot)) }
            }
            return true
        } catch {
            complain(error)
            // A contact that nobody can see any more must not be held until the plug is set back to factory state.
            if contact.isDown { tell(contact.edge(down: false, at: ClockPair.read().boot)) }
            return false
        }
    }

    private func tell(_ edge: ButtonEdge?) {
        guard let edge, let report = listener.withLock({ $0.report }) else { return }
        report(edge)
    }

    /// - Returns: nil when it was stopped.
    private func takenAnew() -> Source? {
        while true {
            var stop = pollfd(fd: end.read, events: Int16(POLLIN), revents: 0)
            if poll(&stop, 1, Self.pause) > 0 { return nil }
            if let line = try? reopen(), let isActive = try? line.isActive {
                return Source(line: line, contact: ContactReading(isDown: isActive))
            }
        }
    }

    /// - Returns: true when there are edges, false when the thread is to end.
    private func wait(for descriptor: Int32) throws(SystemError) -> Bool {
        try withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { waiting throws(SystemError) in
            waiting[0] = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            waiting[1] = pollfd(fd: end.read, events: Int16(POLLIN), revents: 0)
            while poll(waiting.baseAddress!, 2, -1) < 0 {
                guard errno == EINTR else { throw SystemError(number: errno) }
            }
            if waiting[1].revents != 0 { return false }
            // Without edges to read there is only one thing that wakes: the chip has gone.
            guard waiting[0].revents & Int16(POLLIN) != 0 else { throw SystemError(number: ENODEV) }
            return true
        }
    }
}
