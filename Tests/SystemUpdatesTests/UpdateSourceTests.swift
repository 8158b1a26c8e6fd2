import Foundation
import SystemUpdates
import TestSupport
import Testing

@Suite struct UpdateSourceTests {
    private let folder = TestFolder()

    private func write(_ name: String, _ text: String) throws {
        try text.write(toFile: folder.path + "/" + name, atomically: true, encoding: .utf8)
    }

    @Test("The newest system of a board is the one in its description")
    func theNewestSystemIsTheDescribedOne() async throws {
        try write("board.json", #"{"board": "board", "system": "2", "bundle": "new.raucb", "later": 1}"#)
        try write("new.raucb", "hsqs and more")
        let source = try UpdateSource(folder.path)
        let newest = try await source.newest(for: "board")
        #expect(newest?.system == "2")
        #expect(try await source.bundle(newest).size == 13)
    }

    @Test(
        "A description of another board, with a path or without a version is rejected",
        arguments: [
            "", "{}", #"{"board": "other", "system": "2", "bundle": "a"}"#,
            #"{"board": "board", "system": "", "bundle": "a"}"#, #"{"board": "board", "system": "2", "bundle": ".a"}"#,
            #"{"board": "board", "system": "2", "bundle": "../a"}"#,
            #"{"board": "board", "system": 2, "bundle": "a"}"#, "[" + String(repeating: "[", count: 4000),
        ])
    func otherDescriptionsAreRejected(_ text: String) async throws {
        try write("board.json", text)
        let source = try UpdateSource(folder.path)
        let error = await #expect(throws: SystemUpdateError.self) { try await source.newest(for: "board") }
        #expect(error == .notDescribed(path: folder.path + "/board.json", board: "board"))
    }

    @Test("The board is the name of a file, and never a path", arguments: ["", "../board", "a/b", ".board"])
    func aBoardIsNoPath(_ board: String) async throws {
        let source = try UpdateSource(folder.path)
        await #expect(throws: SystemUpdateError.unknownBoard) { try await source.newest(for: board) }
    }

    @Test("A missing or oversized file is reported with its path") func missingFilesAreReported() async throws {
        let source = try UpdateSource(folder.path)
        try write("large.json", String(repeating: " ", count: 5000))
        for board in ["board", "large"] {
            let error = await #expect(throws: SystemUpdateError.self) { try await source.newest(for: board) }
            #expect(error.map { "\($0)".contains("\(board).json") } == true)
        }
        #expect(throws: SystemUpdateError.self) { try UpdateSource(folder.path + "/none.raucb") }
        try write("letter", "hello")
        #expect(throws: SystemUpdateError.self) { try UpdateSource(folder.path + "/letter") }
    }
}
