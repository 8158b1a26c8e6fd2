import Crypto
import DurableFiles
import LinuxClocks
import NIOPosix
import ProtocolCore

/// Knows whether a password is right, and lets nobody find it out by trying.
actor PasswordKeeper {
    enum Verdict: Hashable {
        case right
        case wrong
        /// Too many tries: for so long none counts.
        case wait(Duration)
    }

    /// Of a password that was right, for which it is not hashed again: what scrapes every few seconds would keep a core busy.
    private static let remembrance = Duration.seconds(300)
    /// Passwords remembered at once: there is one, and it may be changed.
    private static let mostRemembered = 8
    /// Hashes one after another on one thread, each with its 16 MB and 50 ms: those who guess wait for each other.
    private static let mostWaiting = 4
    /// How often the file is looked at.
    private static let freshness = Duration.seconds(1)

    private let file: PasswordFile
    private let threads = NIOThreadPool(numberOfThreads: 1)
    /// Of this process alone, so that what is remembered says nothing about a password.
    private let key = SymmetricKey(size: .bits256)
    private var guardian = PasswordGuard()
    private var remembered: [[UInt8]: Instant] = [:]
    private var underWay: [[UInt8]: Task<Bool, Never>] = [:]
    private var look: (result: Result<String?, FileError>, at: Instant)?

    init(_ file: PasswordFile) {
        self.file = file
        threads.start()
    }

    func stop() { threads.shutdownGracefully { _ in } }

    /// The password's hash as it is kept now; nil where there is no password.
    func hash() throws(FileError) -> String? {
        let now = BootClock.now
        if let look, now - look.at < Self.freshness { return try look.result.get() }
        let result: Result<String?, FileError>
        do throws(FileError) { result = .success(try file.hash()) } catch { result = .failure(error) }
        look = (result, now)
        return try result.get()
    }

    /// - Parameter guesser: whom to slow down where it is wrong.
    func verify(_ password: String, hash: String, by guesser: Guesser) async -> Verdict {
        let digest = digest(password, hash)
        let now = BootClock.now
        if let until = remembered[digest], until > now { return .right }
        if let same = underWay[digest] { return await same.value ? .right : .wrong }
        // Strangers who fill it keep nobody out who was right before.
        guard underWay.count < (guardian.knows(guesser) ? 2 : 1) * Self.mostWaiting else { return .wait(.seconds(1)) }
        if let wait = guardian.attempt(by: guesser, now: now) { return .wait(wait) }
        let threads = threads
        let task = Task { (try? await threads.runIfActive { PasswordFile.matches(password, hash) }) ?? false }
        underWay[digest] = task
        let isRight = await task.value
        underWay[digest] = nil
        guard isRight else { return .wrong }
        guardian.succeeded(by: guesser, now: BootClock.now)
        remembered = remembered.filter { $0.value > now }
        if remembered.count < Self.mostRemembered { remembered[digest] = BootClock.now + Self.remembrance }
        return .right
    }

    private func digest(_ password: String, _ hash: String) -> [UInt8] {
        var code = HMAC<SHA256>(key: key)
        code.update(data: Array(hash.utf8) + [0] + Array(password.utf8))
        return Array(code.finalize())
    }
}
