import CGPIOD
import Glibc

/// A line whose edges the kernel watches; let go of with the last reference.
final class EdgeLine: Sendable {
    struct Edge: Hashable {
        var isActive: Bool
        /// The kernel's stamp.
        var time: UInt64
    }

    /// Readable when there are edges. It is closed with the line.
    let descriptor: Int32
    let isDebounced: Bool

    /// - Parameter debounce: microseconds in which the kernel is asked to hide edges.
    init(
        _ key: LineKey, isActiveLow: Bool, bias: LineBias, debounce: UInt32
    ) throws(SystemError) {
        let chip = try GPIOChip(path: "/dev/" + key.chip)
        var watched: Int32 = -1
        func watch(_ debounce: UInt32) -> Int32 {
            cgpiod_watch(chip.pointer, key.offset, isActiveLow, bias.code, debounce, "plugd button", &watched)
        }
        var error = debounce > 0 ? watch(debounce) : EOPNOTSUPP
        isDebounced = error == 0
        // Only without it is known whether it was the debouncing that was refused.
        if error != 0, error != EBUSY { error = watch(0) }
        try SystemError.check(error)
        descriptor = watched
    }

    deinit { close(descriptor) }

    var isActive: Bool {
        get throws(SystemError) {
            var active = false
            try SystemError.check(cgpiod_get(descriptor, gpioInterface, &active))
            return active
        }
    }

    /// Hands each edge of what was read from the descriptor of a line to `body`.
    ///
    /// - Parameter interface: of libgpiod, that took the line: 1 or 2.
    /// - Returns: false where there were so many that the kernel may have dropped some.
    static func decode(_ bytes: UnsafeRawBufferPointer, interface: Int32, _ body: (Edge) -> Void) -> Bool {
        let size = cgpiod_edge_size(interface)
        let count = bytes.count / size
        for index in 0..<count {
            let edge = cgpiod_decode(bytes.baseAddress! + index * size, interface)
            body(Edge(isActive: edge.active, time: edge.time))
        }
        return count < Int(CGPIOD_EDGES)
    }
}
