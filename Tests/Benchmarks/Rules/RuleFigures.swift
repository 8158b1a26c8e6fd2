/// What rules cost: the engine alone, a month of ten plugs run again, and the daemon from an event to the command that answers it.
@Sendable
func ruleFigures(_ setting: Setting) async throws -> [Figure] {
    try await engineFigures() + MonthOfAHouse().figures() + answering(setting)
}
