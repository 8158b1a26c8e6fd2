import Foundation
import LinuxSystem
import Synchronization
import TestSupport
import Testing

@testable import Dashboard

@Suite struct SessionsTests {
    private let now: Int64 = 1_800_000_000
    private var sessions = Sessions()

    private mutating func begin(_ password: String = "p", now: Int64? = nil) -> String {
        sessions.begin(password, device: "Firefox on Linux", address: "192.0.2.1", now: now ?? self.now)
    }

    @Test("A session is valid until its lifetime ends")
    mutating func whatWasBegunIsGoodUntilItEnds() throws {
        let cookie = begin()
        #expect(sessions.use(cookie, address: "192.0.2.7", now: now + 5)?.used == now + 5)
        #expect(sessions.all.map(\.address) == ["192.0.2.7"])
        #expect(sessions.use(cookie, address: "", now: now + Sessions.lifetime - 1) != nil)
        #expect(sessions.use(cookie, address: "", now: now + Sessions.lifetime) == nil)
        // After the clock was set back, a session that started later than now is not valid.
        #expect(sessions.use(cookie, address: "", now: now - 1) == nil)
        #expect(begin() != begin())
    }

    /// Attack class: a copied cookie that remains valid after the logout.
    @Test("The cookie of an ended session is not valid")
    mutating func aCookieOfAnEndedSessionOpensNothing() throws {
        let (stolen, other) = (begin(), begin())
        let id = try #require(sessions.session(of: stolen)).id
        #expect(sessions.end(id)?.id == id)
        #expect(sessions.end(id) == nil)
        #expect(sessions.use(stolen, address: "", now: now) == nil && sessions.use(other, address: "", now: now) != nil)
        #expect(sessions.endAll().count == 1)
        #expect(sessions.use(other, address: "", now: now) == nil && sessions.all.isEmpty)
    }

    @Test("The stored and shown data of a session is not a valid cookie")
    mutating func whatIsKeptAndShownIsNoCookie() throws {
        let cookie = begin()
        let session = try #require(sessions.all.first)
        let text = String(decoding: try JSONEncoder().encode(session), as: UTF8.self)
        #expect(!text.contains(cookie) && !text.contains(cookie.prefix(16)))
        for guess in [
            session.id, session.digest, "", "smartplug", cookie + "0", String(cookie.dropLast()), cookie.uppercased(),
        ]
        where guess != cookie {
            #expect(sessions.use(guess, address: "", now: now) == nil, "\(guess)")
        }
        for index in cookie.utf8.indices {
            var forged = Array(cookie.utf8)
            forged[cookie.utf8.distance(from: cookie.utf8.startIndex, to: index)] ^= 1
            #expect(sessions.use(String(decoding: forged, as: UTF8.self), address: "", now: now) == nil)
        }
    }

