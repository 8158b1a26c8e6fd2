import CGPIOD
import Glibc
import LinuxSystem

/// A line whose edges the kernel watches. It is released with the last reference.
final class EdgeLine: Sendable {
    struct Edge: Hashable {
        var isActive: Bool
        /// The kernel's timestamp.
        var time: UInt64
    }

    /// A descriptor that is readable when there are edges. It is closed with the line.
    let descriptor: Int32
    let isDebounced: Bool

    /// - Parameter debounce: the debounce time for the kernel in microseconds.
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
        // A second attempt without debouncing shows whether the kernel rejected the debouncing.
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

    /// Calls `body` for each edge in bytes that were read from the descriptor of a line.
    ///
    /// - Parameter interface: the version of libgpiod that requested the line, 1 or 2.
    /// - Returns: false if the kernel's buffer was full, so that it may have dropped edges.
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
