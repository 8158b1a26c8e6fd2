import Foundation
import Glibc

/// A child process with pipes to its standard input and output. It inherits the core to which this process is pinned.
final class ChildProcess {
    let id: pid_t
    private let input: Int32
    private let output: Int32
    private var unread: [UInt8] = []

    init(_ path: String, _ arguments: [String]) throws {
        let (theirInput, input) = try Self.pipe()
        let (output, theirOutput) = try Self.pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, theirInput, 0)
        posix_spawn_file_actions_adddup2(&actions, theirOutput, 1)
        // The child would inherit the blocked signals of this thread, and could then not be asked to end.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var id = pid_t()
        let failure = posix_spawn(&id, path, &actions, &attributes, &words, environ)
        close(theirInput)
        close(theirOutput)
        guard failure == 0 else { throw BenchmarkError("cannot start \(path): \(String(cString: strerror(failure)))") }
        self.id = id
        self.input = input
        self.output = output
    }

    /// Creates a pipe. Both ends are close-on-exec: an end that another child inherits would hide the end of file.
    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw BenchmarkError("cannot create a pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// The anonymous memory in kB (smaps_rollup).
    var anonymousMemory: Double { get throws { try Self.anonymousMemory(of: "\(id)") } }

    /// Returns the anonymous memory of a process in kB.
    static func anonymousMemory(of process: String) throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Anonymous:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { throw BenchmarkError("the kernel does not report the memory of process \(process)") }
        return kilobytes
    }

    /// The number of times that a thread of the process has waited and was woken up.
    var wakeUps: Double {
        get throws {
            let tasks = "/proc/\(id)/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks).reduce(0) { sum, task in
                let text = try String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)
                let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
                guard let count = line?.split(separator: "\t").last.flatMap({ Double($0) }) else {
                    throw BenchmarkError("the kernel does not report the wake-ups of process \(id)")
                }
                return sum + count
            }
        }
    }

    func write(_ bytes: [UInt8]) throws {
        guard Glibc.write(input, bytes, bytes.count) == bytes.count else {
            throw BenchmarkError("the child process ended before it read its input")
        }
    }

    /// Returns the next line without its terminator, or nil at the end of the output. Blocks.
    func line() -> String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeFirst(end + 1) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { return nil }
            unread += buffer[..<count]
        }
    }

    /// Closes the pipes and waits for the process. The processes of the benchmarks exit at the end of their input.
    func finish() {
        close(input)
        close(output)
        waitpid(id, nil, 0)
    }

    func terminate() {
        kill(id, SIGKILL)
        finish()
    }

    /// Asks the process to end.
    func interrupt() { kill(id, SIGTERM) }

    /// Runs a program of Tests/BenchmarkReferences to its end and reads the number that it prints.
    static func number(from path: String, _ arguments: [String] = []) throws -> Double {
        try numbers(1, from: path, arguments)[0]
    }

    /// Runs a program to its end and reads the numbers that it prints, one per line.
    static func numbers(_ count: Int, from path: String, _ arguments: [String]) throws -> [Double] {
        let child = try ChildProcess(path, arguments)
        defer { child.finish() }
        return try (0..<count).map { _ in
            guard let number = child.line().flatMap({ Double($0) }) else {
                throw BenchmarkError("\(path) measured nothing")
            }
            return number
        }
    }
}
