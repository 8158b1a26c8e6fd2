/// Measures rules: the engine, a backtest of a month of ten plugs, the time from an event to the command of a rule or
/// of a script, and many events through a script.
@Sendable
func ruleFigures(_ setting: Setting) async throws -> [Figure] {
    try await engineFigures() + MonthOfAHouse(days: setting.times(30, few: 4)).figures() + answering(setting)
        + ScriptFigures().figures() + stalledReaderFigures(setting)
}
