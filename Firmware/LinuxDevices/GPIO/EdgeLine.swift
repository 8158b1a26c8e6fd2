import CGPIOD
import Glibc

/// A line whose edges the kernel watches; let go of with the last reference. One thread uses it at a time.
final class EdgeLine: @unchecked Sendable {
    struct Edge {
        var isActive: Bool
        /// The kernel's stamp.
        var time: UInt64
    }

    private let pointer: OpaquePointer
    let isDebounced: Bool

    /// - Parameter debounce: microseconds in which the kernel is asked to hide edges.
    init(
        _ key: LineKey, isActiveLow: Bool, bias: LineBias, debounce: UInt32
    ) throws(SystemError) {
        let chip = try GPIOChip(path: "/dev/" + key.chip)
        var watched: OpaquePointer?
        func watch(_ debounce: UInt32) -> Int32 {
            cgpiod_watch(chip.pointer, key.offset, isActiveLow, bias.code, debounce, "plugd button", &watched)
        }
        var error = debounce > 0 ? watch(debounce) : EOPNOTSUPP
        isDebounced = error == 0
        // Only without it is known whether it was the debouncing that was refused.
        if error != 0, error != EBUSY { error = watch(0) }
        try SystemError.check(error)
        pointer = watched!
    }

    deinit { cgpiod_release(pointer) }

    /// Readable when there are edges.
    var descriptor: Int32 { cgpiod_edges_descriptor(pointer) }

    var isActive: Bool {
        get throws(SystemError) {
            var active = false
            try SystemError.check(cgpiod_level(pointer, &active))
            return active
        }
    }

    /// Waits for edges and hands each to `body`.
    ///
    /// - Returns: false where there were so many that the newest may be lost.
    func read(_ body: (Edge) -> Void) throws(SystemError) -> Bool {
        let most = Int(CGPIOD_EDGES)
        return try withUnsafeTemporaryAllocation(of: cgpiod_edge.self, capacity: most) { edges throws(SystemError) in
            let count = Int(cgpiod_read(pointer, edges.baseAddress!))
            guard count >= 0 else { throw SystemError(number: Int32(-count)) }
            for edge in edges.prefix(count) { body(Edge(isActive: edge.active, time: edge.time)) }
            return count < most
        }
    }
}
