import PlugTransport
import Storage

/// One write to flash, performed by the flash thread.
struct FlashJob: Sendable {
    enum Kind: Sendable { case controllers, state, settings, boundary, reset, audit, code, homeKit, matter, wiFi }

    /// A key and its file.
    struct Key: Sendable {
        var identity: TransportIdentity
        var file: String
    }

    /// The result of a job.
    struct Outcome: Sendable {
        /// True if the key was stored, or nil if the job has no key.
        var isKeyKept: Bool?
        /// The result of the write, or nil if the key could not be stored.
        var result: FlashResult?
    }

    let kind: Kind
    let number: UInt64
    let write: FlashWrite
    /// The key to store before the list of controllers. Controllers have pinned this key, so without it the list would
    /// be useless after a restart.
    var key: Key?
    /// The boundary that this write reserves, or nil.
    var boundary: UInt64?

    func perform() -> Outcome {
        guard let key else { return Outcome(result: write.perform()) }
        guard (try? key.identity.keep(in: key.file)) == true else { return Outcome(isKeyKept: false) }
        return Outcome(isKeyKept: true, result: write.perform())
    }
}
