internal import Glibc
import LinuxSystem
import Processes

/// A running script host. Each request is a line and each answer is a line; the caller waits for the answer. If the
/// controller is killed, the host reads the end of its input and exits.
final class HostProcess {
    /// The time limit of an answer, not counting suspend. The limit of processor time is much shorter; this limit is
    /// for a process that is stopped or hangs.
    static let patience = Duration.seconds(10)
    /// The time in which a process that has closed its socket must exit before it is killed.
    private static let farewell = Duration.seconds(1)

    let socket: CInt
    private let id: pid_t
    private let patience: Duration
    private let cord: HostPipe?
    private(set) var death: ScriptDeath?
    private var buffer: [UInt8] = []

    /// - Parameters:
    ///   - name: the script's name, which process lists show after the program's name.
    ///   - cord: lets another thread end the process.
    init(
        path: String, name: String, patience: Duration = HostProcess.patience, cord: HostPipe? = nil
    ) throws(ScriptFault) {
        do throws(SystemError) {
            let pair = try SocketPair()
            defer { close(pair.theirs) }
            do throws(SystemError) {
                id = try ProcessStart([path, name], at: path)(input: pair.theirs, output: pair.theirs)
            } catch {
                close(pair.ours)
                throw error
            }
            socket = pair.ours
        } catch {
            throw Self.noStart(path, error)
        }
        (self.patience, self.cord) = (patience, cord)
        cord?.hold(socket)
    }

    private static func noStart(_ path: String, _ error: SystemError) -> ScriptFault {
        .unavailable(
            "\(path) cannot be started: \(error)",
            hint: "check that it is the program that was installed with plugctl")
    }

    deinit {
        end()
        cord?.letGo()
        close(socket)
    }

    /// Kills the process immediately. Its earlier answers remain valid.
    func end() {
        guard death == nil else { return }
        kill(id, SIGKILL)
        death = .killed
        reap()
    }

    /// Sends a request and waits for the answer. Returns the answer without its line feed. After an error the process
    /// has been killed and reaped.
    func ask(_ line: [UInt8]) throws(ScriptDeath) -> [UInt8] {
        if let death { throw death }
        let deadline = SuspendingClock.now + patience
        do throws(ScriptDeath) {
            try send(line, until: deadline)
            return try receive(until: deadline)
        } catch {
            if death == nil { end() }
            death = error
            throw error
        }
    }

    /// Returns true if the process has ended. Kills a process that has sent data without a request. Must be called only
    /// when the socket is readable.
    func hasEnded() -> Bool {
        if death != nil { return true }
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, CInt(MSG_PEEK))
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        if count > 0 {
            end()
            death = .garbled("it sent data without a request")
        } else {
            death = reapClosed()
        }
        return true
    }

    // MARK: - Lines

    private func send(_ line: [UInt8], until deadline: SuspendingClock.Instant) throws(ScriptDeath) {
        var sent = 0
        while sent < line.count {
            let count = line.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress! + sent, line.count - sent, CInt(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                try wait(for: POLLOUT, until: deadline)
            } else if errno != EINTR {
                throw reapClosed()
            }
        }
    }

    private func receive(until deadline: SuspendingClock.Instant) throws(ScriptDeath) -> [UInt8] {
        buffer.removeAll(keepingCapacity: buffer.capacity <= 16_384)
        while true {
            // Poll first, because an answer is never available immediately.
            try wait(for: POLLIN, until: deadline)
            let start = buffer.count
            let count = receiveMore()
            if count == 0 { throw reapClosed() }
            guard count > 0 else {
                guard errno == EAGAIN || errno == EINTR else { throw reapClosed() }
                continue
            }
            if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                guard end == buffer.count - 1 else { throw .garbled("more than one line") }
                return Array(buffer[..<end])
            }
            guard buffer.count <= MessageLimits.reply else {
                throw .garbled("a line of more than \(MessageLimits.reply >> 10) KiB")
            }
        }
    }

    private func receiveMore() -> Int {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { room in
            let count = recv(socket, room.baseAddress, room.count, 0)
            if count > 0 { buffer += room[..<count] }
            return count
        }
    }

    private func wait(for events: CInt, until deadline: SuspendingClock.Instant) throws(ScriptDeath) {
        var polled = pollfd(fd: socket, events: Int16(events), revents: 0)
        while true {
            let left = deadline - SuspendingClock.now
            guard left > .zero else { throw .silent(patience) }
            if poll(&polled, 1, left.roundedMilliseconds) > 0 { return }
        }
    }

    // MARK: - End

    /// Waits for a process that has closed its socket: a dying process closes it a moment before it can be reaped.
    private func reapClosed() -> ScriptDeath {
        let deadline = SuspendingClock.now + Self.farewell
        while SuspendingClock.now < deadline {
            var status: CInt = 0
            let found = waitpid(id, &status, WNOHANG)
            if found == id { return ended(ScriptDeath(status: status)) }
            if found < 0, errno != EINTR { return ended(.unknown) }
            usleep(200)
        }
        kill(id, SIGKILL)
        reap()
        return ended(.garbled("it closed the connection"))
    }

    private func ended(_ how: ScriptDeath) -> ScriptDeath {
        death = how
        return how
    }

    private func reap() {
        var status: CInt = 0
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
    }
}

extension Duration {
    /// The duration for poll(2) in milliseconds, rounded up, so that it has passed when poll returns.
    var roundedMilliseconds: CInt {
        let (seconds, attoseconds) = components
        return CInt(clamping: max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
    }
}
