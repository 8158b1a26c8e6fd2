import Foundation

/// The measurements of a program of Tests/BenchmarkReferences on links of network namespaces: values by name.
struct MeasuredLAN {
    private struct Line: Decodable {
        let name: String
        let value: Double
    }

    private var values: [String: [Double]] = [:]

    /// Runs the program to its end and parses its lines of JSON.
    init(by program: String, _ arguments: [String]) throws {
        let child = try ChildProcess(
            "Tests/Interoperability/isolated",
            [".build-python/bin/python", "Tests/BenchmarkReferences/\(program)"] + arguments)
        defer { child.finish() }
        while let line = child.line() {
            let told = try JSONDecoder().decode(Line.self, from: Data(line.utf8))
            values[told.name, default: []].append(told.value)
        }
    }

    /// Returns all values of a name, in the order of output.
    /// - Throws: ``BenchmarkError`` if the name has no values.
    func all(_ name: String) throws -> [Double] {
        guard let measured = values[name] else { throw BenchmarkError("\"\(name)\" was not measured") }
        return measured
    }

    func median(_ name: String) throws -> Double { try all(name).median }
}
