import Foundation

/// `benchmarks [NAME...] [--json] [--full | --quick] --references FOLDER`: measures speed and size. The reference of a
/// figure, if it has one, is measured in the same run. `Scripts/bench` builds this program, pins it to one core and
/// runs it.
@main
enum Benchmarks {
    /// The groups by name, in the order in which they run.
    static let groups: [(name: String, run: @Sendable (Setting) async throws -> [Figure])] = [
        ("wire", wireFigures), ("security", securityFigures), ("mdns", discoveryFigures),
        ("addressing", addressingFigures), ("hardware", hardwareFigures), ("history", historyFigures),
        ("dashboard", dashboardFigures), ("rules", ruleFigures), ("broker", brokerFigures),
        ("homekit", homeKitFigures), ("matter", matterFigures), ("sleep-proxy", sleepProxyFigures),
        ("wide-area", wideAreaFigures), ("cli", commandFigures), ("image", imageFigures),
        ("fleet", { try await fleetFigures($0) + fleetBrokerFigures($0) }),
    ]

    static func main() async {
        do {
            var arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == Peer.flag {
                return try await Peer.run(arguments.dropFirst())
            }
            let isJSON = arguments.removeAll(named: "--json")
            let isFull = arguments.removeAll(named: "--full")
            let isQuick = arguments.removeAll(named: "--quick")
            guard !(isFull && isQuick) else { throw WrongUsage("--full and --quick exclude each other") }
            guard let references = arguments.removeOption("--references") else {
                throw BenchmarkError("--references is missing: the folder of the compiled reference programs")
            }
            let setting = Setting(references: references, isFull: isFull, isQuick: isQuick)
            try await run(named: arguments, in: setting, isJSON: isJSON)
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(error is WrongUsage ? 64 : 1)
        }
    }

    /// Throws if an expected figure was not measured. Exits with 1 if a figure misses its bar, except in the short
    /// form.
    private static func run(named names: [String], in setting: Setting, isJSON: Bool) async throws {
        let known = groups.map(\.name)
        if let unknown = names.first(where: { !known.contains($0) }) {
            throw WrongUsage("unknown benchmark \"\(unknown)\"; the benchmarks are: \(known.joined(separator: ", "))")
        }
        var allHold = true
        for group in groups where names.isEmpty || names.contains(group.name) {
            let figures = try await group.run(setting)
            allHold = allHold && figures.allSatisfy(\.holds)
            print(isJSON ? try jsonLines(figures, group: group.name) : table(figures, group: group.name))
            try ExpectedFigures.check(figures, of: group.name)
        }
        exit(allHold || setting.isQuick ? 0 : 1)
    }
}

/// The options of a run, for all groups.
struct Setting: Sendable {
    /// The folder of the compiled programs of Tests/BenchmarkReferences.
    var references: String
    /// True for the long form.
    var isFull: Bool
    /// True for the short form, which takes few samples. It only proves that each figure can be measured.
    var isQuick: Bool
    /// The seconds for which the messages of an idle host are counted.
    var idleSeconds: Int { isFull ? 600 : isQuick ? 5 : 120 }
    /// The folder of recorded appliances, which is not part of the repository. Without it, only the simulated models of
    /// appliances are measured.
    let traces = "../shared/traces"
    /// The number of runs of each measurement, which alternate with runs of the references. The figure is the median.
    var rounds: Int { isQuick ? 1 : 5 }
    /// Returns `few` in the short form, `count` otherwise.
    func times(_ count: Int, few: Int) -> Int { isQuick ? few : count }

    /// Returns the path of this program.
    func program() throws -> String { try Peer.program() }
    /// Returns the folder of this program, plugd and plugctl, with a slash at its end.
    func programFolder() throws -> String { URL(filePath: try program()).deletingLastPathComponent().path() }
}

/// The reason why a benchmark could not run.
struct BenchmarkError: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

struct WrongUsage: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

extension [String] {
    /// Removes the flag and returns whether it was present.
    fileprivate mutating func removeAll(named flag: String) -> Bool {
        let count = count
        removeAll { $0 == flag }
        return self.count < count
    }

    fileprivate mutating func removeOption(_ name: String) -> String? {
        guard let index = firstIndex(of: name), index + 1 < count else { return nil }
        defer { removeSubrange(index...index + 1) }
        return self[index + 1]
    }
}
