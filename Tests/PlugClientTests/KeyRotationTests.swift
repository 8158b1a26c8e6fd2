import Foundation
import LinuxSystem
import PlugModel
import PlugTransport
import TestSupport
import Testing

@testable import PlugClient

/// The files of a key rotation whose program ends at different moments.
@Suite struct KeyRotationTests {
    private let place = TestFolder()
    private var folder: String { place.path }
    private let lamp = PlugID(rawValue: "aaaaaaaaaaaa")!

    private func own() throws -> PublicKey { try TransportIdentity.kept(in: folder + "/key").publicKey }
    private func rotation() throws -> KeyRotation { try KeyRotation(own: own(), directory: folder) }

    @Test("A rotation resumes with the same next key and the plugs that know it") func itGoesOnWhereItWas() throws {
        let before = try own()
        var first = try rotation()
        try first.note(lamp)
        let second = try rotation()
        #expect(second.next.publicKey == first.next.publicKey && second.isKnown(to: lamp))
        #expect(try own() == before, "the current key is used until the rotation finishes")
        try second.finish()
        #expect(try own() == second.next.publicKey)
        let next = try rotation()
        #expect(next.next.publicKey != second.next.publicKey && !next.isKnown(to: lamp))
    }

    /// The program ended after it replaced the key and before it removed the files of the rotation.
    @Test("A rotation that replaced the key is not resumed, and the next one uses a new key")
    func oneThatIsDoneIsNotDoneAgain() throws {
        var first = try rotation()
        try first.note(lamp)
        try FileStore().replaceSecret(folder + "/key", with: Array(first.next.pem.utf8))
        let again = try rotation()
        #expect(again.next.publicKey != first.next.publicKey && !again.isKnown(to: lamp))
    }

    @Test("The files of a rotation are readable only by the user") func nobodyElseReadsTheNextKey() throws {
        var first = try rotation()
        try first.note(lamp)
        for name in ["next-key", "next-key-plugs"] {
            let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }
}

/// The next key of a plug in the list of paired plugs.
@Suite struct NextKeyTests {
    private let place = TestFolder()
    private var folder: String { place.path }
    private let lamp = PlugID(rawValue: "aaaaaaaaaaaa")!
    private let keys = [UInt8(1), 2].map { PublicKey(bytes: [$0, $0])! }

    @Test("Both keys are stored until the plug proves the next one")
    func eitherKeyStandsThereUntilThePlugTurns() async throws {
        let plugs = PairedPlugs(directory: folder)
        try await plugs.add(PairedPlugs.Entry(id: lamp, key: keys[0], name: "Lamp"))
        try plugs.announce(keys[1], of: lamp)
        #expect(try plugs.all() == [PairedPlugs.Entry(id: lamp, key: keys[0], nextKey: keys[1], name: "Lamp")])
        try plugs.proved(keys[0], by: lamp)
        #expect(try plugs.all().map(\.nextKey) == [keys[1]])
        try plugs.proved(keys[1], by: lamp)
        #expect(try plugs.all() == [PairedPlugs.Entry(id: lamp, key: keys[1], name: "Lamp")])
        try plugs.proved(keys[1], by: lamp)
        try plugs.announce(keys[1], of: lamp)
        #expect(try plugs.all() == [PairedPlugs.Entry(id: lamp, key: keys[1], name: "Lamp")])
    }

    @Test("A line with one key is accepted, and a line with three keys or an empty key is not")
    func aLineOfBeforeIsReadAndOneWithThreeKeysIsNot() throws {
        #expect(try PairedPlugsText.parse(Array("aaaaaaaaaaaa 0101 Lamp\n".utf8)).first?.nextKey == nil)
        for keys in ["0101,0202,0303", ",0101", "0101,", "0101,0"] {
            #expect(throws: PairedPlugsText.DamagedLine.self) {
                try PairedPlugsText.parse(Array("aaaaaaaaaaaa \(keys) Lamp\n".utf8))
            }
        }
    }
}
