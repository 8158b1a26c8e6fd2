import DurableFiles
import Foundation
import PlugModel
import PlugTransport
import Testing

@testable import PlugClient

/// The files of a rotation, whenever its program ends.
@Suite struct KeyRotationTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "rotation-\(UUID())").path
    private let lamp = PlugID(rawValue: "aaaaaaaaaaaa")!

    init() throws { try FileStore().makeDirectories(folder) }

    private func own() throws -> PublicKey { try TransportIdentity.kept(in: folder + "/key").publicKey }
    private func rotation() throws -> KeyRotation { try KeyRotation(own: own(), directory: folder) }

    @Test func itGoesOnWhereItWas() throws {
        let before = try own()
        var first = try rotation()
        try first.note(lamp)
        let second = try rotation()
        #expect(second.next.publicKey == first.next.publicKey && second.isKnown(to: lamp))
        #expect(try own() == before, "the key of now counts until all know the next one")
        try second.finish()
        #expect(try own() == second.next.publicKey)
        let next = try rotation()
        #expect(next.next.publicKey != second.next.publicKey && !next.isKnown(to: lamp))
    }

    /// It ended when the key was replaced and what stands beside it was not taken away.
    @Test func oneThatIsDoneIsNotDoneAgain() throws {
        var first = try rotation()
        try first.note(lamp)
        try FileStore().replaceSecret(folder + "/key", with: Array(first.next.pem.utf8))
        let again = try rotation()
        #expect(again.next.publicKey != first.next.publicKey && !again.isKnown(to: lamp))
    }

    @Test func nobodyElseReadsTheNextKey() throws {
        var first = try rotation()
        try first.note(lamp)
        for name in ["next-key", "next-key-plugs"] {
            let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }
}
