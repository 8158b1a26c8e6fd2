public import Automation
import DurableFiles

/// What a rule file says, as whoever understands it read it.
public enum RuleFileReading: Sendable {
    case rules([Rule])
    /// What is wrong with it, over several lines.
    case broken(String)
}

/// What is to be run of rule files, and what is wrong with the others.
public struct RuleFileSet: Sendable {
    /// In the order of the files; no two share a name.
    public var rules: [Rule]
    public var faults: [RuleFileFault]

    public init(rules: [Rule], faults: [RuleFileFault] = []) {
        self.rules = rules
        self.faults = faults
    }
}

/// Rule files with the last good version of each: what one of them says goes on until it says something else that can be read.
struct RuleFileShelf {
    /// More than a house has; stops a directory of anything else from filling the memory.
    static let maximumFiles = 1000
    static let maximumRules = 4096

    private var good: [String: [Rule]] = [:]

    /// All files as they are now, each read anew, in their order.
    mutating func take(_ readings: [(path: String, reading: RuleFileReading)]) -> RuleFileSet {
        var all = RuleFileSet(rules: [])
        var owners: [String: String] = [:]
        var kept: [String: [Rule]] = [:]
        for (path, reading) in readings {
            let words: String
            switch reading {
            case .rules(let rules):
                if let conflict = conflict(of: rules, with: all.rules.count, owners) {
                    words = "\(path): \(conflict)"
                } else {
                    kept[path] = rules
                    all.rules += rules
                    for rule in rules { owners[rule.name] = path }
                    continue
                }
            case .broken(let fault): words = fault
            }
            var names: [String] = []
            for file in files(of: path) where kept[file] == nil {
                // What another file has taken over meanwhile is that one's.
                let last = (good[file] ?? []).filter { owners[$0.name] == nil }
                kept[file] = last.isEmpty ? nil : last
                all.rules += last
                for rule in last { owners[rule.name] = file }
                names += last.map(\.name)
            }
            all.faults.append(RuleFileFault(path: path, words: words, rules: names))
        }
        good = kept
        return all
    }

    /// The path itself; of a directory that cannot be read, the files that were in it: it may be back the next moment, as what a
    /// version control system or a network serves often is.
    private func files(of path: String) -> [String] {
        good[path] == nil ? good.keys.filter { $0.hasPrefix(path + "/") }.sorted() : [path]
    }

    private func conflict(of rules: [Rule], with count: Int, _ owners: [String: String]) -> String? {
        for rule in rules {
            if let owner = owners[rule.name] {
                return "a rule named \"\(rule.name)\" is in \(owner) already\nhint: rename one of them"
            }
        }
        guard count + rules.count <= Self.maximumRules else {
            return "with its rules there would be more than \(Self.maximumRules)\nhint: take some away"
        }
        return nil
    }
}

/// Which look at rule files shows a change that is done: two that agree with each other, and not with what was taken last. Whoever
/// writes a file does so in several steps, and nobody is to read half of it.
struct RuleFileWatch {
    /// A file that cannot be looked at has no stamp.
    typealias Look = [String: FileStamp?]

    private var taken: Look
    private var last: Look

    init(_ look: Look) { (taken, last) = (look, look) }

    /// - Returns: true where all files are to be read.
    mutating func isChanged(_ look: Look) -> Bool {
        defer { last = look }
        guard look != taken, look == last else { return false }
        taken = look
        return true
    }
}
