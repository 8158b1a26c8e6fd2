import Foundation

/// Measures commands through the daemon of a house with three plugs, on a LAN of network namespaces, while an attacker
/// announces 1,000 nonexistent plugs per second. Half of the announcements have the id of a real plug.
func falseAnnouncementFigures(_ setting: Setting) throws -> [Figure] {
    let measured = try MeasuredLAN(
        by: "false_announcements.py",
        [setting.programFolder(), "\(setting.times(500, few: 50))", "\(setting.times(10, few: 3))"])
    let reference = Figure.Reference(name: "the same undisturbed", value: try measured.median("undisturbed") * 1000)
    return [
        Figure(
            "command of the daemon, 1000 false announcements a second", try measured.median("disturbed") * 1000, "µs",
            against: reference, .ratioAtMost(2)),
        Figure("rate of false announcements", try measured.median("announced a second"), "/s"),
    ]
}
