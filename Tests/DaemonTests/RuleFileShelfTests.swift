import Automation
import DurableFiles
import Testing

@testable import Daemon

@Suite("Rule files that change")
struct RuleFileShelfTests {
    private func rule(_ name: String, _ plug: String = "Lamp") -> Rule {
        Rule(name: name, triggers: [.button(plug: "Hall", .single)], actions: [.toggle([plug])])
    }

    @Test("A broken file keeps its last good rules, and the others go on")
    func broken() {
        var shelf = RuleFileShelf()
        let first = shelf.take([("a", .rules([rule("A")])), ("b", .rules([rule("B")]))])
        #expect(first.rules == [rule("A"), rule("B")] && first.faults.isEmpty)
        let second = shelf.take([("a", .broken("a:1:1: error")), ("b", .rules([rule("B", "Fan")]))])
        #expect(second.rules == [rule("A"), rule("B", "Fan")])
        #expect(second.faults == [RuleFileFault(path: "a", words: "a:1:1: error", rules: ["A"])])
        let third = shelf.take([("a", .broken("a:1:1: error"))])
        #expect(third.rules == [rule("A")], "b is gone, and a is as good as it was")
        let fourth = shelf.take([("a", .rules([])), ("c", .broken("c"))])
        #expect(fourth.rules.isEmpty && fourth.faults == [RuleFileFault(path: "c", words: "c", rules: [])])
    }

    @Test("A directory that cannot be read keeps the rules of its files, with one fault")
    func vanished() {
        var shelf = RuleFileShelf()
        let files = [("d/b.yaml", rule("B")), ("d/a.yaml", rule("A")), ("da.yaml", rule("C"))]
        _ = shelf.take(files.map { ($0, .rules([$1])) })
        for _ in 1...2 {
            let set = shelf.take([("d", .broken("d: gone"))])
            #expect(set.rules == [rule("A"), rule("B")])
            #expect(set.faults == [RuleFileFault(path: "d", words: "d: gone", rules: ["A", "B"])])
        }
        // Back again, and without one of them.
        let set = shelf.take([("d/a.yaml", .broken("d/a.yaml:1:1"))])
        #expect(set.rules == [rule("A")] && set.faults.map(\.rules) == [["A"]])
    }

    @Test("A name in two files breaks the later one")
    func twice() {
        var shelf = RuleFileShelf()
        _ = shelf.take([("a", .rules([])), ("b", .rules([rule("B"), rule("C")]))])
        let set = shelf.take([("a", .rules([rule("B", "Fan")])), ("b", .rules([rule("B"), rule("C")]))])
        #expect(set.rules == [rule("B", "Fan"), rule("C")])
        #expect(set.faults.map(\.rules) == [["C"]])
        #expect(set.faults[0].words == "b: a rule named \"B\" is in a already\nhint: rename one of them")
    }

    @Test("More rules than a house may have are refused by the file")
    func many() {
        var shelf = RuleFileShelf()
        let files = (0..<5).map { file in
            ("\(file)", RuleFileReading.rules((0..<1000).map { rule("\(file) \($0)") }))
        }
        let set = shelf.take(files)
        #expect(set.rules.count == 4000 && set.faults.map(\.path) == ["4"])
    }

    @Test("A change is taken when two looks agree, and once")
    func looks() {
        func look(_ bytes: Int64) -> RuleFileWatch.Look {
            ["a": FileStamp(bytes: bytes, modifiedNanoseconds: 1, changedNanoseconds: 1, inode: 1)]
        }
        var watch = RuleFileWatch(look(1))
        let taken = [1, 2, 3, 3, 3, 1, 1].map { watch.isChanged(look($0)) }
        #expect(taken == [false, false, false, true, false, false, true])
        #expect([[:], look(1), [:], [:]].map { watch.isChanged($0) } == [false, false, false, true])
    }

    @Test("Names, sizes and files that were replaced show in a directory")
    func directory() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        for (name, text) in [("b.yml", "b"), ("a.yaml", "a"), ("notes.txt", "n")] {
            try FileStore().replace(path + "/" + name, with: Array(text.utf8))
        }
        #expect(RulesDirectory.files(in: [path, path + "/a.yaml"]) == [path + "/a.yaml", path + "/b.yml"])
        #expect(RulesDirectory.files(in: ["/nowhere"]) == ["/nowhere"])
        let before = try #require(FileStamp(of: path + "/a.yaml"))
        try FileStore().replace(path + "/a.yaml", with: Array("b".utf8))
        #expect(FileStamp(of: path + "/a.yaml") != before && FileStamp(of: path + "/none") == nil)
    }
}
