/// Finds what somebody probably meant to write.
public enum Suggestion {
    /// Words beyond this length are not compared: the distance takes their product of time.
    private static let longest = 64

    /// The nearest of the known words, if it is near: one mistake in three letters or fewer. Capitals do not matter.
    public static func nearest(to word: String, among known: [String]) -> String? {
        guard word.count <= longest else { return nil }
        let ranked = known.map { (word: $0, distance: distance(word.lowercased(), $0.lowercased())) }
        // Of two equally near words the one that goes on as the word began: "turn of" was to be "turn off", not "turn on".
        let best = ranked.min {
            ($0.distance, -prefix($0.word, word)) < ($1.distance, -prefix($1.word, word))
        }
        guard let best else { return nil }
        return best.distance <= max(1, max(word.count, best.word.count) / 3) ? best.word : nil
    }

    private static func prefix(_ left: String, _ right: String) -> Int { zip(left, right).prefix { $0 == $1 }.count }

    /// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
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
