import Foundation
import Glibc
import LinuxSystem
import RuleModel
import Synchronization
import TestSupport
import Testing

@testable import Scripting

@testable import Daemon

@Suite("Rule files that change")
struct RuleFileShelfTests {
    private func rule(_ name: String, _ plug: String = "Lamp") -> Rule {
        Rule(name: name, triggers: [.button(plug: "Hall", .single)], actions: [.toggle([plug])])
    }

    @Test("A broken file keeps its last valid rules, and the other files are updated")
    func broken() {
        var shelf = RuleFileCache()
        let first = shelf.update([("a", .rules([rule("A")])), ("b", .rules([rule("B")]))])
        #expect(first.rules == [rule("A"), rule("B")] && first.faults.isEmpty)
        let second = shelf.update([("a", .broken("a:1:1: error")), ("b", .rules([rule("B", "Fan")]))])
        #expect(second.rules == [rule("A"), rule("B", "Fan")])
        #expect(second.faults == [RuleFileFault(path: "a", words: "a:1:1: error", rules: ["A"])])
        let third = shelf.update([("a", .broken("a:1:1: error"))])
        #expect(
            third.rules == [rule("A")],
            "the rules of the missing file must be removed, and those of the broken file kept")
        let fourth = shelf.update([("a", .rules([])), ("c", .broken("c"))])
        #expect(fourth.rules.isEmpty && fourth.faults == [RuleFileFault(path: "c", words: "c", rules: [])])
    }

    @Test("If a directory cannot be read, the rules of its files stay active, and one fault is reported")
    func vanished() {
        var shelf = RuleFileCache()
        let files = [("d/b.yaml", rule("B")), ("d/a.yaml", rule("A")), ("da.yaml", rule("C"))]
        _ = shelf.update(files.map { ($0, .rules([$1])) })
        for _ in 1...2 {
            let set = shelf.update([("d", .broken("d: gone"))])
            #expect(set.rules == [rule("A"), rule("B")])
            #expect(set.faults == [RuleFileFault(path: "d", words: "d: gone", rules: ["A", "B"])])
        }
        // The directory is readable again, without one of the files.
        let set = shelf.update([("d/a.yaml", .broken("d/a.yaml:1:1"))])
        #expect(set.rules == [rule("A")] && set.faults.map(\.rules) == [["A"]])
    }

    @Test("If two files contain a rule with the same name, the file that is later in the list is rejected")
    func twice() {
        var shelf = RuleFileCache()
        _ = shelf.update([("a", .rules([])), ("b", .rules([rule("B"), rule("C")]))])
        let set = shelf.update([("a", .rules([rule("B", "Fan")])), ("b", .rules([rule("B"), rule("C")]))])
        #expect(set.rules == [rule("B", "Fan"), rule("C")])
        #expect(set.faults.map(\.rules) == [["C"]])
        #expect(set.faults[0].words == "b: the rule name \"B\" is already used in a\nhint: rename one of the two rules")
    }

    private func script(_ name: String, _ lines: Int...) -> Script {
        let rules = lines.enumerated().map { index, line in
            Rule(
                name: "\(name):\(line)", triggers: [.button(plug: "Hall", .single)],
                actions: [.call(ScriptHandler(script: name, index: index))])
        }
        return Script(name: name, source: "\(lines)", rules: rules, log: [])
    }

    @Test("A script is loaded with its rules, and its last valid version stays active if the file breaks")
    func scripts() {
        var shelf = RuleFileCache()
        let hall = script("hall.lua", 1, 5)
        let first = shelf.update([("d/a.yaml", .rules([rule("A")])), ("d/hall.lua", .script(hall))])
        #expect(first.rules.map(\.name) == ["A", "hall.lua:1", "hall.lua:5"] && first.scripts == [hall])
        let second = shelf.update([("d/hall.lua", .broken("d/hall.lua:2:1: error"))])
        #expect(second.scripts == [hall] && second.rules == hall.rules)
        #expect(second.faults.map(\.rules) == [["hall.lua:1", "hall.lua:5"]])
        let third = shelf.update([("d/hall.lua", .script(script("hall.lua", 1)))])
        #expect(third.scripts == [script("hall.lua", 1)] && third.faults.isEmpty)
        #expect(shelf.update([]).scripts.isEmpty)
    }

    @Test("A second script with the same name and scripts above the limit are rejected")
    func manyScripts() {
        var shelf = RuleFileCache()
        let twice = shelf.update([("a/x.lua", .script(script("x.lua", 1))), ("b/x.lua", .script(script("x.lua", 2)))])
        #expect(twice.scripts.count == 1 && twice.faults.map(\.path) == ["b/x.lua"])
        #expect(twice.faults[0].words.hasPrefix("b/x.lua: another script is already called x.lua\nhint: "))
        let many = shelf.update((0...64).map { ("\($0).lua", .script(script("\($0).lua", 1))) })
        #expect(many.scripts.count == 64 && many.faults.map(\.path) == ["64.lua"])
    }

    @Test("Of two scripts with one name, the one that is already active stays active, even if its file breaks")
    func ranBefore() {
        var shelf = RuleFileCache()
        let (first, second) = (script("x.lua", 1), script("x.lua", 2))
        _ = shelf.update([("b/x.lua", .script(second))])
        for reading in [.script(second), .broken("b/x.lua:1:1: error")] as [RuleFileReading] {
            let set = shelf.update([("a/x.lua", .script(first)), ("b/x.lua", reading)])
            #expect(set.scripts == [second] && set.faults.first?.path == "a/x.lua")
        }
        let whole = shelf.update([("a/x.lua", .script(first)), ("b", .broken("b: gone"))])
        #expect(whole.scripts == [second])
        let set = shelf.update([("a/x.lua", .script(first))])
        #expect(set.scripts == [first] && set.faults.isEmpty)
    }

    @Test("A file whose rules would exceed the limit for all files is rejected")
    func many() {
        var shelf = RuleFileCache()
        let files = (0..<5).map { file in
            ("\(file)", RuleFileReading.rules((0..<1000).map { rule("\(file) \($0)") }))
        }
        let set = shelf.update(files)
        #expect(set.rules.count == 4000 && set.faults.map(\.path) == ["4"])
    }

    @Test("Conflicts between files are found before the rules run")
    func conflicts() {
        let scripts = (0...64).map { ("\($0).lua", RuleFileReading.script(script("\($0).lua", 1))) }
        let beyond = RuleFileSet.conflicts(in: scripts + [("y/3.lua", .script(script("3.lua", 7)))])
        #expect(beyond.map(\.path) == ["64.lua", "y/3.lua"])
        #expect(
            beyond.map(\.message) == ["there are more than 64 scripts", "another script is already called 3.lua"])
        let files = (0..<5).map { file in
            ("\(file)", RuleFileReading.rules((0..<1000).map { rule("\($0)") }))
        }
        let rules = RuleFileSet.conflicts(in: files + [("broken", .broken("broken:1:1"))])
        #expect(rules.map(\.path) == ["4"] && rules[0].message == "there are more than 4096 rules")
        #expect(RuleFileSet.conflicts(in: Array(scripts.dropLast())).isEmpty)
    }

    @Test("A change is accepted once, when two consecutive polls find the same files")
    func looks() {
        func look(_ bytes: Int64) -> RuleFileWatch.Look {
            ["a": FileStamp(bytes: bytes, modifiedNanoseconds: 1, changedNanoseconds: 1, inode: 1)]
        }
        var watch = RuleFileWatch(look(1))
        let taken = [1, 2, 3, 3, 3, 1, 1].map { watch.isChanged(look($0)) }
        #expect(taken == [false, false, false, true, false, false, true])
        #expect([[:], look(1), [:], [:]].map { watch.isChanged($0) } == [false, false, false, true])
    }

    @Test("The rule files of a directory exclude hidden files, and a replaced file has a new stamp")
    func directory() throws {
        let directory = TestFolder()
        let path = directory.path
        for (name, text) in [("b.yml", "b"), ("a.yaml", "a"), ("c.lua", "c"), ("notes.txt", "n")] {
            try FileStore().replace(path + "/" + name, with: Array(text.utf8))
        }
        // Files of editors and of macOS, and files that the user has hidden, are ignored.
        for name in ["._a.yaml", ".a.yaml.swp", "a.yaml~", "#a.yaml#", "4913", ".hidden.lua", ".yml"] {
            try FileStore().replace(path + "/" + name, with: [0xFF])
        }
        symlink("person@host.1234:1", path + "/.#a.yaml")
        #expect(
            RulesDirectory.files(in: [path, path + "/a.yaml"]).files
                == ["/a.yaml", "/b.yml", "/c.lua"].map { path + $0 })
        #expect(RulesDirectory.files(in: ["/nowhere"]).files == ["/nowhere"])
        let before = try #require(FileStamp(of: path + "/a.yaml"))
        try FileStore().replace(path + "/a.yaml", with: Array("b".utf8))
        #expect(FileStamp(of: path + "/a.yaml") != before && FileStamp(of: path + "/none") == nil)
    }

    @Test("A path that may be missing is not a fault, and is read when it exists")
    func aPathMayBeMissing() async throws {
        let folder = TestFolder()
        let path = folder.path + "/rules"
        func read() async -> RuleFileSet {
            await RulesDirectory([path], mayBeMissing: true) { _ in
                .rules([Rule(name: "A", triggers: [], actions: [])])
            }.current
        }
        let before = await read()
        #expect(before.rules.isEmpty && before.faults.isEmpty)
        try FileStore().replace(path, with: [])
        #expect(await read().rules.map(\.name) == ["A"])
    }

    @Test("A pipe among the rule files is reported, and the other files are read", .timeLimit(.minutes(1)))
    func pipe() async throws {
        let directory = TestFolder()
        try FileStore().replace(directory.path + "/b.yaml", with: Array("b".utf8))
        mkfifo(directory.path + "/a.yaml", 0o600)
        let set = await RulesDirectory([directory.path]) { path in
            do { _ = try FileStore().read(path, limit: 10) } catch { return .broken("\(error)") }
            return .rules([Rule(name: "B", triggers: [], actions: [])])
        }.current
        #expect(set.rules.map(\.name) == ["B"])
        #expect(
            set.faults.map(\.words) == ["cannot read \(directory.path)/a.yaml: it is a pipe, not a regular file"])
    }

    @Test("A file system that does not answer is reported, and its last rules stay active")
    func silence() {
        let stuck = Mutex(false)
        defer { stuck.withLock { $0 = false } }
        let files = RuleFileWatcher(["/rules"], patience: FileSystemTimeout(.milliseconds(50))) { path in
            while stuck.withLock({ $0 }) { usleep(1000) }
            return RulePathLook(at: path)
        }
        var shelf = RuleFileCache()
        let good = RuleFileReading.rules([Rule(name: "A", triggers: [], actions: [])])
        _ = shelf.update([("/rules/a.yaml", good)])
        stuck.withLock { $0 = true }
        let set = shelf.update(files.look().readings { _ in good })
        #expect(set.rules.map(\.name) == ["A"])
        #expect(
            set.faults == [
                RuleFileFault(
                    path: "/rules",
                    words: """
                        cannot read /rules: its file system does not respond
                        hint: check whether its file system responds: ls -l /rules
                        """, rules: ["A"])
            ])
    }

    @Test("A file system that does not answer blocks one thread and no other directory")
    func neighbour() throws {
        let stuck = Mutex((isStuck: true, looks: 0))
        defer { stuck.withLock { $0.isStuck = false } }
        let directory = TestFolder()
        let healthy = directory.path + "/a.yaml"
        try FileStore().replace(healthy, with: Array("a".utf8))
        let patience = FileSystemTimeout(.seconds(5), threads: 4)
        let files = RuleFileWatcher(["/stuck", directory.path], patience: patience) { path in
            guard path == "/stuck" else { return RulePathLook(at: path) }
            stuck.withLock { $0.looks += 1 }
            while stuck.withLock(\.isStuck) { usleep(1000) }
            return RulePathLook(at: path)
        }
        for _ in 0..<10 {
            let look = files.look()
            #expect(look.files == [healthy] && look.faults.map(\.path) == ["/stuck"])
        }
        #expect(stuck.withLock(\.looks) == 1)
        #expect(patience.within(place: "/elsewhere") { true } == true)
    }

    @Test("Files above the limit are reported")
    func tooMany() throws {
        let directory = TestFolder(on: .memory)
        for number in 0...RuleFileCache.maximumFiles {
            _ = FileManager.default.createFile(
                atPath: "\(directory.path)/\(10_000 + number).yaml", contents: nil)
        }
        let (files, faults) = RulesDirectory.files(in: [directory.path])
        #expect(files.count == RuleFileCache.maximumFiles)
        #expect(faults.count == 1 && faults[0].contains("10999.yaml are not read, because at most 1000 are allowed"))
    }
    @Test("Names above the limit of a directory are reported")
    func tooManyNames() {
        let directory = TestFolder(on: .memory)
        for number in 0...65_536 {
            _ = FileManager.default.createFile(atPath: "\(directory.path)/\(number).txt", contents: nil)
        }
        let (files, faults) = RulesDirectory.files(in: [directory.path])
        #expect(files.isEmpty)
        #expect(faults.count == 1 && faults[0].contains("only the first 65536 names are read"))
    }
}
