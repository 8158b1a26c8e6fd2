import Foundation

/// `benchmarks [NAME...] [--json] [--full | --quick] --references FOLDER`: everything this project claims about speed and size, each figure
/// beside its reference, measured in the same run. `Scripts/bench` builds it, pins it to one core and runs it.
@main
enum Benchmarks {
    /// The groups by name, in the order in which they run.
    static let groups: [(name: String, run: @Sendable (Setting) async throws -> [Figure])] = [
        ("wire", wireFigures), ("security", securityFigures), ("mdns", discoveryFigures),
        ("addressing", addressingFigures), ("hardware", hardwareFigures), ("history", historyFigures),
        ("dashboard", dashboardFigures), ("rules", ruleFigures), ("broker", brokerFigures),
        ("homekit", homeKitFigures),
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
                throw Complaint("--references is missing: the folder of the compiled reference programs")
            }
            let setting = Setting(references: references, isFull: isFull, isQuick: isQuick)
            try await run(named: arguments, in: setting, isJSON: isJSON)
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(error is WrongUsage ? 64 : 1)
        }
    }

    /// Ends with 1 when a figure is missing or was not measured, and in any but the quick form when one misses its bar.
    private static func run(named names: [String], in setting: Setting, isJSON: Bool) async throws {
        let known = groups.map(\.name)
        if let unknown = names.first(where: { !known.contains($0) }) {
            throw WrongUsage("there is no benchmark \"\(unknown)\"; there are: \(known.joined(separator: ", "))")
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

/// What every group may need to know of its surroundings.
struct Setting: Sendable {
    /// The folder that holds the compiled programs of Tests/BenchmarkReferences.
    var references: String
    /// The long form.
    var isFull: Bool
    /// The short form: everything is measured once or a few times, so that it shows that each figure can be had, and not how good it is.
    var isQuick: Bool
    /// How long it is counted what somebody says who has nothing to say.
    var idleSeconds: Int { isFull ? 600 : isQuick ? 5 : 120 }
    /// The folder of the recordings, which are not part of the project; without them only the models are measured.
    let traces = "../shared/traces"
    /// Each measurement is repeated so often, in turn with its references, and the median is taken.
    var rounds: Int { isQuick ? 1 : 5 }
    /// `count`, or in the short form `few`.
    func times(_ count: Int, few: Int) -> Int { isQuick ? few : count }

    /// This very program, and the folder in which plugd and plugctl stand beside it; with a slash at its end.
    func program() throws -> String { try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") }
    func programFolder() throws -> String { URL(filePath: try program()).deletingLastPathComponent().path() }
}

/// Something that kept a benchmark from running.
struct Complaint: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

struct WrongUsage: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

extension [String] {
    /// Whether the flag was there.
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
