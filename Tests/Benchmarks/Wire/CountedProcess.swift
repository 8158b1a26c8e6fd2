import Foundation

/// A program in valgrind, which counts its instructions and slows it down about 50 times. Unlike a time, the count does
/// not depend on other work of the machine.
struct CountedProcess {
    let process: ChildProcess
    private let file: String

    /// - Parameter file: the path of a new file for the count.
    init(_ path: String, _ arguments: [String], writing file: String) throws {
        self.file = file
        let tool = ["--tool=callgrind", "--callgrind-out-file=\(file)", "--log-file=/dev/null"]
        process = try ChildProcess("/usr/bin/valgrind", tool + [path] + arguments)
    }

    /// Waits for the end of the process, which the caller has asked to end, and returns the number of its instructions.
    func count() throws -> Double {
        process.finish()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let text = try? String(contentsOfFile: file, encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix("totals:") }
        guard let count = line?.split(separator: " ").last.flatMap({ Double($0) }) else {
            throw BenchmarkError("valgrind did not count the instructions of a process")
        }
        return count
    }
}
