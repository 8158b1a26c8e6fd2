import CGPIOD
import Glibc
import LinuxSystem

extension LineCatalogue {
    /// Reads the kernel's current chips and lines.
    static func read() -> LineCatalogue {
        var catalogue = LineCatalogue(chips: [])
        for path in devices() {
            do {
                catalogue.chips.append(try Chip.read(GPIOChip(path: path)))
            } catch {
                catalogue.unopened.append((path, error.code))
            }
        }
        return catalogue
    }

    /// Returns the device files sorted by number.
    private static func devices() -> [String] {
        guard let directory = opendir("/dev") else { return [] }
        defer { closedir(directory) }
        var numbers: [Int] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { text(in: $0) }
            // Links to chips have other names. A chip that is listed twice would duplicate the names of its lines.
            if name.hasPrefix("gpiochip"), let number = Int(name.dropFirst("gpiochip".count)) { numbers.append(number) }
        }
        return numbers.sorted().map { "/dev/gpiochip\($0)" }
    }
}

extension LineCatalogue.Chip {
    fileprivate static func read(_ chip: GPIOChip) throws(SystemError) -> LineCatalogue.Chip {
        var info = cgpiod_chip_info()
        try SystemError.check(cgpiod_describe(chip.pointer, &info))
        var lines: [LineCatalogue.Line] = []
        for offset in 0..<info.lines { lines.append(try chip.line(offset)) }
        return LineCatalogue.Chip(
            name: withUnsafeBytes(of: info.name) { text(in: $0) },
            label: withUnsafeBytes(of: info.label) { text(in: $0) }, lines: lines)
    }
}

/// An open chip. It is closed with the last reference.
final class GPIOChip {
    let pointer: OpaquePointer

    init(path: String) throws(SystemError) {
        var opened: OpaquePointer?
        try SystemError.check(cgpiod_open(path, &opened))
        pointer = opened!
    }

    deinit { cgpiod_close(pointer) }

    func line(_ offset: UInt32) throws(SystemError) -> LineCatalogue.Line {
        var info = cgpiod_line_info()
        try SystemError.check(cgpiod_describe_line(pointer, offset, &info))
        return LineCatalogue.Line(
            name: withUnsafeBytes(of: info.name) { text(in: $0) },
            consumer: withUnsafeBytes(of: info.consumer) { text(in: $0) },
            isUsed: info.used, isOutput: info.output, isActiveLow: info.active_low)
    }
}

/// Returns the text before the terminating zero.
private func text(in bytes: UnsafeRawBufferPointer) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
}
