import MadeUpKeys
import PlugClient
import PlugModel
import PlugProtocol
import Presentation
import Testing

/// What `plugctl pair` and `plugctl controllers` print, exactly.
@Suite struct PairingRecordTests {
    private let desk = PublicKey.desk.fingerprint

    @Test func pair() {
        let entry = PairedPlugs.Entry(id: PlugID(rawValue: "0123456789ab")!, key: .desk, name: "Living Room Lamp")
        let record = PairedRecord(entry)
        #expect(jsonLine(record) == #"{"fingerprint":"\#(desk)","id":"0123456789ab","plug":"Living Room Lamp"}"#)
        #expect(record.text == "Living Room Lamp: paired; its key is \(desk.prefix(16))")
        #expect(desk.count == 64)
    }

    @Test(arguments: [
        (true, true, "  (this one, connected)"), (false, true, "  (connected)"), (true, false, "  (this one)"),
        (false, false, ""),
    ])
    func controllers(isAsker: Bool, isConnected: Bool, remarks: String) {
        let entry = PairedControllerEntry(
            name: "Kim's tablet", fingerprint: desk, isConnected: isConnected, isAsker: isAsker)
        let record = ControllerRecord(entry, plug: "Lamp")
        #expect(
            jsonLine(record)
                == #"{"connected":\#(isConnected),"fingerprint":"\#(desk)","name":"Kim's tablet","plug":"Lamp","#
                + #""self":\#(isAsker)}"#)
        #expect(record.text == "\(desk.prefix(16))  Kim's tablet\(remarks)")
    }
}
