import PlugModel

/// The bundle that the plug receives in parts, and the restart that waits until the relay is off. A value without access
/// to files: ``UpdateFolder`` performs the work that it requests.
struct UpdateReception: Sendable {
    /// The work of one request.
    enum Work: Hashable, Sendable {
        /// Only report the state.
        case report
        /// Create an empty file for a bundle of this size.
        case create(size: UInt64)
        /// Write the next bytes at this offset.
        case write([UInt8], at: UInt64)
        /// Write the last bytes at this offset and pass the bundle to the installer.
        case complete([UInt8], at: UInt64, allowsOlder: Bool)
        /// Delete the bundle that was received in part.
        case delete
        /// Restart with the installed system, or only check that there is one.
        case restart(atOnce: Bool)
    }

    private struct Bundle: Sendable {
        var id: BundleID
        var size: UInt64
        var received: UInt64
        var allowsOlder: Bool
    }

    private var bundle: Bundle?
    /// The work in progress.
    private var work: Work?
    /// True while a restart waits until the relay is off.
    private(set) var restartsWhenOff: Bool

    /// - Parameter restartsWhenOff: true if a restart waited before plugd started again.
    init(restartsWhenOff: Bool = false) { self.restartsWhenOff = restartsWhenOff }

    /// Returns the work of a request. ``finish(_:)`` has to follow.
    ///
    /// - Throws: `Refusal` if the request does not fit the state. Nothing has changed then.
    mutating func begin(_ request: UpdateRequest, relayOn: Bool) throws(Refusal) -> Work {
        guard self.work == nil else { throw Refusal(.busy, "another request about updates is in progress") }
        let work = try work(of: request, relayOn: relayOn)
        self.work = work
        return work
    }

    private mutating func work(of request: UpdateRequest, relayOn: Bool) throws(Refusal) -> Work {
        switch request {
        case .ask: return .report
        case .begin(let id, let size, let allowsOlder):
            if bundle?.id == id, bundle?.size == size {
                bundle?.allowsOlder = allowsOlder
                return .report
            }
            bundle = Bundle(id: id, size: size, received: 0, allowsOlder: allowsOlder)
            return .create(size: size)
        case .part(let offset, let bytes):
            guard let bundle else { throw Refusal(.outOfRange, "the plug does not receive a bundle") }
            guard offset == bundle.received else {
                throw Refusal(.outOfRange, "the next part of the bundle begins at \(bundle.received), not at \(offset)")
            }
            let missing = bundle.size - bundle.received
            guard bytes.count <= missing else {
                throw Refusal(.outOfRange, "the bundle has \(bundle.size) bytes, and this part ends after them")
            }
            guard bytes.count == missing else { return .write(bytes, at: offset) }
            return .complete(bytes, at: offset, allowsOlder: bundle.allowsOlder)
        case .restart(let whenOff): return .restart(atOnce: !(whenOff && relayOn))
        case .cancel:
            bundle = nil
            restartsWhenOff = false
            return .delete
        }
    }

    /// Ends the work of the last request.
    ///
    /// - Parameter result: The state of the installer after the work.
    /// - Returns: The answer to the request.
    mutating func finish(_ result: Result<UpdateReport, Refusal>) -> Result<UpdateReport, Refusal> {
        let done = work
        work = nil
        guard case .success(var report) = result else {
            switch done {
            // The file may contain any part of the bytes.
            case .create, .write, .complete: bundle = nil
            case .report, .delete, .restart, nil: break
            }
            return result
        }
        switch done {
        case .write(let bytes, _): bundle?.received += UInt64(bytes.count)
        case .complete: bundle = nil
        case .restart(atOnce: false): restartsWhenOff = true
        case .report, .create, .delete, .restart, nil: break
        }
        if let bundle { report.phase = .receiving(bundle.received, of: bundle.size) }
        report.restartsWhenOff = restartsWhenOff
        return .success(report)
    }

    /// Returns the restart that waited for the relay, once it is off; otherwise nil. ``finish(_:)`` has to follow.
    mutating func restart(relayOn: Bool) -> Work? {
        guard restartsWhenOff, !relayOn, work == nil else { return nil }
        restartsWhenOff = false
        work = .restart(atOnce: true)
        return work
    }
}
