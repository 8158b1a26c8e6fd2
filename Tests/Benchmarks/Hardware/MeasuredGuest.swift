import Foundation

/// The measurements of a script in the guest of Tests/HardwareInTheLoop: values by name, in the order of output.
struct MeasuredGuest {
    /// The prefix of a line with a name and a value.
    private static let mark = "measured "
    /// The time after which the guest is ended even if its script still runs.
    private static let limitSeconds = 600

    private var values: [String: [Double]] = [:]

    /// Boots the guest, runs the script and waits for the end.
    ///
    /// - Parameters:
    ///   - script: the name of the script in Tests/BenchmarkReferences.
    ///   - last: the name of the last measurement, and the number of its values.
    ///   - options: the options of guest/boot.
    ///   - programs: the programs that the script needs, in addition to the compiled references.
    init(
        _ script: String, last: (name: String, count: Int), options: [String], programs: [String], _ setting: Setting
    ) throws {
        let folder = try setting.programFolder()
        let references = ["edge_to_line", "press_poller", "process_rest", "start_to_button"]
        // The guest's scripts take fewer samples if guest_quick.sh exists.
        let scripts = ([script, "guest_plug.sh"] + (setting.isQuick ? ["guest_quick.sh"] : [])).map {
            "Tests/BenchmarkReferences/" + $0
        }
        // The guest may use all cores.
        let child = try ChildProcess(
            "/usr/bin/taskset",
            ["--cpu-list", "0-1023", "Tests/HardwareInTheLoop/guest/boot", "--seconds", "\(Self.limitSeconds)"]
                + options
                + scripts + programs.map { folder + $0 } + references.map { setting.references + "/" + $0 })
        defer { child.finish() }
        var others: [String] = []
        while let line = child.line() {
            let words = line.dropFirst(Self.mark.count)
            if line.hasPrefix(Self.mark), let colon = words.firstIndex(of: ":"),
                let value = Double(words[colon...].dropFirst(2))
            {
                values[String(words[..<colon]), default: []].append(value)
            } else {
                others.append(line)
            }
        }
        // The measurements are in order, so the last one proves that all are present.
        guard values[last.name]?.count == last.count else {
            throw BenchmarkError("the guest did not measure everything; its output:\n" + others.joined(separator: "\n"))
        }
    }

    func all(_ name: String) throws -> [Double] {
        guard let measured = values[name] else { throw BenchmarkError("\"\(name)\" was not measured in the guest") }
        return measured
    }
}
