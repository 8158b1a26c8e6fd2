import LinuxSystem
import TestSupport
import Testing

@testable import HistoryDelivery

@Suite struct HouseIdentityTests {
    private let directory = TestFolder(on: .memory)

    @Test("The identity is created once per directory") func itIsDrawnOnceAndGoesWithItsDirectory() throws {
        let one = try HouseIdentity(in: directory.path + "/a")
        #expect(try HouseIdentity(in: directory.path + "/a") == one)
        #expect(try HouseIdentity(in: directory.path + "/b") != one)
        #expect(one.text.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
    }

    @Test("A damaged identity file is an error and is not replaced")
    func aFileThatSaysSomethingElseIsNotReplaced() throws {
        let path = directory.path + "/house-identity"
        for text in ["", "0123", "0123456789abcdef0123456789abcdeg", String(repeating: "0", count: 34)] {
            try FileStore().replace(path, with: Array(text.utf8))
            #expect(throws: HouseIdentity.Damaged.self) { try HouseIdentity(in: directory.path) }
            #expect(try FileStore().readIfPresent(path, limit: 100) == Array(text.utf8))
        }
    }
}
