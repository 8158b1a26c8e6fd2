import Foundation
import LinuxSystem
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import PlugClient

/// The file with the paired plugs of a user.
@Suite struct PairedPlugsTests {
    private let folder = TestFolder()
    private var directory: String { folder.path + "/controller" }
    private var plugs: PairedPlugs { PairedPlugs(directory: directory) }
    private var file: String { directory + "/plugs" }
    private let lampID = PlugID(rawValue: "0123456789ab")!
    private let fanID = PlugID(rawValue: "ffffffffffff")!
    private var lampEntry: PairedPlugs.Entry { PairedPlugs.Entry(id: lampID, key: .plug, name: "Living Room Lamp") }
    private var fanEntry: PairedPlugs.Entry { PairedPlugs.Entry(id: fanID, key: .stranger, name: "Fan") }

    @Test("A renamed plug keeps its key and its position in the list")
    func aPlugThatIsCalledOtherwiseKeepsItsKeyAndItsPlace() async throws {
        try await plugs.add(lampEntry)
        try await plugs.add(fanEntry)
        try await plugs.rename(lampID, to: PlugNames(given: "Lounge", announced: "Lounge"))
        try await plugs.rename(PlugID(rawValue: "000000000000")!, to: PlugNames(given: "Nobody", announced: "Nobody"))
        #expect(try plugs.all() == [PairedPlugs.Entry(id: lampID, key: .plug, name: "Lounge"), fanEntry])
    }

    @Test("An unchanged name is not written again") func aNameThatItHasAlreadyIsNotWrittenAgain() async throws {
        try await plugs.add(lampEntry)
        let number = { try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? UInt64 }
        let before = try number()
        try await plugs.rename(lampID, to: PlugNames(given: lampEntry.name, announced: lampEntry.name))
        #expect(try number() == before)
        try await plugs.rename(lampID, to: PlugNames(given: "Lounge", announced: "Lounge"))
        #expect(try number() != before)
    }

