import Foundation

/// What was measured in the guest of Tests/HardwareInTheLoop: values by name, in the order in which they were told.
struct MeasuredGuest {
    /// What the script in the guest puts before a value and its name.
    private static let mark = "measured "
    /// A guest that hangs is ended after so long; the longest needs half of it.
    private static let limitSeconds = 600

    private var values: [String: [Double]] = [:]

    /// Boots it and waits for its end.
    ///
    /// - Parameters:
    ///   - script: of Tests/BenchmarkReferences.
    ///   - last: what it tells last, and how often.
    ///   - options: of guest/boot.
    ///   - programs: those that it needs; the compiled references are there too.
    init(
        _ script: String, last: (name: String, count: Int), options: [String], programs: [String], _ setting: Setting
    ) throws {
        let folder = try setting.programFolder()
        let references = ["edge_to_line", "press_poller", "process_rest", "start_to_button"]
        // The guest's scripts look whether the last one is there.
        let scripts = ([script, "guest_plug.sh"] + (setting.isQuick ? ["guest_quick.sh"] : [])).map {
            "Tests/BenchmarkReferences/" + $0
        }
        // On whatever cores there are.
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
        // All is told in order, so the last tells that all is there.
        guard values[last.name]?.count == last.count else {
            throw Complaint("the guest did not measure everything; it said:\n" + others.joined(separator: "\n"))
        }
    }

    func all(_ name: String) throws -> [Double] {
        guard let measured = values[name] else { throw Complaint("\"\(name)\" was not measured in the guest") }
        return measured
    }
}
