import Foundation
import LinuxSystem
import PlugModel
import TestSupport
import Testing

@testable import Daemon
@testable import DurableRules

@Suite("The stored state of rules")
struct RuleStoreTests {
    private func opened(_ path: String) throws -> (store: RuleStore, said: [String]) {
        var said: [String] = []
        let store = try RuleStore(path) { said.append($0) }
        return (store, said)
    }

    @Test("While the disk is full, the state is written to the reserve files, and the next process reads it from them")
    func fullDisk() throws {
        let directory = TestFolder()
        let disk = FailingWrites()
        var memory = StoredRuleState()
        func stored(_ name: String, isFull: Bool) throws -> RuleStore.Outcome {
            memory.meet(PlugID(rawValue: "aaaaaaaaaaaa")!, name)
            let store = try RuleStore(directory.path, files: FileStore(calls: disk)) { Issue.record("\($0)") }
            defer { store.giveBack() }
            disk.fails = isFull
            defer { disk.fails = false }
            return try store.write(memory)
        }
        func read() throws -> StoredRuleState {
            let store = try RuleStore(directory.path) { Issue.record("\($0)") }
            defer { store.giveBack() }
            return store.memory
        }
        #expect(try stored("Lamp", isFull: false).diskError == nil)
        for name in ["Light", "Spot", "Torch"] {
            #expect(try stored(name, isFull: true).diskError?.reason == .system(.noSpace))
            #expect(try read() == memory)
        }
        /// Returns the counter of the entry in a reserve file; the newer entry has the greater counter. The counter is
        /// stored after the file's header and the checksum.
        func newness(_ file: Int) throws -> [UInt8] {
            Array(try Data(contentsOf: URL(filePath: "\(directory.path)/reserve.\(file)"))[32..<40])
        }
        // After a write to the file `rules`, the older reserve entries are ignored.
        #expect(try stored("Lantern", isFull: false).diskError == nil)
        #expect(try read() == memory)
        // If the newest entry is damaged, the previous one is read. If both are damaged, the file `rules` is read.
        var expected = [memory]
        for name in ["Moon", "Sun"] {
            _ = try stored(name, isFull: true)
            expected.append(memory)
        }
        for number in try [0, 1].sorted(by: { try newness($1).lexicographicallyPrecedes(newness($0)) }) {
            expected.removeLast()
            let path = URL(filePath: "\(directory.path)/reserve.\(number)")
            var bytes = try Data(contentsOf: path)
            bytes[60] ^= 1
            try bytes.write(to: path)
            #expect(try read() == expected.last)
        }
    }

    @Test("The first start has an empty state, and a second process is rejected")
    func first() throws {
        let directory = TestFolder()
        let (store, said) = try opened(directory.path + "/deep/down")
        #expect(store.memory == StoredRuleState() && said.isEmpty)
        let error = #expect(throws: FileError.self) { try opened(directory.path + "/deep/down") }
        guard case .held = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        withExtendedLifetime(store) {}
    }

    @Test(
        "A foreign, oversized or damaged file is renamed, and the rules begin with an empty state",
        arguments: [
            ("something else", "is damaged: it is not a file of this program"),
            (
                "smartplug-rules\u{6}" + String(repeating: " ", count: 16),
                "has format 6, but this program reads only up to 5"
            ),
            ("smartplug-rules\u{1}\u{0}", "at byte 17"),
            ("smartplug-rules\u{1}" + String(repeating: " ", count: 50), "its checksum is wrong"),
            (String(repeating: "smart", count: 1 << 22), "it is larger than 16777216 bytes"),
        ])
    func damaged(content: String, what: String) throws {
        let directory = TestFolder()
        let file = directory.path + "/rules"
        try Data(content.utf8).write(to: URL(fileURLWithPath: file))
        let (store, said) = try opened(directory.path)
        #expect(store.memory == StoredRuleState())
        #expect(
            said.count == 1 && said[0].contains(what)
                && said[0].contains("\nhint: no action is required; the file is kept as \(file).damaged"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file + ".damaged")) == Data(content.utf8))
        #expect(!FileManager.default.fileExists(atPath: file))
    }
}
