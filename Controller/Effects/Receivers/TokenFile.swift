import DurableFiles

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
                case .exposed: "if nobody read it: chmod 600 \(path); else have a new one made first"
                case .empty: "put the token into it, on one line"
                case .foreign: "it has to belong to the user whom the controller runs as"
                case .system, .tooLarge, .held, .damaged, .noPlainFile, .notRegular, .noText, .late, .noReader:
                    error.hint
                }
            throw NotificationFault("\(error)", hint: hint)
        }
        guard var bytes = found else {
            throw NotificationFault(
                "there is no token in \(path)", hint: "write it there, on one line; chmod 600 \(path)")
        }
        while let last = bytes.last, [0x0A, 0x0D, 0x20].contains(last) { bytes.removeLast() }
        // Any other byte would end the header field that carries the token.
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw NotificationFault("\(path) holds no token", hint: "it is one word, such as tk_..., on one line")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
