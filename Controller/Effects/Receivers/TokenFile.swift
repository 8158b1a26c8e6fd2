import LinuxSystem

/// A file that holds an access token. It is read for each use, so that a changed token applies immediately, and is not
/// cached.
struct TokenFile: Hashable, Sendable {
    /// The longest file in bytes; tokens are far shorter.
    private static let limit = 4096

    var path: String

    func read() throws(NotificationFault) -> String {
        let found: [UInt8]?
        do throws(FileError) {
            found = try FileStore().readSecretIfPresent(path, limit: Self.limit)
        } catch {
            let hint: String? =
                switch error.reason {
                case .exposed: "create a new token, or, if no other user read it: chmod 600 \(path)"
                case .empty: "put the token into it, on one line"
                case .foreign: "it must belong to the user of the controller"
                case .system, .tooLarge, .held, .damaged, .noPlainFile, .notRegular, .noText, .late, .noReader:
                    error.hint
                }
            throw NotificationFault("\(error)", hint: hint)
        }
        guard var bytes = found else {
            throw NotificationFault(
                "\(path) does not exist", hint: "write the token into it, on one line; chmod 600 \(path)")
        }
        while let last = bytes.last, [0x0A, 0x0D, 0x20].contains(last) { bytes.removeLast() }
        // Only visible ASCII is valid in the header field that carries the token.
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw NotificationFault("\(path) has no token", hint: "write one word, such as tk_..., on one line")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
