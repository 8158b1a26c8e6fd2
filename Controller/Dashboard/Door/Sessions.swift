import Crypto

/// A login in one browser.
struct Session: Codable, Hashable, Sendable {
    /// The id for users and API. It is not secret and grants no access.
    var id: String
    /// The SHA-256 of the browser's cookie, in hexadecimal digits. The cookie itself is not stored.
    var digest: String
    /// The id of the password of the login.
    var password: String
    /// The description of the browser (``DeviceDescription``).
    var device: String
    /// The address of the last use.
    var address: String
    /// The start in seconds since 1970.
    var began: Int64
    /// The last use in seconds since 1970.
    var used: Int64
}

/// The sessions. A session ends after its lifetime, by a logout, by an owner, or when its password is removed or
/// expires. A cookie without a session grants no access.
struct Sessions {
    /// The lifetime of a session in seconds.
    static let lifetime: Int64 = 30 * 86400
    /// The maximum number of sessions per password. A new session beyond it ends the one that was unused for the
    /// longest time. The limit prevents a user from filling the memory and from ending the sessions of other passwords.
    static let mostOfPassword = 16
    static let most = mostOfPassword * PasswordFile.most
    private static let idDigits = 8
    private static let tokenBytes = 32
    private static let digestDigits = 64
    /// The maximum number of bytes of the device and of the address.
    private static let longestText = 100
    /// The accepted times in seconds since 1970. The limit prevents values of the file from causing an overflow; the
    /// last accepted time is in the year 36812.
    private static let times: ClosedRange<Int64> = 0...(1 << 40)

    /// The sessions in the order of their start.
    private(set) var all: [Session] = []

    init() {}

    /// Restores the sessions of a file. Invalid entries are dropped.
    init(stored: [Session]) {
        var ids: Set<String> = []
        all = stored.prefix(Self.most).filter { session in
            HexadecimalText.isOne(session.id, digits: Self.idDigits) && ids.insert(session.id).inserted
                && HexadecimalText.isOne(session.digest, digits: Self.digestDigits)
                && Self.times.contains(session.began) && Self.times.contains(session.used)
                && session.device.utf8.count <= Self.longestText && session.address.utf8.count <= Self.longestText
        }
    }

    /// Begins a session.
    ///
    /// - Parameters:
    ///   - password: the id of the password.
    ///   - now: seconds since 1970.
    /// - Returns: the value of the cookie, which is not stored.
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

    /// Returns the session of a cookie and updates its last use; nil if the session is not valid.
    mutating func use(_ cookie: String, address: String, now: Int64) -> Session? {
        guard let index = index(of: cookie), Self.isValid(all[index], now: now) else { return nil }
        all[index].used = max(all[index].used, now)
        if !address.isEmpty { all[index].address = Self.shortened(address) }
        return all[index]
    }

    func session(of cookie: String) -> Session? { index(of: cookie).map { all[$0] } }

    /// Ends a session and returns it; nil if the id is unknown.
    mutating func end(_ id: String) -> Session? {
        all.firstIndex { $0.id == id }.map { all.remove(at: $0) }
    }

    mutating func endAll() -> [Session] {
        defer { all = [] }
        return all
    }

    /// Ends expired sessions and sessions of removed passwords.
    ///
    /// - Returns: true if a session ended.
    mutating func keep(ofPasswords passwords: Set<String>, now: Int64) -> Bool {
        let before = all.count
        all.removeAll { !passwords.contains($0.password) || now - $0.began >= Self.lifetime }
        return all.count < before
    }

    /// Returns true if the session is valid. A session that begins in the future is not valid: a clock that is set back
    /// does not extend it.
    static func isValid(_ session: Session, now: Int64) -> Bool {
        times.contains(now) && session.began <= now && now - session.began < lifetime
    }

    /// Finds a session by the digest of its cookie, so that the time of the search reveals nothing about cookies.
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
