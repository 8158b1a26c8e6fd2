import Foundation
import TestSupport
import Testing

/// Runs programs of the system, which serve as independent implementations.
enum Program {
    struct Result {
        var status: Int32
        /// Standard output and standard error, merged.
        var output: String
    }

    /// Runs a program that must succeed. Returns its output.
    static func run(_ name: String, _ arguments: [String]) async throws -> String {
        let result = try await finish(name, arguments)
        try #require(result.status == 0, "\(name) \(arguments): \(result.output)")
        return result.output
    }

    /// Runs a program and returns its status and output.
    static func finish(_ name: String, _ arguments: [String], input: String = "") async throws -> Result {
        let directory = TestFolder()
        let (inputPath, outputPath) = (directory.path + "/input", directory.path + "/output")
        try Data(input.utf8).write(to: URL(fileURLWithPath: inputPath))
        try Data().write(to: URL(fileURLWithPath: outputPath))
        let output = try #require(FileHandle(forWritingAtPath: outputPath))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.standardInput = FileHandle(forReadingAtPath: inputPath)
        process.standardOutput = output
        process.standardError = output
        let status = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return Result(
            status: status,
            output: String(decoding: try Data(contentsOf: URL(fileURLWithPath: outputPath)), as: UTF8.self))
    }
}
