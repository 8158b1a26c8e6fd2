import Crypto

/// Somebody who is logged in, at one browser.
struct Session: Codable, Hashable, Sendable {
    /// Names it to people: no secret, and of no use to whoever has it.
    var id: String
    /// SHA-256 of the browser's cookie, in hexadecimal digits. The cookie itself is nowhere kept.
    var digest: String
    /// The id of the password that it was begun with.
    var password: String
    /// What the browser says that it is (``DeviceWords``).
    var device: String
    /// From which it was last used.
    var address: String
    /// Seconds since 1970.
    var began: Int64
    var used: Int64
}

/// Who is logged in. A session ends by itself, by whoever logs out, by an owner, and with the password that it was begun with. Without
/// a session a cookie opens nothing, whoever has it.
struct Sessions {
    /// Seconds.
    static let lifetime: Int64 = 30 * 86400
    /// Of one password. One more ends the one that was not used for longest: that a password is known lets nobody fill the memory, nor
    /// push out who came by another.
    static let mostOfPassword = 16
    static let most = mostOfPassword * PasswordFile.most
    private static let idDigits = 8
    private static let tokenBytes = 32
    private static let digestDigits = 64
    /// Bytes of what a session says of its browser.
    private static let longestText = 100
    /// Seconds since 1970, so that no file leads to arithmetic beyond the numbers: the year 36812.
    private static let times: ClosedRange<Int64> = 0...(1 << 40)

    /// In the order of their beginnings.
    private(set) var all: [Session] = []

    init() {}

    /// Those that a file told, but for what no session is.
    init(stored: [Session]) {
        var ids: Set<String> = []
        all = stored.prefix(Self.most).filter { session in
            HexadecimalText.isOne(session.id, digits: Self.idDigits) && ids.insert(session.id).inserted
                && HexadecimalText.isOne(session.digest, digits: Self.digestDigits)
                && Self.times.contains(session.began) && Self.times.contains(session.used)
                && session.device.utf8.count <= Self.longestText && session.address.utf8.count <= Self.longestText
        }
    }

    /// - Parameters:
    ///   - password: its id.
    ///   - now: seconds since 1970.
    /// - Returns: the cookie, which is told this once.
    mutating func begin(_ password: String, device: String, address: String, now: Int64) -> String {
        let cookie = HexadecimalText.random(bytes: Self.tokenBytes)
        var id = HexadecimalText.random(bytes: Self.idDigits / 2)
        while all.contains(where: { $0.id == id }) { id = HexadecimalText.random(bytes: Self.idDigits / 2) }
        let same = all.filter { $0.password == password }
        if same.count >= Self.mostOfPassword, let idle = same.min(by: { $0.used < $1.used }) {
            all.removeAll { $0.id == idle.id }
        }
        all.append(
            Session(
                id: id, digest: Self.digest(of: cookie), password: password,
                device: Self.shortened(device), address: Self.shortened(address), began: now, used: now))
        return cookie
    }

    /// The session of a cookie, which is used by that; nil where it has none, or none any more.
    mutating func use(_ cookie: String, address: String, now: Int64) -> Session? {
        guard let index = index(of: cookie), Self.isValid(all[index], now: now) else { return nil }
        all[index].used = max(all[index].used, now)
        if !address.isEmpty { all[index].address = Self.shortened(address) }
        return all[index]
    }

    func session(of cookie: String) -> Session? { index(of: cookie).map { all[$0] } }

    /// Nil where there is none of that id.
    mutating func end(_ id: String) -> Session? {
        all.firstIndex { $0.id == id }.map { all.remove(at: $0) }
    }

    mutating func endAll() -> [Session] {
        defer { all = [] }
        return all
    }

    /// Ends those whose time is over, and those of passwords that are gone.
    ///
    /// - Returns: whether there were any.
    mutating func keep(ofPasswords passwords: Set<String>, now: Int64) -> Bool {
        let before = all.count
        all.removeAll { !passwords.contains($0.password) || now - $0.began >= Self.lifetime }
        return all.count < before
    }

    /// A clock that goes back lets nobody in for longer: what begins in the future is not valid yet.
    static func isValid(_ session: Session, now: Int64) -> Bool {
        times.contains(now) && session.began <= now && now - session.began < lifetime
    }

    /// Found by the digest, so that how long it takes tells nothing of a cookie.
    private func index(of cookie: String) -> Int? {
        guard HexadecimalText.isOne(cookie, digits: 2 * Self.tokenBytes) else { return nil }
        let digest = Self.digest(of: cookie)
        return all.firstIndex { $0.digest == digest }
    }

    private static func digest(of cookie: String) -> String {
        HexadecimalText.of(SHA256.hash(data: Array(cookie.utf8)))
    }

    private static func shortened(_ text: String) -> String {
        var text = text
        while text.utf8.count > longestText { text.removeLast() }
        return text
    }
}
