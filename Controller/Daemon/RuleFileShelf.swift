public import Automation
import DurableFiles
public import Scripting

/// What a rule file says, as whoever understands it read it.
public enum RuleFileReading: Sendable {
    case rules([Rule])
    case script(Script)
    /// What is wrong with it, over several lines.
    case broken(String)
}

/// What is to be run of rule files, and what is wrong with the others.
public struct RuleFileSet: Sendable {
    /// In the order of the files, those of scripts among them; no two share a name.
    public var rules: [Rule]
    /// What those of the rules call that scripts made; no two share a name.
    public var scripts: [Script]
    public var faults: [RuleFileFault]

    public init(rules: [Rule], scripts: [Script] = [], faults: [RuleFileFault] = []) {
        self.rules = rules
        self.scripts = scripts
        self.faults = faults
    }
}

extension RuleFileSet {
    /// Errors of files that cannot run together, by the path of each file that is refused, such as a script beyond the number of those
    /// that a house has. A name of two rules is not among them: ``RuleCheck`` finds it with its place.
    public static func conflicts(
        in readings: [(path: String, reading: RuleFileReading)]
    ) -> [(path: String, message: String, hint: String)] {
        RuleFileShelf().conflicts(in: readings)
    }
}

/// Rule files with the last good version of each: what one of them says goes on until it says something else that can be read.
struct RuleFileShelf {
    /// More than a house has; stops a directory of anything else from filling the memory.
    static let maximumFiles = 1000
    static let maximumRules = 4096
    /// Each is a process.
    static let maximumScripts = ScriptLimits.scripts

    private enum Conflict {
        case scriptName(String)
        case tooManyScripts
        case ruleName(String, owner: String)
        case tooManyRules

        var message: String {
            switch self {
            case .scriptName(let name): "another script is called \(name)"
            case .tooManyScripts: "with it there would be more than \(RuleFileShelf.maximumScripts) scripts"
            case .ruleName(let name, let owner): "a rule named \"\(name)\" is in \(owner) already"
            case .tooManyRules: "with its rules there would be more than \(RuleFileShelf.maximumRules)"
            }
        }

        var hint: String {
            switch self {
            case .scriptName: "give one of the two files another name"
            case .tooManyScripts: "put what belongs together into one"
            case .ruleName: "rename one of them"
            case .tooManyRules: "take some away"
            }
        }
    }

    /// What a file says.
    private struct Content {
        var rules: [Rule]
        var script: Script?
    }

    private var good: [String: Content] = [:]

    /// All files as they are now, each read anew, in their order.
    mutating func take(_ readings: [(path: String, reading: RuleFileReading)]) -> RuleFileSet {
        var all = RuleFileSet(rules: [])
        var owners: [String: String] = [:]
        var kept: [String: Content] = [:]
        let goingOn = goingOn(in: readings)
        func keep(_ content: Content, of path: String) {
            kept[path] = content
            all.rules += content.rules
            if let script = content.script { all.scripts.append(script) }
            for rule in content.rules { owners[rule.name] = path }
        }
        for (path, reading) in readings {
            let words: String
            switch Self.content(of: reading) {
            case .success(let content):
                let isSecond = content.script.map { goingOn[$0.name, default: path] != path } ?? false
                guard let conflict = conflict(of: content, isSecond: isSecond, with: all, owners) else {
                    keep(content, of: path)
                    continue
                }
                words = "\(path): \(conflict.message)\nhint: \(conflict.hint)"
            case .failure(let fault): words = fault.words
            }
            var names: [String] = []
            for file in files(of: path) where kept[file] == nil {
                guard let last = left(of: good[file], beside: all, owners) else { continue }
                keep(last, of: file)
                names += last.rules.map(\.name)
            }
            all.faults.append(RuleFileFault(path: path, words: words, rules: names))
        }
        good = kept
        return all
    }

    private struct Broken: Error {
        let words: String
    }

    private static func content(of reading: RuleFileReading) -> Result<Content, Broken> {
        switch reading {
        case .rules(let rules): .success(Content(rules: rules))
        case .script(let script): .success(Content(rules: script.rules, script: script))
        case .broken(let words): .failure(Broken(words: words))
        }
    }

    /// What goes on of a file's last good version: what another file has taken over meanwhile is that one's, and a script goes on as a
    /// whole or not at all.
    private func left(of content: Content?, beside all: RuleFileSet, _ owners: [String: String]) -> Content? {
        guard let content else { return nil }
        let rules = content.rules.filter { owners[$0.name] == nil }
        guard let script = content.script else { return rules.isEmpty ? nil : Content(rules: rules) }
        let isWhole = rules.count == content.rules.count && !all.scripts.contains { $0.name == script.name }
        return isWhole ? content : nil
    }

    /// The path itself; of a directory that cannot be read, the files that were in it: it may be back the next moment, as what a
    /// version control system or a network serves often is.
    private func files(of path: String) -> [String] {
        good[path] == nil ? good.keys.filter { $0.hasPrefix(path + "/") }.sorted() : [path]
    }

    /// The files of scripts that ran before and go on, by the scripts' names: what such a script keeps is not for another file of its name.
    private func goingOn(in readings: [(path: String, reading: RuleFileReading)]) -> [String: String] {
        var goingOn: [String: String] = [:]
        for (path, reading) in readings {
            for file in files(of: path) {
                guard let name = good[file]?.script?.name else { continue }
                switch reading {
                case .script, .broken: goingOn[name] = file
                case .rules: break
                }
            }
        }
        return goingOn
    }

    /// - Parameter isSecond: another file has a script of its name that goes on.
    private func conflict(
        of content: Content, isSecond: Bool, with all: RuleFileSet, _ owners: [String: String]
    ) -> Conflict? {
        if let script = content.script {
            if isSecond || all.scripts.contains(where: { $0.name == script.name }) { return .scriptName(script.name) }
            guard all.scripts.count < Self.maximumScripts else { return .tooManyScripts }
        }
        for rule in content.rules {
            if let owner = owners[rule.name] { return .ruleName(rule.name, owner: owner) }
        }
        return all.rules.count + content.rules.count <= Self.maximumRules ? nil : .tooManyRules
    }

    /// Files of a first reading that cannot run together with those before them; each counts for the files after it nevertheless, so that
    /// a name of two rules, which is not listed, hides no limit.
    fileprivate func conflicts(
        in readings: [(path: String, reading: RuleFileReading)]
    ) -> [(path: String, message: String, hint: String)] {
        var all = RuleFileSet(rules: [])
        var conflicts: [(path: String, message: String, hint: String)] = []
        for (path, reading) in readings {
            guard case .success(let content) = Self.content(of: reading) else { continue }
            if let conflict = conflict(of: content, isSecond: false, with: all, [:]) {
                conflicts.append((path, conflict.message, conflict.hint))
                continue
            }
            all.rules += content.rules
            if let script = content.script { all.scripts.append(script) }
        }
        return conflicts
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
