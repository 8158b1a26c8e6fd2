import CScripting
internal import Glibc

/// A host at work: it is asked by a line and answers by one, and whoever asks waits. Where the controller is killed it reads the end of
/// its input, and ends too.
final class HostProcess {
    /// So long it may take to answer while the machine is awake. Its processor time ends much sooner; this is for one that is stopped.
    static let patience = Duration.seconds(10)
    /// So long a process that has closed its end may still be dying before it is killed.
    private static let farewell = Duration.seconds(1)

    let socket: CInt
    private let id: pid_t
    private let patience: Duration
    private let cord: Cord?
    private(set) var death: ScriptDeath?
    private var buffer: [UInt8] = []

    /// - Parameters:
    ///   - name: what lists of processes show behind the program's name.
    ///   - cord: ends it from another thread.
    init(
        path: String, name: String, patience: Duration = HostProcess.patience, cord: Cord? = nil
    ) throws(ScriptFault) {
        var (ours, theirs): (CInt, CInt) = (-1, -1)
        guard script_socket_pair(&ours, &theirs) == 0 else { throw Self.noStart(path, errno) }
        var number: pid_t = 0
        let status = script_process_start(path, name, theirs, &number)
        close(theirs)
        guard status == 0 else {
            close(ours)
            throw Self.noStart(path, status)
        }
        (socket, id, self.patience, self.cord) = (ours, number, patience, cord)
        cord?.hold(ours)
    }

    private static func noStart(_ path: String, _ code: CInt) -> ScriptFault {
        .unavailable(
            "\(path) cannot be started: \(String(cString: strerror(code)))",
            hint: "is it the program that was installed with plugctl?")
    }

    deinit {
        end()
        cord?.letGo()
        close(socket)
    }

    /// Without a word; what it did until now is done.
    func end() {
        guard death == nil else { return }
        kill(id, SIGKILL)
        death = .killed
        reap()
    }

    /// Asks and waits for the answer, without its line feed. After a fault nothing is left of the process.
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

    /// Whether it has ended, or speaks without having been asked, which ends it too: to be asked when its socket can be read.
    func hasEnded() -> Bool {
        if death != nil { return true }
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, CInt(MSG_PEEK))
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        if count > 0 {
            end()
            death = .garbled("it was not asked")
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
            // First waiting, since no answer is there at once.
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

    // MARK: - The end

    /// It has closed its end, as a process that dies does a moment before it is dead.
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
        return ended(.garbled("it closed its end"))
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
    /// For poll(2), rounded up, so that it is over when it wakes.
    var roundedMilliseconds: CInt {
        let (seconds, attoseconds) = components
        return CInt(clamping: max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
    }
}
