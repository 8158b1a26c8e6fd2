import Glibc

/// The time zone of this process: what ``WallTime/localOffset`` tells.
public enum HostZone {
    private static let nameLimit = 100

    /// Makes another zone that of this process and of programs that it starts. Only for the beginning of a program: it writes to
    /// the environment, which other threads may read.
    ///
    /// - Parameter name: `Europe/Berlin`, as the host's database has it, `UTC`, or a fixed offset such as `+01:00`.
    /// - Returns: false where there is no such zone, and nothing is changed.
    public static func use(_ name: String) -> Bool {
        guard let value = fixed(name) ?? (isKnown(name) ? name : nil), setenv("TZ", value, 1) == 0 else { return false }
        tzset()
        return true
    }

    /// The name of this process's time zone in the database, such as `Europe/Berlin`; if it is not known, the offset from UTC at the
    /// time, such as `+01:00`, or `UTC`.
    public static func name(at time: WallTime) -> String {
        let variable = getenv("TZ").map { String(cString: $0) }
        return databaseName(variable: variable, link: realPath("/etc/localtime")) ?? offsetName(time.localOffset)
    }

    /// - Parameters:
    ///   - variable: the value of TZ; nil if it is not set.
    ///   - link: the file that `/etc/localtime` leads to.
    static func databaseName(variable: String?, link: String?) -> String? {
        let database = path(of: "UTC")!.dropLast(3)
        var name = link.flatMap { $0.hasPrefix(database) ? String($0.dropFirst(database.count)) : nil }
        if let variable {
            name = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
            if let absolute = name, absolute.hasPrefix(database) { name = String(absolute.dropFirst(database.count)) }
        }
        return name.flatMap { isKnown($0) ? $0 : nil }
    }

    /// An offset in seconds as ISO 8601 writes it, in whole minutes.
    static func offsetName(_ seconds: Int) -> String {
        let minutes = seconds / 60
        guard minutes != 0 else { return "UTC" }
        func padded(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return (minutes < 0 ? "-" : "+") + padded(abs(minutes) / 60) + ":" + padded(abs(minutes) % 60)
    }

    private static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// UTC and offsets as POSIX writes them, for which no database is asked; nil for other names.
    static func fixed(_ name: String) -> String? {
        guard name != "UTC" else { return "UTC0" }
        let bytes = Array(name.utf8)
        let digits = bytes.dropFirst().filter { (0x30...0x39).contains($0) }.map { Int($0) - 0x30 }
        guard bytes.count == 6, digits.count == 4, bytes[3] == UInt8(ascii: ":"), "+-".contains(name.prefix(1)) else {
            return nil
        }
        // Kiribati is 14 hours ahead.
        guard digits[0] * 10 + digits[1] <= 14, digits[2] < 6 else { return nil }
        // POSIX counts to the west, and its names have no colons.
        return "<\(name.filter { $0 != ":" })>\(name.first == "+" ? "-" : "+")\(name.dropFirst())"
    }

    /// Without looking, the C library takes every other name for UTC.
    private static func isKnown(_ name: String) -> Bool {
        guard let path = path(of: name) else { return false }
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        var status = stat()
        var magic: [UInt8] = [0, 0, 0, 0]
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, read(file, &magic, 4) == 4 else {
            return false
        }
        return magic == Array("TZif".utf8)
    }

    /// Nil for what is no name of a zone but a way to another file.
    static func path(of name: String) -> String? {
        let allowed = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39: true
            case UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "-"): true
            case _: false
            }
        }
        guard allowed, !name.isEmpty, name.utf8.count <= nameLimit, !name.hasPrefix("/") else { return nil }
        return (getenv("TZDIR").map { String(cString: $0) } ?? "/usr/share/zoneinfo") + "/" + name
    }
}
