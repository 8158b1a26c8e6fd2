import Automation
import DurableFiles
import Foundation
import PlugModel
import TestFolders
import Testing

@testable import Daemon

@Suite("What rules keep on disk")
struct RuleStoreTests {
    private func opened(_ path: String) throws -> (store: RuleStore, said: [String]) {
        var said: [String] = []
        let store = try RuleStore(path) { said.append($0) }
        return (store, said)
    }

    @Test("The first start finds nothing and says nothing; a second process is turned away")
    func first() throws {
        let directory = TestFolder()
        let (store, said) = try opened(directory.path + "/deep/down")
        #expect(store.memory == HouseMemory() && said.isEmpty)
        let error = #expect(throws: FileError.self) { try opened(directory.path + "/deep/down") }
        guard case .held = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        withExtendedLifetime(store) {}
    }

    @Test(
        "A file that is not ours, too large or cut short is kept aside, and the rules go on from now",
        arguments: [
            ("something else", "is damaged: it is not a file of this program"),
            ("smartplug-rules\u{5}" + String(repeating: " ", count: 16), "has format 5"),
            ("smartplug-rules\u{1}\u{0}", "ends at byte 17"),
            ("smartplug-rules\u{1}" + String(repeating: " ", count: 50), "its checksum is wrong"),
            (String(repeating: "smart", count: 1 << 22), "it is larger than 16777216 bytes"),
        ])
    func damaged(content: String, what: String) throws {
        let directory = TestFolder()
        let file = directory.path + "/rules"
        try Data(content.utf8).write(to: URL(fileURLWithPath: file))
        let (store, said) = try opened(directory.path)
        #expect(store.memory == HouseMemory())
        #expect(said.count == 1 && said[0].contains(what) && said[0].contains("\nhint: it is kept as \(file).damaged"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file + ".damaged")) == Data(content.utf8))
        #expect(!FileManager.default.fileExists(atPath: file))
    }
}