    /// Attack class: one user fills the session table. A guest must not be able to log the owner out.
    @Test("Sessions of one password do not displace those of another")
    mutating func onePasswordTakesThePlacesOfNoOther() {
        let owner = begin("owner")
        var first: String?
        for round in 0..<500 {
            let cookie = begin("guest", now: now + Int64(round))
            first = first ?? cookie
        }
        #expect(sessions.all.count == Sessions.mostOfPassword + 1)
        #expect(sessions.use(owner, address: "", now: now + 500) != nil)
        #expect(
            sessions.use(first ?? "", address: "", now: now + 500) == nil,
            "the session that was idle for longest must have ended")
    }

    @Test("Sessions of a removed password end")
    mutating func thoseOfAPasswordThatIsGoneEnd() {
        let (old, new) = (begin("old"), begin("new"))
        let (nothing, one) = (
            sessions.keep(ofPasswords: ["old", "new"], now: now), sessions.keep(ofPasswords: ["new"], now: now)
        )
        #expect(!nothing && one)
        #expect(sessions.use(old, address: "", now: now) == nil && sessions.use(new, address: "", now: now) != nil)
        let last = sessions.keep(ofPasswords: ["new"], now: now + Sessions.lifetime)
        #expect(last && sessions.all.isEmpty)
    }

    @Test("Invalid stored sessions are dropped")
    mutating func aFileTellsOnlySessions() throws {
        _ = begin()
        let good = try #require(sessions.all.first)
        func kept(_ change: (inout Session) -> Void) -> Int {
            var one = good
            change(&one)
            return Sessions(stored: [one]).all.count
        }
        #expect(kept { _ in } == 1)
        #expect(kept { $0.id = "../../etc" } == 0)
        #expect(kept { $0.digest = "" } == 0)
        #expect(kept { $0.began = .max } == 0)
        #expect(kept { $0.began = .min } == 0)
        #expect(kept { $0.used = .max } == 0)
        #expect(kept { $0.device = String(repeating: "x", count: 5000) } == 0)
        #expect(Sessions(stored: [good, good]).all.count == 1)
        let many = (0..<1000).map { number in
            var one = good
            one.id = String(repeating: "0", count: 8 - String(number).count) + String(number)
            return one
        }
        #expect(Sessions(stored: many).all.count == Sessions.most)
    }

    @Test("A long browser name is truncated")
    func aLongNameOfABrowserIsCut() throws {
        var sessions = Sessions()
        _ = sessions.begin("p", device: String(repeating: "é", count: 5000), address: "::1", now: now)
        #expect(try #require(sessions.all.first).device.utf8.count == 100)
    }

    @Test("Browsers are named by a short description")
    func browsersAreToldApartInFewWords() {
        let linux = "Mozilla/5.0 (X11; Linux x86_64)"
        let phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15"
        for (agent, words) in [
            ("\(linux) Gecko/20100101 Firefox/128.0", "Firefox on Linux"),
            ("\(linux) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36", "Chrome on Linux"),
            ("\(linux) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36 Edg/126.0", "Edge on Linux"),
            ("\(phone) (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1", "Safari on iPhone"),
            ("curl/8.5.0", "curl"), ("", "a program"), ("\u{1b}[2J", "a program"),
        ] { #expect(DeviceDescription.of(agent) == words, "\(agent)") }
        #expect(DeviceDescription.of(nil) == "a program")
    }
}

@Suite struct SessionKeeperTests {
    private let now: Int64 = 1_800_000_000

    @Test("Sessions and their ends survive a restart")
    func sessionsOutliveTheProcessAndTheirEndsDoToo() async throws {
        let directory = TestFolder()
        let path = directory.path + "/dashboard/sessions"
        var keeper = SessionKeeper(path)
        let kept = await keeper.begin("p", device: "Firefox", address: "::1", now: now)
        let ended = await keeper.begin("p", device: "Firefox", address: "::1", now: now)
        #expect(try await keeper.end(of: [ended], now: now).count == 1)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let bytes = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        #expect(!bytes.contains(kept) && !bytes.contains(ended))
        keeper = SessionKeeper(path)
        #expect(await keeper.use([ended], address: "", now: now) == nil)
        let found = try #require(await keeper.use(["nonsense", kept], address: "", now: now))
        #expect(try await keeper.end(found.id, now: now).map(\.id) == [found.id])
        #expect(try await keeper.end(found.id, now: now).isEmpty)
        keeper = SessionKeeper(path)
        #expect(await keeper.use([kept], address: "", now: now) == nil)
    }

