import Foundation
import HTTPTypes
import ProtocolCore
import TestFolders
import Testing

@testable import Dashboard

/// At an address that is a network of its own.
private func somebody(_ address: String) -> Guesser { Guesser(network: address, address: address) }

@Suite struct PasswordGuardTests {
    private var guardian = PasswordGuard()
    private var now = Instant.zero

    @Test mutating func aWrongPasswordCostsTwiceAsMuchEachTime() {
        var waits: [Duration] = []
        for _ in 0..<8 {
            #expect(guardian.attempt(by: somebody("a"), now: now) == nil)
            let wait = guardian.attempt(by: somebody("a"), now: now) ?? .zero
            waits.append(wait)
            now = now + wait
        }
        #expect(waits == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
    }

    @Test mutating func whoWasRightBeginsAnew() {
        for _ in 0..<4 {
            _ = guardian.attempt(by: somebody("a"), now: now)
            now = now + .seconds(30)
        }
        guardian.succeeded(by: somebody("a"), now: now)
        #expect(guardian.attempt(by: somebody("a"), now: now) == nil)
        #expect(guardian.attempt(by: somebody("a"), now: now) == .seconds(1))
    }

    @Test mutating func manyAddressesAreSlowedDownTogether() {
        var tries = 0
        var address = 0
        while now < .zero + .seconds(600) {
            while guardian.attempt(by: somebody("\(address)"), now: now) == nil {
                tries += 1
                address += 1
            }
            now = now + .seconds(1)
        }
        #expect(tries < 35)
    }

    @Test mutating func whoWasRightOnceDoesNotWaitForStrangers() {
        #expect(guardian.attempt(by: somebody("home"), now: now) == nil)
        guardian.succeeded(by: somebody("home"), now: now)
        for address in 0..<20 { _ = guardian.attempt(by: somebody("\(address)"), now: now) }
        #expect(guardian.attempt(by: somebody("stranger"), now: now) != nil)
        #expect(guardian.attempt(by: somebody("home"), now: now) == nil)
    }

    /// Class: one in the house keeps the others out. All of a house are of one network, and so was who guessed: the right password was
    /// never looked at.
    @Test mutating func whoWasRightBeforeDoesNotWaitForItsOwnNetwork() {
        let phone = Guesser(network: "house", address: "house::1"),
            stranger = Guesser(network: "house", address: "house::666")
        let tablet = Guesser(network: "house", address: "house::2", device: "tablet")
        #expect(guardian.attempt(by: phone, now: now) == nil)
        guardian.succeeded(by: phone, now: now)
        for _ in 0..<193 {
            _ = guardian.attempt(by: stranger, now: now)
            now = now + .seconds(1)
            #expect(guardian.attempt(by: phone, now: now) == nil)
            guardian.succeeded(by: phone, now: now)
            #expect(guardian.attempt(by: tablet, now: now) == nil)
            guardian.succeeded(by: tablet, now: now)
        }
        _ = guardian.attempt(by: stranger, now: now)
        #expect(guardian.attempt(by: stranger, now: now) != nil)
        // A device that was stolen guesses no faster than anybody else.
        for _ in 0..<9 { _ = guardian.attempt(by: tablet, now: now) }
        #expect(guardian.attempt(by: tablet, now: now) != nil)
    }

    @Test mutating func nobodyIsLockedOut() {
        for _ in 0..<10_000 {
            if let wait = guardian.attempt(by: somebody("a"), now: now) {
                #expect(wait <= .seconds(30))
                now = now + wait
            }
        }
    }

    @Test mutating func timeHeals() {
        for _ in 0..<6 {
            _ = guardian.attempt(by: somebody("a"), now: now)
            now = now + .seconds(30)
        }
        now = now + .seconds(601)
        #expect(guardian.attempt(by: somebody("a"), now: now) == nil)
        #expect(guardian.attempt(by: somebody("a"), now: now) == .seconds(1))
    }
}

@Suite struct SessionCookieTests {
    private let now: Int64 = 1_800_000_000

    @Test func whatWasMadeIsValidUntilItEnds() {
        let cookie = SessionCookie.sample.make(now: now)
        #expect(SessionCookie.sample.isValid(cookie, now: now))
        #expect(SessionCookie.sample.isValid(cookie, now: now + SessionCookie.lifetime - 1))
        #expect(!SessionCookie.sample.isValid(cookie, now: now + SessionCookie.lifetime))
        #expect(cookie != SessionCookie.sample.make(now: now))
    }

    @Test func anotherPasswordOrKeyEndsIt() {
        let cookie = SessionCookie.sample.make(now: now)
        #expect(!SessionCookie(secret: Array(0..<32), hash: "$y$other").isValid(cookie, now: now))
        #expect(!SessionCookie(secret: Array(1..<33), hash: "$y$j9T$made$up").isValid(cookie, now: now))
    }

