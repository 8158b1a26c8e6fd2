import PlugClient
import PlugModel
import PlugProtocol
import Presentation
import TestSupport
import Testing

/// The exact output of `plugctl pair` and `plugctl controllers`.
@Suite struct PairingRecordTests {
    private let desk = PublicKey.desk.fingerprint

    @Test("The record of a paired plug") func pair() {
        let entry = PairedPlugs.Entry(id: PlugID(rawValue: "0123456789ab")!, key: .desk, name: "Living Room Lamp")
        let record = PairedRecord(entry)
        #expect(jsonLine(record) == #"{"fingerprint":"\#(desk)","id":"0123456789ab","plug":"Living Room Lamp"}"#)
        #expect(record.text == "Living Room Lamp: paired; its key is \(desk.prefix(16))")
        #expect(desk.count == 64)
    }

    @Test(
        "The record of a paired controller, with its remarks",
        arguments: [
            (true, true, "  (this one, connected)"), (false, true, "  (connected)"), (true, false, "  (this one)"),
            (false, false, ""),
        ])
    func controllers(isAsker: Bool, isConnected: Bool, remarks: String) {
        let entry = PairedControllerEntry(
            name: "Kim's tablet", fingerprint: desk, isConnected: isConnected, isAsker: isAsker, role: .user)
        let record = ControllerRecord(entry, plug: "Lamp")
        #expect(
            jsonLine(record)
                == #"{"connected":\#(isConnected),"fingerprint":"\#(desk)","name":"Kim's tablet","plug":"Lamp","role":"user","#
                + #""self":\#(isAsker)}"#)
        #expect(record.text == "\(desk.prefix(16))  user    Kim's tablet\(remarks)")
    }

    @Test("The remaining time of a guest is shown") func aGuestsTimeIsShown() {
        let entry = PairedControllerEntry(
            name: "Phone", fingerprint: desk, isConnected: false, isAsker: false, role: .guest, secondsLeft: 7300)
        let record = ControllerRecord(entry, plug: "Lamp")
        #expect(record.text == "\(desk.prefix(16))  guest   Phone  (for 2 h more)")
        #expect(jsonLine(record).contains(#""role":"guest","secondsLeft":7300"#))
    }

    @Test("The record of a new setup code") func anotherSetupCode() {
        let record = SetupCodeRecord(.label, plug: "Lamp", id: PlugID(rawValue: "0123456789ab")!)
        #expect(
            jsonLine(record)
                == #"{"code":"ABCD-EFGH-IJKL-MNOP","id":"0123456789ab","plug":"Lamp","#
                + #""scanned":"SMARTPLUG:1:0123456789AB:ABCDEFGHIJKLMNOP"}"#)
        #expect(
            record.lines == [
                "code  ABCD-EFGH-IJKL-MNOP",
                "This is the new setup code of Lamp. The previous code, also the one on its label, is no longer valid.",
            ])
    }

    @Test("The record of an invitation") func anInvitation() throws {
        let record = InvitationRecord(
            .label, as: try Grant(.guest, seconds: 172_800), valid: .seconds(86_400), plug: "Lamp",
            id: PlugID(rawValue: "0123456789ab")!)
        #expect(
            jsonLine(record)
                == #"{"code":"ABCD-EFGH-IJKL-MNOP","id":"0123456789ab","plug":"Lamp","role":"guest","#
                + #""scanned":"SMARTPLUG:1:0123456789AB:ABCDEFGHIJKLMNOP","seconds":172800,"validSeconds":86400}"#)
        #expect(
            record.lines == [
                "code  ABCD-EFGH-IJKL-MNOP",
                #"The first controller that runs `plugctl pair "Lamp"` with this code within 24 h becomes a guest of the plug for 2 d."#,
            ])
    }
}
