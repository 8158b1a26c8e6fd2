import Crypto
import DurableFiles
import LinuxClocks
import NIOPosix
import ProtocolCore

/// Knows whether a password is right, and whose it is, and lets nobody find it out by trying.
actor PasswordKeeper {
    enum Verdict: Hashable {
        case right(DashboardPassword)
        case wrong
        /// Too many tries: for so long none counts.
        case wait(Duration)
    }

    /// Of a password that was right, for which it is not hashed again: what scrapes every few seconds would keep a core busy.
    private static let remembrance = Duration.seconds(300)
    /// Passwords remembered at once: all that there are, and they may be changed.
    private static let mostRemembered = 2 * PasswordFile.most
    /// Tries one after another on one thread, each with 16 MB and 50 ms for each password: those who guess wait for each other.
    private static let mostWaiting = 4
    /// The tries that may wait beyond these: of devices and addresses on which a password was right, and again as many of owners'.
    private static let reserve = 4
    /// How often the file is looked at.
    private static let freshness = Duration.seconds(1)

    private let file: PasswordFile
    private let threads = NIOThreadPool(numberOfThreads: 1)
    /// Of this process alone, so that what is remembered says nothing about a password.
    private let key = SymmetricKey(size: .bits256)
    private var guardian = PasswordGuard()
    /// Ids of the passwords that they were.
    private var remembered: [[UInt8]: (id: String, until: Instant)] = [:]
    private var underWay: [[UInt8]: Task<String?, Never>] = [:]
    private var look: (result: Result<[DashboardPassword], FileError>, at: Instant)?

    init(_ file: PasswordFile) {
        self.file = file
        threads.start()
    }

    func stop() { threads.shutdownGracefully { _ in } }

    /// The passwords as they are kept now, also those that have ended; empty where there is none.
    func passwords() throws(FileError) -> [DashboardPassword] {
        let now = BootClock.now
        if let look, now - look.at < Self.freshness { return try look.result.get() }
        let result: Result<[DashboardPassword], FileError>
        do throws(FileError) { result = .success(try file.passwords()) } catch { result = .failure(error) }
        look = (result, now)
        return try result.get()
    }

    /// - Parameters:
    ///   - passwords: those that it may be.
    ///   - live: those of them that have not ended; nil for all. That an ended password was right makes nobody known.
    ///   - guesser: whom to slow down where it is none of them.
    func verify(
        _ password: String, among passwords: [DashboardPassword], live: [DashboardPassword]? = nil, by guesser: Guesser
    ) async -> Verdict {
        let live = live ?? passwords
        guardian.keep(ofPasswords: Set(live.map(\.id)))
        let digest = digest(password, passwords)
        func verdict(_ id: String?) -> Verdict { passwords.first { $0.id == id }.map { .right($0) } ?? .wrong }
        let now = BootClock.now
        if let known = remembered[digest], known.until > now { return verdict(known.id) }
        if let same = underWay[digest] { return verdict(await same.value) }
        // Strangers who fill it keep nobody out who was right before, and these keep out no owner.
        let room =
            switch guardian.standing(of: guesser) {
            case .stranger: Self.mostWaiting
            case .known: Self.mostWaiting + Self.reserve
            case .owner: Self.mostWaiting + 2 * Self.reserve
            }
        guard underWay.count < room else { return .wait(.seconds(1)) }
        if let wait = guardian.attempt(by: guesser, now: now) { return .wait(wait) }
        let threads = threads
        let task = Task {
            (try? await threads.runIfActive { passwords.first { PasswordFile.matches(password, $0.hash) }?.id }) ?? nil
        }
        underWay[digest] = task
        let found = await task.value
        underWay[digest] = nil
        guard let found else { return .wrong }
        if let known = live.first(where: { $0.id == found }) {
            guardian.succeeded(by: guesser, password: found, isOwners: known.role == .owner, now: BootClock.now)
        }
        remembered = remembered.filter { $0.value.until > now }
        if remembered.count < Self.mostRemembered { remembered[digest] = (found, BootClock.now + Self.remembrance) }
        return verdict(found)
    }

    private func digest(_ password: String, _ passwords: [DashboardPassword]) -> [UInt8] {
        var code = HMAC<SHA256>(key: key)
        code.update(data: passwords.flatMap { Array($0.hash.utf8) + [0] } + Array(password.utf8))
        return Array(code.finalize())
    }
}
