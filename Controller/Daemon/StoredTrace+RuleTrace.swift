public import Automation
import Foundation
public import PowerHistory

extension StoredTrace {
    /// Encodes a trace for the history, as JSON.
    public init(_ trace: RuleTrace) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(trace) else {
            preconditionFailure("a trace contains only finite numbers")
        }
        self.init(
            id: trace.id, at: trace.at, rule: trace.rule, isFiring: trace.outcome == .fired,
            json: String(decoding: json, as: UTF8.self), isPart: trace.isPart ?? false)
    }
}

extension RuleTrace {
    /// Decodes a stored trace; nil if it is damaged or has the format of a later version.
    public init?(_ stored: StoredTrace) {
        guard let trace = try? JSONDecoder().decode(RuleTrace.self, from: Data(stored.json.utf8)) else { return nil }
        self = trace
    }
}
