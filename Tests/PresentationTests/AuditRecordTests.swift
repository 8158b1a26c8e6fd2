import LinuxSystem
import PlugClient
import PlugModel
import ProtocolCore
import Testing

@testable import Presentation

@Suite struct AuditRecordTests {
    private let at = WallTime(nanosecondsSince1970: 1_700_000_000_123_000_000)

    private func record(_ note: AuditNote, count: UInt32 = 1, isDated: Bool = true) -> AuditRecord {
        let boot = BootID(bytes: [UInt8](repeating: 7, count: 16))!
        let entry = AuditEntry(number: 7, boot: boot, time: .zero, note, count: count)
        return AuditRecord(DatedAuditEntry(entry, at: isDated ? at : nil), plug: "Lamp")
    }

    private var local: String { String(at.iso8601(offset: at.localOffset).prefix(16).replacing("T", with: " ")) }

    @Test("An entry shows its time, actor and content") func anEntrySaysWhenWhoAndWhat() {
        let told = record(AuditNote(.renamed, by: .controller(name: "Desk", key: "3f9a02bc71de"), "Lamp to Lounge"))
        #expect(told.text == "\(local)    renamed           Desk (3f9a02bc71de)  Lamp to Lounge")
        #expect(
            jsonLine(told)
                == #"{"at":"2023-11-14T22:13:20.123Z","by":"controller","count":1,"detail":"Lamp to Lounge","#
                + #""key":"3f9a02bc71de","kind":"renamed","name":"Desk","number":7,"outcome":"done","plug":"Lamp"}"#)
    }

    @Test("Refusals are counted, and an entry of an earlier boot has no time")
    func refusalsAreCountedAndAnEarlierBootHasNoTime() {
        let note = AuditNote(.refused, by: .stranger(key: "3f9a02bc71de"), isRefused: true, "hello: not paired")
        let told = record(note, count: 12, isDated: false)
        #expect(
            told.text
                == "in an earlier boot  refused           unpaired client (3f9a02bc71de)  hello: not paired  12 times")
        #expect(
            jsonLine(told)
                == #"{"by":"stranger","count":12,"detail":"hello: not paired","key":"3f9a02bc71de","kind":"refused","#
                + #""number":7,"outcome":"refused","plug":"Lamp"}"#)
    }

    @Test("Every kind and actor has a text") func everyKindAndActorHasWords() {
        for kind in AuditNote.Kind.allCases {
            for actor in [AuditActor.button, .panel, .configuration, .plug, .unknown] {
                let words = record(AuditNote(kind, by: actor)).text
                #expect(words.contains("by \(record(AuditNote(kind, by: actor)).by)"), "\(words)")
                #expect(!words.dropFirst(local.count).contains { $0.isUppercase }, "\(words)")
            }
        }
        #expect(record(AuditNote(.factoryReset, by: .button, isRefused: true)).text.contains("reset failed"))
    }
}
