import Crypto
import LinuxSystem
import NIOPosix
import ProtocolCore

/// Verifies passwords on its own thread, and limits attempts.
actor PasswordKeeper {
    enum Verdict: Hashable {
        case right(DashboardPassword)
        case wrong
        /// Too many attempts. The sender has to wait for this time.
        case wait(Duration)
    }

    /// The time for which a right password is remembered and not hashed again. Otherwise a client that scrapes every
    /// few seconds would keep a core busy.
    private static let remembrance = Duration.seconds(300)
    /// The maximum number of remembered passwords: all that exist, and as many again for changes.
    private static let mostRemembered = 2 * PasswordFile.most
    /// The number of running and waiting attempts at which further attempts of unknown senders are rejected. Each needs
    /// 16 MB, and 50 ms per password.
    private static let mostWaiting = 4
    /// The additional number of attempts that known devices and addresses may use. Known devices and addresses of
    /// owners may use twice this number.
    private static let reserve = 4
    /// The minimum time between two reads of the file.
    private static let freshness = Duration.seconds(1)

    private let file: PasswordFile
    private let clock: @Sendable () -> Instant
    private let threads = NIOThreadPool(numberOfThreads: 1)
    /// A key of this process only, so that the remembered digests reveal nothing about a password.
    private let key = SymmetricKey(size: .bits256)
    private var guardian = PasswordGuard()
    /// The ids of the remembered passwords, by digest.
    private var remembered: [[UInt8]: (id: String, until: Instant)] = [:]
    private var underWay: [[UInt8]: Task<String?, Never>] = [:]
    private var look: (result: Result<[DashboardPassword], FileError>, at: Instant)?

    /// - Parameter clock: returns the current time.
    init(_ file: PasswordFile, clock: @escaping @Sendable () -> Instant = { BootClock.now }) {
        self.file = file
        self.clock = clock
        threads.start()
    }

    func stop() { threads.shutdownGracefully { _ in } }

    /// Returns the stored passwords, including expired ones.
    func passwords() throws(FileError) -> [DashboardPassword] {
        let now = clock()
        if let look, now - look.at < Self.freshness { return try look.result.get() }
        let result: Result<[DashboardPassword], FileError>
        do throws(FileError) { result = .success(try file.passwords()) } catch { result = .failure(error) }
        look = (result, now)
        return try result.get()
    }

    /// Verifies a password.
    ///
    /// - Parameters:
    ///   - passwords: the candidates.
    ///   - live: the candidates that have not expired; nil for all. A login with an expired password does not make the
    ///     sender known.
    ///   - guesser: the sender, which is slowed down after a wrong password.
    func verify(
        _ password: String, among passwords: [DashboardPassword], live: [DashboardPassword]? = nil,
        by guesser: LoginThrottleKey
    ) async -> Verdict {
        let live = live ?? passwords
        guardian.keep(ofPasswords: Set(live.map(\.id)))
        let digest = digest(password, passwords)
        func verdict(_ id: String?) -> Verdict { passwords.first { $0.id == id }.map { .right($0) } ?? .wrong }
        let now = clock()
        if let known = remembered[digest], known.until > now { return verdict(known.id) }
        if let same = underWay[digest] { return verdict(await same.value) }
        // Unknown senders that fill the queue do not block known ones, and known ones do not block owners.
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
            guardian.succeeded(by: guesser, password: found, isOwners: known.role == .owner, now: clock())
        }
        remembered = remembered.filter { $0.value.until > now }
        if remembered.count < Self.mostRemembered { remembered[digest] = (found, clock() + Self.remembrance) }
        return verdict(found)
    }

    private func digest(_ password: String, _ passwords: [DashboardPassword]) -> [UInt8] {
        var code = HMAC<SHA256>(key: key)
        code.update(data: passwords.flatMap { Array($0.hash.utf8) + [0] } + Array(password.utf8))
        return Array(code.finalize())
    }
}
