import LinuxSystem
public import RuleModel
public import Scripting

/// The result of parsing a rule file.
public enum RuleFileReading: Sendable {
    /// The rules of a YAML file.
    case rules([Rule])
    /// The script of a Lua file.
    case script(Script)
    /// The message for an invalid file, which may have several lines.
    case broken(String)
}

/// The active content of rule files, and the faults of the files whose present content is not active.
public struct RuleFileSet: Sendable {
    /// The rules in the order of the files, including those of scripts. Their names are unique.
    public var rules: [Rule]
    /// The scripts that the rules call. Their names are unique.
    public var scripts: [Script]
    /// The faults of files, in the order of the files.
    public var faults: [RuleFileFault]

    /// Creates a set from its parts.
    public init(rules: [Rule], scripts: [Script] = [], faults: [RuleFileFault] = []) {
        self.rules = rules
        self.scripts = scripts
        self.faults = faults
    }
}

extension RuleFileSet {
    /// Returns the errors of valid files that cannot be active together, with the path of each rejected file. An
    /// example is a script above the limit for scripts. Duplicate rule names are not included, because ``RuleCheck``
    /// reports them with their location.
    public static func conflicts(
        in readings: [(path: String, reading: RuleFileReading)]
    ) -> [(path: String, message: String, hint: String)] {
        RuleFileCache().conflicts(in: readings)
    }
}

/// The last valid version of each rule file. It stays active until the file has a new valid version.
struct RuleFileCache {
    /// The maximum number of files. Prevents a directory with other content from filling the memory.
    static let maximumFiles = 1000
    /// The maximum number of rules in all files.
    static let maximumRules = 4096
    /// The maximum number of scripts. Each script is a process.
    static let maximumScripts = ScriptLimits.scripts

    private enum Conflict {
        case scriptName(String)
        case tooManyScripts
        case ruleName(String, owner: String)
        case tooManyRules

        var message: String {
            switch self {
            case .scriptName(let name): "another script is already called \(name)"
            case .tooManyScripts: "there are more than \(RuleFileCache.maximumScripts) scripts"
            case .ruleName(let name, let owner): "the rule name \"\(name)\" is already used in \(owner)"
            case .tooManyRules: "there are more than \(RuleFileCache.maximumRules) rules"
            }
        }

        var hint: String {
            switch self {
            case .scriptName: "rename one of the two files"
            case .tooManyScripts: "combine related scripts"
            case .ruleName: "rename one of the two rules"
            case .tooManyRules: "delete some rules"
            }
        }
    }

    /// The content of a valid file.
    private struct Content {
        var rules: [Rule]
        var script: Script?
    }

    private var good: [String: Content] = [:]

    /// Processes the current readings of all files, in their order, and returns the active rules and scripts with the
    /// faults of files.
    mutating func update(_ readings: [(path: String, reading: RuleFileReading)]) -> RuleFileSet {
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

    /// Returns the part of a file's last valid version that stays active. Rules that another file contains now are
    /// excluded. A script stays active completely or not at all.
    private func left(of content: Content?, beside all: RuleFileSet, _ owners: [String: String]) -> Content? {
        guard let content else { return nil }
        let rules = content.rules.filter { owners[$0.name] == nil }
        guard let script = content.script else { return rules.isEmpty ? nil : Content(rules: rules) }
        let isWhole = rules.count == content.rules.count && !all.scripts.contains { $0.name == script.name }
        return isWhole ? content : nil
    }

    /// Returns the file at the path, or the previously read files if the path is a directory that cannot be read. A
    /// directory of a version control system or a network file system may be unavailable for a short time.
    private func files(of path: String) -> [String] {
        good[path] == nil ? good.keys.filter { $0.hasPrefix(path + "/") }.sorted() : [path]
    }

    /// Returns the files whose scripts stay active, by the scripts' names. A script's stored state must not be passed
    /// to a different file with the same script name.
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

    /// Returns the first conflict of the content with the files before it, or nil.
    ///
    /// - Parameter isSecond: True if a different file contains the active script with this name.
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

    /// Returns the conflicts of each file of a first reading with the files before it. Duplicate rule names are not
    /// reported here, and a file with such a name counts toward the limits.
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

/// Detects completed changes of rule files. A change is complete if two consecutive snapshots of the files' stamps are
/// equal and differ from the last accepted snapshot. Programs write files in several steps, and a partly written file
/// must not be read.
struct RuleFileWatch {
    /// The stamp of each file; nil if the file cannot be examined.
    typealias Look = [String: FileStamp?]

    private var taken: Look
    private var last: Look

    /// Starts with a snapshot whose files are read now.
    init(_ look: Look) { (taken, last) = (look, look) }

    /// Compares a snapshot with the previous snapshot and with the last accepted snapshot.
    ///
    /// - Returns: True if all files must be read now.
    mutating func isChanged(_ look: Look) -> Bool {
        defer { last = look }
        guard look != taken, look == last else { return false }
        taken = look
        return true
    }
}
