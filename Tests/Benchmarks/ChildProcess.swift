import Foundation
import Glibc

/// Another process with its standard input and output in our hands. It inherits the core that this one is pinned to.
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
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var id = pid_t()
        let failure = posix_spawn(&id, path, &actions, nil, &words, environ)
        close(theirInput)
        close(theirOutput)
        guard failure == 0 else { throw Complaint("cannot start \(path): \(String(cString: strerror(failure)))") }
        self.id = id
        self.input = input
        self.output = output
    }

    /// Neither end is left open in other children, or the end of one would not be seen.
    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw Complaint("cannot make a pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// kB.
    var anonymousMemory: Double { get throws { try Self.anonymousMemory(of: "\(id)") } }

    /// kB.
    static func anonymousMemory(of process: String) throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Anonymous:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { throw Complaint("the kernel does not report the memory of process \(process)") }
        return kilobytes
    }

    func write(_ bytes: [UInt8]) throws {
        guard Glibc.write(input, bytes, bytes.count) == bytes.count else { throw Complaint("the other process ended") }
    }

    /// The next line, without its end; nil when there is none any more.
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

    /// Ends its input, which ends a process of ours, and waits for it.
    func finish() {
        close(input)
        close(output)
        waitpid(id, nil, 0)
    }

    func terminate() {
        // Threads of ours have blocked the gentler signals, and a child inherits that.
        kill(id, SIGKILL)
        finish()
    }

    /// Runs a program of Tests/BenchmarkReferences to its end and reads the number that it prints.
    static func number(from path: String, _ arguments: [String] = []) throws -> Double {
        try numbers(1, from: path, arguments)[0]
    }

    /// The same for several numbers, each on a line.
    static func numbers(_ count: Int, from path: String, _ arguments: [String]) throws -> [Double] {
        let child = try ChildProcess(path, arguments)
        defer { child.finish() }
        return try (0..<count).map { _ in
            guard let number = child.line().flatMap({ Double($0) }) else {
                throw Complaint("\(path) measured nothing")
            }
            return number
        }
    }
}
