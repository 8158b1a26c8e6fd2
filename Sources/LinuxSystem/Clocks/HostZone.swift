import Glibc
import Synchronization

/// The time zone of this process, which ``WallTime/localOffset`` uses.
public enum HostZone {
    private static let nameLimit = 100
    /// The second since boot in which the zone was last read.
    private static let readAt = Atomic<Int>(.min)

    /// Returns the offset from UTC in seconds, positive east of Greenwich, at a time in seconds since 1970. A change of
    /// `/etc/localtime` applies within one second.
    public static func offset(at seconds: Int) -> Int {
        // localtime_r(3) reads the zone only once per process, so tzset(3) must read it again first.
        var time = timespec()
        if clock_gettime(CLOCK_BOOTTIME, &time) == 0,
            readAt.exchange(time.tv_sec, ordering: .relaxed) != time.tv_sec
        {
            tzset()
        }
        var seconds = time_t(seconds)
        var local = tm()
        guard localtime_r(&seconds, &local) != nil else { return 0 }
        return local.tm_gmtoff
    }

    /// Returns the reason why times are in UTC although the host names a zone, with a hint, or nil if the zone is
    /// valid. The C library silently uses UTC for a zone that it does not find.
    public static func problem() -> String? {
        problem(variable: getenv("TZ").map { String(cString: $0) }, file: "/etc/localtime")
    }

    /// Returns the reason why a zone is not valid, or nil if it is valid.
    ///
    /// - Parameters:
    ///   - variable: the value of `TZ`, or nil if it is not set.
    ///   - file: the file of the host's zone, used if the variable is not set. If the file does not exist, the host is
    ///     in UTC.
    static func problem(variable: String?, file: String) -> String? {
        let hint = "such as Europe/Berlin; `timedatectl list-timezones` lists them, the package tzdata has them"
        guard let variable, !variable.isEmpty else {
            var status = stat()
            guard variable == nil, lstat(file, &status) == 0, !isZoneFile(file) else { return nil }
            return "\(file) is not the file of a time zone: times are in UTC\nhint: set a time zone, \(hint)"
        }
        let name = variable.first == ":" ? String(variable.dropFirst()) : variable
        let isFound = name.hasPrefix("/") ? isZoneFile(name) : isKnown(name)
        guard !isFound, !isRule(name) else { return nil }
        return
            "TZ names the time zone \"\(printable(name))\", which is not known: times are in UTC\nhint: name a time zone, \(hint)"
    }

    private static func printable(_ name: String) -> String {
        String(name.unicodeScalars.prefix(nameLimit).map { $0.value < 32 || $0.value == 127 ? "?" : Character($0) })
    }

    /// Returns true for `UTC`, for `GMT`, and for a zone in POSIX notation such as `CET-1CEST,M3.5.0,M10.5.0/3`: a name
    /// followed by a number.
    static func isRule(_ text: String) -> Bool {
        if ["UTC", "GMT"].contains(text) { return true }
        func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        var rest = Array(text.utf8)[...]
        if rest.first == UInt8(ascii: "<") {
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
            rest = rest[(end + 1)...]
        } else {
            let name = rest.prefix(while: isLetter)
            guard name.count >= 3 else { return false }
            rest = rest[name.endIndex...]
        }
        if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest = rest.dropFirst() }
        return rest.first.map(isDigit) ?? false
    }

    /// Sets the time zone of this process and of the programs that it starts. Call it only at the start of a program:
    /// it changes the environment, which other threads may read.
    ///
    /// - Parameter name: a name in the host's database such as `Europe/Berlin`, `UTC`, or a fixed offset such as
    ///   `+01:00`.
    /// - Returns: false if the zone does not exist; then nothing is changed.
    public static func use(_ name: String) -> Bool {
        guard let value = fixed(name) ?? (isKnown(name) ? name : nil), setenv("TZ", value, 1) == 0 else { return false }
        tzset()
        return true
    }

    /// Returns the name of this process's time zone in the database, such as `Europe/Berlin`. If it is unknown, returns
    /// the offset from UTC at `time`, such as `+01:00`, or `UTC`.
    public static func name(at time: WallTime) -> String {
        let variable = getenv("TZ").map { String(cString: $0) }
        return databaseName(variable: variable, link: realPath("/etc/localtime")) ?? offsetName(time.localOffset)
    }

    /// Returns the name of a zone in the database, or nil if it is unknown.
    ///
    /// - Parameters:
    ///   - variable: the value of TZ, or nil if it is not set.
    ///   - link: the target of `/etc/localtime`.
    static func databaseName(variable: String?, link: String?) -> String? {
        let database = path(of: "UTC")!.dropLast(3)
        var name = link.flatMap { $0.hasPrefix(database) ? String($0.dropFirst(database.count)) : nil }
        if let variable {
            name = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
            if let absolute = name, absolute.hasPrefix(database) { name = String(absolute.dropFirst(database.count)) }
        }
        return name.flatMap { isKnown($0) ? $0 : nil }
    }

    /// Formats an offset in seconds in ISO 8601, cut to whole minutes. An offset of less than a minute becomes `UTC`.
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

    /// Returns UTC and fixed offsets in POSIX notation, which need no database, or nil for any other name.
    static func fixed(_ name: String) -> String? {
        guard name != "UTC" else { return "UTC0" }
        let bytes = Array(name.utf8)
        let digits = bytes.dropFirst().filter { (0x30...0x39).contains($0) }.map { Int($0) - 0x30 }
        guard bytes.count == 6, digits.count == 4, bytes[3] == UInt8(ascii: ":"), "+-".contains(name.prefix(1)) else {
            return nil
        }
        // The largest offset, that of Kiribati, is 14 hours.
        guard digits[2] < 6, (digits[0] * 10 + digits[1]) * 60 + digits[2] * 10 + digits[3] <= 14 * 60 else {
            return nil
        }
        // POSIX offsets count westward, and POSIX names have no colons.
        return "<\(name.filter { $0 != ":" })>\(name.first == "+" ? "-" : "+")\(name.dropFirst())"
    }

    /// Returns true if the database has the zone. The C library would use UTC for any other name.
    private static func isKnown(_ name: String) -> Bool {
        path(of: name).map(isZoneFile) ?? false
    }

    private static func isZoneFile(_ path: String) -> Bool {
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

    /// Returns the path of a zone's file. Returns nil if the name begins with a slash, has more than 100 bytes, or has
    /// a character that zone names do not have, such as a dot, which could lead to a file outside the database.
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
