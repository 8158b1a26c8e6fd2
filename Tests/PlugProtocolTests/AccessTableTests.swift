import Checkout
import Foundation
import PlugModel
import Testing

@testable import PlugProtocol

/// Attack class: a message for which access rights were forgotten.
@Suite struct AccessTableTests {
    /// Returns the fields of `oneof kind` in this message of smartplug.proto.
    private func kinds(of message: String) throws -> [String] {
        let file = Checkout.place("Sources/PlugProtocol/Specification/smartplug.proto")
        let text = try String(contentsOf: file, encoding: .utf8)
        let body = try #require(text.components(separatedBy: "\nmessage \(message) {\n").last)
        let kinds = try #require(body.components(separatedBy: "oneof kind {\n").dropFirst().first)
        let lines = kinds.components(separatedBy: "}")[0].components(separatedBy: "\n")
        return lines.compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 3 && words[2] == "=" ? String(words[1]) : nil
        }
    }

    @Test("The access table has each message and command of smartplug.proto")
    func theTableHasEachMessageAndEachCommandOfTheSpecification() throws {
        let asked = try kinds(of: "ControllerMessage") + kinds(of: "Command")
        #expect(asked.count > 20)
        #expect(Set(asked) == Set(AskedRequest.allCases.map(\.rawValue)))
    }

    @Test("Each role may send exactly the listed messages")
    func eachRoleMayThisAndNothingElse() {
        let session: Set<AskedRequest> = [
            .hello, .ping, .pong, .goodbye, .pairing_request, .pairing_proof, .command, .announce_key,
            .next_key_kept,
        ]
        let viewer = session.union([.subscribe, .acknowledge, .fetch_samples])
        let user = viewer.union([.set_relay, .set_level, .identify, .reset_protection])
        func allowed(_ role: Role) -> Set<AskedRequest> { Set(AskedRequest.allCases.filter(role.may)) }
        #expect(allowed(.viewer) == viewer)
        #expect(allowed(.user) == user)
        #expect(allowed(.guest) == user)
        #expect(allowed(.owner) == Set(AskedRequest.allCases))
    }
}
