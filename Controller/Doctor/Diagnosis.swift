/// Derives findings and hints from observations.
public enum Diagnosis {
    /// Returns the findings in the order of their dependencies: the subject of a finding can only work if the subjects
    /// of the earlier findings work.
    public static func findings(_ seen: Observations) -> [Finding] {
        ofInterfaces(seen) + ofPort(seen) + ofMulticast(seen) + ofDomains(seen) + ofServices(seen) + ofClock(seen.clock)
            + ofPlugs(seen)
            + ofSleep(seen)
    }

    /// The limit of names in one finding, since a network may have hundreds of hosts.
    private static let mostListed = 8

    static func list(_ names: [String]) -> String {
        let shown = names.prefix(mostListed).joined(separator: ", ")
        return names.count > mostListed ? shown + " and \(names.count - mostListed) more" : shown
    }

    /// Splits a message into its text and its hint.
    static func parts(_ words: String) -> (what: String, hint: String?) {
        let lines = words.split(separator: "\n").map(String.init)
        let hint = lines.first { $0.hasPrefix("hint: ") }.map { String($0.dropFirst("hint: ".count)) }
        return (lines.filter { !$0.hasPrefix("hint: ") }.joined(separator: "; "), hint)
    }
}
