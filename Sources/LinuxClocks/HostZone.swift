import Glibc
import Synchronization

/// The time zone of this process, which ``WallTime/localOffset`` follows.
public enum HostZone {
    private static let nameLimit = 100
    /// The second since boot in which the zone was read last.
    private static let readAt = Atomic<Int>(.min)

    /// Seconds that the zone is ahead of UTC at so many seconds since 1970. A change of `/etc/localtime` applies after a second at most.
    public static func offset(at seconds: Int) -> Int {
        // localtime_r(3) reads the zone only once in a process, so that the zone has to be read again before it.
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

    /// Why times are in UTC although the host names a zone, with a hint; nil if the zone is known. The C library takes a zone that it
    /// does not find for UTC without a word.
    public static func problem() -> String? {
        problem(variable: getenv("TZ").map { String(cString: $0) }, file: "/etc/localtime")
    }

    /// - Parameters:
    ///   - variable: the value of `TZ`.
    ///   - file: the host's zone, if there is no such variable. Without the file, the host is in UTC.
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

    /// True for a zone as POSIX writes it, such as `CET-1CEST,M3.5.0,M10.5.0/3`: a name, and a number that follows it.
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
