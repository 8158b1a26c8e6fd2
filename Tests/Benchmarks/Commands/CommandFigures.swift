/// Measures the time from the start to the end of commands of plugctl, in a house of three plugs with a daemon and a
/// year of history. The reference is the command of python-kasa for the same task, with a simulated plug of TP-Link at
/// a known address.
@Sendable
func commandFigures(_ setting: Setting) async throws -> [Figure] {
    let measured = try MeasuredLAN(
        by: "command_lan.py",
        [
            setting.program(), setting.programFolder(), "\(setting.times(365, few: 16))",
            "\(setting.times(11, few: 1))",
        ])
    let figures = try measuredCommands.map { command, kasa in
        let reference = try kasa.map { Figure.Reference(name: $0, value: try measured.median($0)) }
        return Figure(command, try measured.median(command), "ms", against: reference, .atMost(100))
    }
    // It also searches for plugs that it does not know. A question and its answer take up to 240 ms (RFC 6762, sections
    // 5.2 and 6), so it has no required value.
    return figures + [Figure("house --direct", try measured.median("house --direct"), "ms")]
}

/// The measured commands, with the reference if python-kasa has the task. The daemon, its history or a plug at its
/// recent address can answer each command.
private let measuredCommands: [(name: String, kasa: String?)] = [
    ("on", "kasa on"), ("off", "kasa off"), ("toggle", "kasa toggle"), ("toggle, repeated at once", "kasa toggle"),
    ("dim", "kasa light"), ("info", "kasa state"), ("house", nil), ("history", "kasa energy"), ("chart", nil),
    ("chart --energy", nil), ("rules state", nil), ("rules explain", nil), ("toggle --direct", "kasa toggle"),
    ("toggle --direct, repeated at once", "kasa toggle"),
]
