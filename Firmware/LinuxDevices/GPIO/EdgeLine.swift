import CGPIOD
import Glibc

/// A line whose edges the kernel watches; let go of with the last reference. Not for two threads at once.
final class EdgeLine: @unchecked Sendable {
    struct Edge: Hashable {
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

    /// Readable when there are edges. It is closed with the line.
    var descriptor: Int32 { cgpiod_edges_descriptor(pointer) }

    var isActive: Bool {
        get throws(SystemError) {
            var active = false
            try SystemError.check(cgpiod_level(pointer, &active))
            return active
        }
    }

    /// Hands each edge of what was read from the descriptor to `body`.
    ///
    /// - Returns: false where there were so many that the kernel may have dropped some.
    static func decode(_ bytes: UnsafeRawBufferPointer, _ body: (Edge) -> Void) -> Bool {
        let count = bytes.count / cgpiod_edge_size
        for index in 0..<count {
            let edge = cgpiod_decode(bytes.baseAddress! + index * cgpiod_edge_size)
            body(Edge(isActive: edge.active, time: edge.time))
        }
        return count < Int(CGPIOD_EDGES)
    }
}