    private func write(_ text: String, mode: Int = 0o600) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }

    private func refusal() -> PairedPlugsError? { #expect(throws: PairedPlugsError.self) { try plugs.all() } }

    @Test("A controller that was never paired has an empty list")
    func aControllerThatNeverPairedKnowsNobody() async throws {
        #expect(try plugs.all() == [])
        try await plugs.remove(lampID)
        #expect(try plugs.all() == [])
    }

    @Test("The file has one line per plug and is readable only by the user")
    func theFileHasALineForEachPlugAndNobodyElseReadsIt() async throws {
        try await plugs.add(lampEntry)
        try await plugs.add(fanEntry)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(
            text == """
                0123456789ab 0100000000000000 Living Room Lamp
                ffffffffffff 0300000000000000 Fan

                """)
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try plugs.all() == [lampEntry, fanEntry])
    }

    @Test("A plug that is paired again gets its new key and name")
    func aPlugThatIsPairedAgainGetsItsNewKeyAndName() async throws {
        try await plugs.add(lampEntry)
        try await plugs.add(fanEntry)
        let anew = PairedPlugs.Entry(id: lampID, key: .desk, name: "Lamp")
        try await plugs.add(anew, replacing: true)
        #expect(try plugs.all() == [fanEntry, anew])
        try await plugs.remove(fanID)
        #expect(try plugs.all() == [anew])
    }

    @Test("A plug that claims the id of a paired plug, but has a different key, is refused")
    func claimedID() async throws {
        try await plugs.add(lampEntry)
        let hostile = PairedPlugs.Entry(id: lampID, key: .stranger, name: "Garden Lamp")
        let error = await #expect(throws: PairedPlugsError.self) { try await plugs.add(hostile) }
        #expect(error == .pinned(lampEntry, claimedBy: "Garden Lamp"))
        let words = "\(try #require(error))"
        #expect(words.contains("\"Living Room Lamp\"") && words.contains("plugctl pair \"Garden Lamp\" --replace"))
        #expect(try plugs.all() == [lampEntry])
    }

    @Test("A plug that is paired again with its pinned or its next key gets its new name") func pairedAgain()
        async throws
    {
        var known = lampEntry
        known.nextKey = .desk
        try await plugs.add(known)
        for key in [PublicKey.desk, .plug] {
            try await plugs.add(known)
            let again = PairedPlugs.Entry(id: lampID, key: key, name: "Lamp")
            try await plugs.add(again)
            #expect(try plugs.all() == [again])
            try await plugs.remove(lampID)
        }
    }

    @Test("A plug does not get a name that differs from a paired plug's name only in capitals")
    func capitals() async throws {
        try await plugs.add(lampEntry)
        try await plugs.add(fanEntry)
        try await plugs.rename(fanID, to: PlugNames(given: "living room LAMP", announced: "living room LAMP"))
        #expect(try plugs.all().map(\.name) == ["Living Room Lamp", "Fan"])
    }

    /// An accent at the beginning of a name combines with the preceding space to one character.
    @Test(
        "Any name without a line feed is read back unchanged",
        arguments: ["", " ", "\u{301}clair", "Küche  \u{1F468}\u{200D}\u{1F469}", "a\r", "\u{2028}"])
    func anyNameComesBack(name: String) async throws {
        let plug = PairedPlugs.Entry(id: lampID, key: .plug, name: name)
        try await plugs.add(plug)
        try await plugs.add(fanEntry)
        #expect(try plugs.all() == [plug, fanEntry])
    }

    @Test("A line feed in a name is written as a space") func aNameMakesNoLineOfItsOwn() async throws {
        let name = "Lamp\nffffffffffff 00 Fan\r\n"
        try await plugs.add(PairedPlugs.Entry(id: lampID, key: .plug, name: name))
        #expect(try plugs.all().map(\.name) == ["Lamp ffffffffffff 00 Fan\r "])
    }

    @Test(
        "A damaged file is reported with the line number and is not replaced",
        arguments: [
            "0123456789ab", "0123456789ab 01", "0123456789ab  Lamp", "0123456789ab 0 Lamp", "0123456789ab 0g Lamp",
            "0123456789AB 01 Lamp", "0123456789ab 0A Lamp", "01234567 01 Lamp", " 0123456789ab 01 Lamp", "\u{FEFF}",
            "0123456789ab \(String(repeating: "00", count: PublicKey.longest + 1)) Lamp",
        ])
    func damageNamesItsLineAndIsNeverTakenForNoPlug(line: String) async throws {
        let text = "ffffffffffff 03 Fan\n\n\(line)\n"
        try write(text)
        #expect(refusal() == .damaged(path: file, line: 3))
        #expect(
            refusal()?.description == """
                \(file) line 3 is damaged: expected a plug's id, its key in hexadecimal digits and its name
                hint: correct or remove that line; if a plug is lost with it, pair the plug again with `plugctl pair`
                """)
        await #expect(throws: PairedPlugsError.self) { try await plugs.add(lampEntry) }
        await #expect(throws: PairedPlugsError.self) { try await plugs.remove(fanID) }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text, "the damaged file was changed")
    }

    @Test("A file that other users can access is refused", arguments: [0o640, 0o604, 0o622])
    func aFileThatOthersCouldUseIsRefused(mode: Int) async throws {
        try write("0123456789ab 01 Lamp\n", mode: mode)
        guard case .unusable(let error) = refusal() else { return }
        #expect(error.reason == .exposed(permissions: UInt32(mode)))
        #expect(refusal()?.description.contains("\nhint: ") == true)
        await #expect(throws: PairedPlugsError.unusable(error)) { try await plugs.add(fanEntry) }
    }

    @Test("Above the limit, the oldest plug is removed") func beyondTheLimitTheOldestIsForgotten() async throws {
        let all = (0..<PairedPlugs.limit).map { number in
            let digits = String(number, radix: 16)
            let id = PlugID(rawValue: String(repeating: "0", count: 12 - digits.count) + digits)!
            let key = PublicKey(bytes: [UInt8](repeating: 7, count: PublicKey.longest))!
            return PairedPlugs.Entry(id: id, key: key, name: String(repeating: "x", count: PlugWire.maximumName))
        }
        try write(String(decoding: PairedPlugsText.bytes(of: all), as: UTF8.self))
        #expect(try plugs.all().count == PairedPlugs.limit, "a file with the maximum number of longest lines is read")
        try await plugs.add(fanEntry)
        let kept = try plugs.all()
        #expect(kept.first == all[1] && kept.last == fanEntry && kept.count == PairedPlugs.limit)
    }

    @Test("A writer waits while another program writes") func whoWritesWhileAnotherDoesWaitsForIt() async throws {
        try await plugs.add(lampEntry)
        var lock: DirectoryLock? = try DirectoryLock(directory)
        let adding = Task { [plugs, fanEntry] in try await plugs.add(fanEntry) }
        #expect(try plugs.all() == [lampEntry], "reading does not wait for the lock")
        withExtendedLifetime(lock) {}
        lock = nil
        try await adding.value
        #expect(try plugs.all() == [lampEntry, fanEntry])
    }

    @Test("Concurrent writers lose no plug") func ofManyWhoWriteAtOnceNoneLosesAPlug() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 as Range<UInt64> {
                let id = PlugID(rawValue: "00000000000\(number)")!
                let plug = PairedPlugs.Entry(id: id, key: PublicKey(madeUp: number), name: "Plug \(number)")
                group.addTask { [plugs] in try await plugs.add(plug) }
            }
            try await group.waitForAll()
        }
        #expect(try Set(plugs.all().map(\.name)) == Set((0..<8).map { "Plug \($0)" }))
    }

    @Test("A cancelled writer stops waiting for the lock") func whoGivesUpWhileHeWaitsIsLetGo() async throws {
        try await plugs.add(lampEntry)
        let lock = try DirectoryLock(directory)
        let adding = Task { [plugs, fanEntry] in try await plugs.add(fanEntry) }
        adding.cancel()
        await #expect(throws: CancellationError.self) { try await adding.value }
        #expect(try plugs.all() == [lampEntry])
        withExtendedLifetime(lock) {}
    }

    @Test("Any bytes are parsed, or rejected with an existing line number")
    func anyBytesAreReadOrRefusedWithALineThatIsThere() {
        var random = SeededRandom(seed: 1)
        let pieces = [
            "0123456789ab", "ffffffffffff", " ", " ", "00ff", "0", "\n", "\u{301}", "Lamp", "A", "\r", "\u{0}",
        ]
        var read = 0
        for _ in 0..<5000 {
            let count = Int.random(in: 0...14, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random)! }.joined()
            do throws(PairedPlugsText.DamagedLine) {
                let plugs = try PairedPlugsText.parse(Array(text.utf8))
                let again = try PairedPlugsText.parse(PairedPlugsText.bytes(of: plugs))
                #expect(again == plugs)
                if !plugs.isEmpty { read += 1 }
            } catch {
                #expect((1...text.utf8.count { $0 == 10 } + 1).contains(error.number))
            }
        }
        #expect(read > 3)
    }

    @Test(
        "The name of a different paired plug is not used for this plug",
        arguments: [
            ("Fan", "Lounge", "Lounge", "Lounge"), ("Fan", "Lounge", "Lounge (2)", "Lounge"),
            ("Fan", "Lamp", "Lamp (2)", "Lamp (2)"),
            ("Lamp (2)", "Lamp", "Lamp (3)", "Lamp (2)"), ("Fan", "Lamp", "Lamp", "Fan"), ("Fan", "", "Fan", "Fan"),
        ])
    func aNameOfAnotherPlugStaysWithThatOne(known: String, given: String, announced: String, bound: String) {
        #expect(PlugNames(given: given, announced: announced).bound(known: known) { $0 == "Lamp" } == bound)
    }
}
