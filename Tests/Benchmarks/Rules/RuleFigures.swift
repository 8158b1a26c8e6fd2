/// What rules cost: the engine alone, a month of ten plugs run again, the daemon from an event to the command that answers it, by a
/// rule and by a script, and many events through a script.
@Sendable
func ruleFigures(_ setting: Setting) async throws -> [Figure] {
    try await engineFigures() + MonthOfAHouse(days: setting.times(30, few: 4)).figures() + answering(setting)
        + ScriptFigures().figures()
}