    @Test func noByteOfItCanBeChanged() {
        let cookie = Array(SessionCookie.sample.make(now: now).utf8)
        for index in cookie.indices {
            for bit in 0..<7 {
                var forged = cookie
                forged[index] ^= 1 << UInt8(bit)
                let text = String(decoding: forged, as: UTF8.self)
                // Capitals of the code's digits are the same code.
                guard text.lowercased() != String(decoding: cookie, as: UTF8.self) else { continue }
                #expect(!SessionCookie.sample.isValid(text, now: now), "\(text)")
            }
        }
        for text in ["", ".", "..", "...", "9999999999..", "9999999999.\(String(repeating: "0", count: 32))."] {
            #expect(!SessionCookie.sample.isValid(text, now: now))
        }
    }

    @Test func itIsFoundAmongOthers() {
        #expect(SessionCookie.values(in: ["a=b; smartplug=x; c=d", "smartplug=y"]) == ["x", "y"])
        #expect(SessionCookie.values(in: ["notsmartplug=x", "smartplug", ""]).isEmpty)
        #expect(SessionCookie.values(in: [String(repeating: "a=b;", count: 10_000)]).isEmpty)
    }

    @Test func browsersKeepItToThemselves() {
        let header = SessionCookie.header("x", isSecure: true)
        for word in ["smartplug=x", "HttpOnly", "SameSite=Strict", "Path=/", "Secure"] {
            #expect(header.contains(word))
        }
        #expect(!SessionCookie.header("x", isSecure: false).contains("Secure"))
        #expect(SessionCookie.header(nil, isSecure: false).contains("Max-Age=0"))
    }

    @Test func aDeviceIsKnownByItsCookieAlone() {
        let devices = DeviceCookie(secret: Array(0..<32))
        let cookie = devices.make()
        func kept(_ text: String, by devices: DeviceCookie) -> String? { devices.kept(in: [.cookie: text]) }
        #expect(kept("a=b; smartplug-device=\(cookie)", by: devices) == cookie)
        #expect(kept("smartplug=\(cookie)", by: devices) == nil)
        #expect(kept("smartplug-device=\(cookie)", by: DeviceCookie(secret: Array(1..<33))) == nil)
        #expect(kept("smartplug-device=0\(cookie.dropFirst())x", by: devices) == nil)
        #expect(!SessionCookie.sample.isValid(cookie, now: now))
    }

    @Test func basicAuthorizationHasThePasswordBehindTheColon() {
        func header(_ text: String) -> String { "Basic " + Data(text.utf8).base64EncodedString() }
        #expect(BasicAuthorization.password(in: [header("prometheus:a:b c")]) == "a:b c")
        #expect(BasicAuthorization.password(in: [header(":é")]) == "é")
        #expect(BasicAuthorization.password(in: [header("me:\u{301}x")]) == "\u{301}x")
        #expect(BasicAuthorization.password(in: [header("nobody")]) == nil)
        #expect(BasicAuthorization.password(in: ["Bearer x"]) == nil)
        #expect(BasicAuthorization.password(in: [header("a:b"), header("a:b")]) == nil)
        #expect(BasicAuthorization.password(in: []) == nil)
    }
}

@Suite struct PasswordKeeperTests {
    @Test func aPasswordIsKeptAsAHashForItsOwnerAlone() async throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/smartplug/password")
        #expect(try file.hash() == nil)
        try file.set("correct horse battery")
        let hash = try #require(try file.hash())
        #expect(hash.hasPrefix("$") && !hash.contains("horse"))
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let keeper = PasswordKeeper(file)
        #expect(await keeper.verify("correct horse battery", hash: hash, by: somebody("a")) == .right)
        #expect(await keeper.verify("wrong", hash: hash, by: somebody("a")) == .wrong)
        // Each wrong one doubles the wait, so that even a machine that stands still for seconds comes to one.
        var answer = await keeper.verify("other", hash: hash, by: somebody("a"))
        for _ in 0..<8 where answer == .wrong { answer = await keeper.verify("other", hash: hash, by: somebody("a")) }
        guard case .wait = answer else { Issue.record("no wait"); return }
        // What was right is remembered, however many wrong ones there were.
        #expect(await keeper.verify("correct horse battery", hash: hash, by: somebody("a")) == .right)
        #expect(await keeper.verify("correct horse battery", hash: hash, by: somebody("b")) == .right)
        await keeper.stop()
        #expect(try file.remove())
        #expect(try file.remove() == false)
    }

    @Test func aHashThatOthersCouldHaveReadIsRefused() throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/password")
        try file.set("correct horse battery")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        #expect(throws: (any Error).self) { try file.hash() }
    }

    @Test func aBadPasswordIsToldApart() {
        #expect(PasswordFile.fault(of: "short") != nil)
        #expect(PasswordFile.fault(of: "long enough") == nil)
        #expect(PasswordFile.fault(of: "a\u{0}bcdefghijk") != nil)
        #expect(PasswordFile.fault(of: String(repeating: "x", count: 300)) != nil)
    }
}
