import Foundation

/// What was measured in the guest of Tests/HardwareInTheLoop: values by name, in the order in which they were told.
struct MeasuredGuest {
    /// What hardware_guest.sh puts before a value and its name.
    private static let mark = "measured "
    /// A guest that hangs is ended after so long; it needs half of it.
    private static let limitSeconds = 600

    private var values: [String: [Double]] = [:]

    /// Boots it and waits for its end.
    init(_ setting: Setting) throws {
        let folder = try setting.programFolder()
        // Two processors, as a board has at least, on whatever cores there are: on one the eye, which looks all the time, sees the
        // relay only once plugd has done all its work and sleeps.
        let child = try ChildProcess(
            "/usr/bin/taskset",
            ["--cpu-list", "0-1023", "Tests/HardwareInTheLoop/guest/boot"]
                + ["--cpus", "2", "--seconds", "\(Self.limitSeconds)", "Tests/BenchmarkReferences/hardware_guest.sh"]
                + ["plugd", "Benchmarks"].map { folder + $0 }
                + ["edge_to_line", "press_poller", "process_rest", "start_to_button"].map {
                    setting.references + "/" + $0
                })
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
        // It is told in this order, so the last tells that all is there.
        guard values["rest at 10 Hz"]?.count == 2 else {
            throw Complaint("the guest did not measure everything; it said:\n" + others.joined(separator: "\n"))
        }
    }

    func all(_ name: String) throws -> [Double] {
        guard let measured = values[name] else { throw Complaint("\"\(name)\" was not measured in the guest") }
        return measured
    }
}
