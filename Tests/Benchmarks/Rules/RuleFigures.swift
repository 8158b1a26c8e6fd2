import Foundation
enum Environment { static let month = ProcessInfo.processInfo.environment.keys.contains { $0.hasPrefix("MONTH") } }
/// What rules cost: the engine alone, a month of ten plugs run again, and the daemon from an event to the command that answers it.
@Sendable
func ruleFigures(_ setting: Setting) async throws -> [Figure] {
    if Environment.month { _ = try MonthOfAHouse().figures() }
    return try await engineFigures() + MonthOfAHouse().figures() + answering(setting)
}
