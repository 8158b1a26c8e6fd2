import Glibc

/// The kernel's id of this boot. Two times of ``BootClock`` can be compared only if their boot ids are equal.
public enum BootIdentifier {
    /// Returns the 16 bytes of /proc/sys/kernel/random/boot_id, or nil if /proc is not mounted.
    public static func current() -> [UInt8]? {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &text, text.count)
        return count > 0 ? parse(text[..<count]) : nil
    }

    /// Parses the text form of a UUID, such as `6f1b2ab0-…`, with or without a line feed. Returns nil unless it has 32
    /// hexadecimal digits.
    static func parse(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let digits = text.compactMap { Character(UnicodeScalar($0)).hexDigitValue.map(UInt8.init) }
        guard digits.count == 32 else { return nil }
        return stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
