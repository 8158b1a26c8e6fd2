import PlugTransport
import Storage

/// One write to flash on its way to the thread that performs it.
struct FlashJob: Sendable {
    enum Kind: Sendable { case controllers, state, settings, boundary, reset, audit, code, homeKit }

    /// What came of it.
    struct Outcome: Sendable {
        /// Nil where nothing was asked of it.
        var isKeyKept: Bool?
        var result: FlashResult?
    }

    let kind: Kind
    let number: UInt64
    let write: FlashWrite
    /// The key that is to stand in its file first: who is paired pinned it, and with another one after a restart it would be of no
    /// use to know them.
    var key: (identity: TransportIdentity, file: String)?
    /// The boundary that is reserved.
    var boundary: UInt64?

    func perform() -> Outcome {
        guard let key else { return Outcome(result: write.perform()) }
        guard (try? key.identity.keep(in: key.file)) == true else { return Outcome(isKeyKept: false) }
        return Outcome(isKeyKept: true, result: write.perform())
    }
}
