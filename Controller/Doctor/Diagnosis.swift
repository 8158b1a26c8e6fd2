/// What observations mean, and what to do about it.
public enum Diagnosis {
    /// In the order in which somebody would look: what stands further down rests on what stands above.
    public static func findings(_ seen: Observations) -> [Finding] {
        ofInterfaces(seen) + ofPort(seen) + ofMulticast(seen) + ofServices(seen) + ofClock(seen.clock) + ofPlugs(seen)
    }

    /// Names listed in one finding. A network has hundreds of hosts, and a person reads a few.
    private static let mostListed = 8

    static func list(_ names: [String]) -> String {
        let shown = names.prefix(mostListed).joined(separator: ", ")
        return names.count > mostListed ? shown + " and \(names.count - mostListed) more" : shown
    }

    /// What comes with a hint of its own, in its two parts.
    static func parts(_ words: String) -> (what: String, hint: String?) {
        let lines = words.split(separator: "\n").map(String.init)
        let hint = lines.first { $0.hasPrefix("hint: ") }.map { String($0.dropFirst("hint: ".count)) }
        return (lines.filter { !$0.hasPrefix("hint: ") }.joined(separator: "; "), hint)
    }
}
