import Crypto
public import PlugModel

extension WiFiMachine.Label {
    /// The identity of a plug's own network. It follows from the label, so that it stays the same after a factory reset.
    ///
    /// - Parameter code: the setup code on the label. The password does not reveal it.
    public init(plug: PlugID, code: SetupCode) {
        let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")
        let hash = SHA256.hash(data: Array("smart plug, Wi-Fi setup: \(code.text)".utf8))
        // 12 characters of 32 have 60 bits.
        let password = String(hash.prefix(12).map { letters[Int($0) % letters.count] })
        self.init(name: WiFiName("Plug-\(plug.short)")!, password: WiFiPassword(password)!)
    }

    /// The text of a QR code with which a phone joins the network.
    public var scannedText: String { "WIFI:T:WPA;S:\(name);P:\(password.secret);;" }
}
