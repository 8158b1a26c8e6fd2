/// Finds the known word that the user probably meant.
public enum Suggestion {
    /// The length limit of compared words. The cost of the distance is the product of both lengths.
    private static let longest = 64

    /// Returns the nearest known word if it differs by at most one mistake per three letters (one for shorter words).
    /// Ignores case.
    public static func nearest(to word: String, among known: [String]) -> String? {
        guard word.count <= longest else { return nil }
        let ranked = known.map { (word: $0, distance: distance(word.lowercased(), $0.lowercased())) }
        // Of two equally near words, the one with the longer common prefix wins: "turn of" becomes "turn off", not
        // "turn on".
        let best = ranked.min {
            ($0.distance, -prefix($0.word, word)) < ($1.distance, -prefix($1.word, word))
        }
        guard let best else { return nil }
        return best.distance <= max(1, max(word.count, best.word.count) / 3) ? best.word : nil
    }

    private static func prefix(_ left: String, _ right: String) -> Int { zip(left, right).prefix { $0 == $1 }.count }

    /// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn one word into the
    /// other.
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left)
        let right = Array(right)
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                var best = min(
                    last[column] + (left[row] == right[column] ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