    /// Attack class: a manipulated or truncated file creates sessions.
    @Test("A session file that others can write or that is invalid is ignored")
    func aFileThatIsNotOursHasNoSessions() async throws {
        let directory = TestFolder()
        let path = directory.path + "/sessions"
        let (complaints, told) = AsyncStream.makeStream(of: String.self)
        for (bytes, mode) in [("[]", 0o660), ("{", 0o600), ("[{\"id\":1}]", 0o600)] {
            try Data(bytes.utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let keeper = SessionKeeper(path) { told.yield($0) }
            #expect(await keeper.all.isEmpty)
            var iterator = complaints.makeAsyncIterator()
            #expect(await iterator.next()?.contains("log in again") == true)
        }
    }

    /// Attack class: a restart silently reverts the end of a session.
    @Test("An end that cannot be stored is reported")
    func anEndThatIsNotStoredIsSaid() async throws {
        let directory = TestFolder()
        let path = directory.path + "/sessions"
        let keeper = SessionKeeper(path, pause: .milliseconds(10))
        let cookie = await keeper.begin("p", device: "Firefox", address: "::1", now: now)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        await #expect(throws: FileError.self) { try await keeper.end(of: [cookie], now: now) }
        #expect(await keeper.use([cookie], address: "", now: now) == nil, "the session has ended nevertheless")
    }

    /// The kernel's file calls, with a count of replaced files.
    private final class CountingFiles: FileCalls {
        private let kernel = LinuxFileCalls()
        private let count = Mutex(0)

        var replaced: Int { count.withLock { $0 } }

        func rename(_ path: String, to newPath: String) throws(SystemError) {
            count.withLock { $0 += 1 }
            try kernel.rename(path, to: newPath)
        }

        func open(_ path: String, _ purpose: OpenPurpose) throws(SystemError) -> Int32 {
            try kernel.open(path, purpose)
        }
        func close(_ descriptor: Int32) { kernel.close(descriptor) }
        func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
            try kernel.read(descriptor, into: buffer)
        }
        func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int {
            try kernel.write(descriptor, bytes)
        }
        func length(_ descriptor: Int32) throws(SystemError) -> Int { try kernel.length(descriptor) }
        func access(_ descriptor: Int32) throws(SystemError) -> FileAccess { try kernel.access(descriptor) }
        func setMode(_ descriptor: Int32, to mode: UInt32) throws(SystemError) {
            try kernel.setMode(descriptor, to: mode)
        }
        func truncate(_ descriptor: Int32, to length: Int) throws(SystemError) {
            try kernel.truncate(descriptor, to: length)
        }
        func synchronize(_ descriptor: Int32) throws(SystemError) { try kernel.synchronize(descriptor) }
        func link(_ path: String, to newPath: String) throws(SystemError) { try kernel.link(path, to: newPath) }
        func remove(_ path: String) throws(SystemError) { try kernel.remove(path) }
        func makeDirectory(_ path: String, mode: UInt32) throws(SystemError) {
            try kernel.makeDirectory(path, mode: mode)
        }
        func isDirectory(_ path: String) -> Bool { kernel.isDirectory(path) }
        func names(in directory: String) throws(SystemError) -> [String] { try kernel.names(in: directory) }
        func lock(_ descriptor: Int32) throws(SystemError) { try kernel.lock(descriptor) }
        func unlock(_ descriptor: Int32) { kernel.unlock(descriptor) }
    }

    @Test("Logins and logouts within the pause after a write cause no further write")
    func writesCoalesce() async throws {
        let directory = TestFolder()
        let path = directory.path + "/sessions"
        let files = CountingFiles()
        let keeper = SessionKeeper(path, files: FileStore(calls: files), pause: .seconds(3600))
        let first = await keeper.begin("owner", device: "Firefox", address: "::1", now: now)
        for _ in 0..<100 {
            let cookie = await keeper.begin("viewer", device: "curl", address: "::1", now: now)
            #expect(try await keeper.end(of: [cookie], now: now).count == 1)
        }
        #expect(files.replaced == 1)
        await keeper.stop(now: now)
        #expect(await SessionKeeper(path).use([first], address: "", now: now) != nil)
    }

    @Test("A session that started within the pause is stored after it")
    func changesAreStoredAfterThePause() async throws {
        let directory = TestFolder()
        let path = directory.path + "/sessions"
        let keeper = SessionKeeper(path, pause: .milliseconds(10))
        var last = ""
        for _ in 0..<5 { last = await keeper.begin("p", device: "Firefox", address: "::1", now: now) }
        while await SessionKeeper(path).use([last], address: "", now: now) == nil {
            try await Task.sleep(for: .milliseconds(10))
        }
        // An end is confirmed after it is stored.
        #expect(try await keeper.end(of: [last], now: now).count == 1)
        #expect(await SessionKeeper(path).use([last], address: "", now: now) == nil)
    }
}
