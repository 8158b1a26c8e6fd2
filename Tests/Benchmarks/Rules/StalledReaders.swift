import Foundation

/// Measures the time from a press to the command of a rule while a reader of the daemon's events stalls: a pipe that no
/// program reads, the disk of the history, and browsers, on a LAN of network namespaces.
func stalledReaderFigures(_ setting: Setting) throws -> [Figure] {
    let measured = try MeasuredLAN(by: "stalled_readers.py", [setting.programFolder(), "\(setting.times(60, few: 5))"])
    let undisturbed = try measured.all("undisturbed")
    return try ["unread pipe", "stalled disk", "silent browsers"].flatMap { name in
        let times = try measured.all(name)
        return [
            Figure(
                "press to a rule's command, \(name)", times.median * 1000, "µs",
                against: Figure.Reference(name: "the same undisturbed", value: undisturbed.median * 1000),
                .ratioAtMost(1.2)),
            Figure(
                "its 99th percentile", times.slowest(in: 100) * 1000, "µs",
                against: Figure.Reference(name: "the same undisturbed", value: undisturbed.slowest(in: 100) * 1000)),
        ]
    }
}

extension [Double] {
    /// Returns the time that one of `count` measurements reaches or exceeds, such as the 99th percentile for 100.
    fileprivate func slowest(in count: Int) -> Double { sorted()[self.count - 1 - (self.count - 1) / count] }
}
