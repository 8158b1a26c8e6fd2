import Foundation
import HTTPTypes
import LinuxSystem
import ProtocolCore
import TestSupport
import Testing

@testable import Dashboard

/// Returns a client at an address in its own network.
private func somebody(_ address: String) -> LoginThrottleKey { LoginThrottleKey(network: address, address: address) }

@Suite struct PasswordGuardTests {
    private var guardian = PasswordGuard()
    private var now = Instant.zero

    @Test("Each wrong password doubles the wait, up to 30 seconds")
    mutating func aWrongPasswordCostsTwiceAsMuchEachTime() {
        var waits: [Duration] = []
        for _ in 0..<8 {
            #expect(guardian.attempt(by: somebody("a"), now: now) == nil)
            let wait = guardian.attempt(by: somebody("a"), now: now) ?? .zero
            waits.append(wait)
            now = now + wait
        }
        #expect(waits == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
    }

    @Test("A right password resets the wait")
    mutating func whoWasRightBeginsAnew() {
        for _ in 0..<4 {
            _ = guardian.attempt(by: somebody("a"), now: now)
            now = now + .seconds(30)
        }
        guardian.succeeded(by: somebody("a"), password: "p", isOwners: true, now: now)
        #expect(guardian.attempt(by: somebody("a"), now: now) == nil)
        #expect(guardian.attempt(by: somebody("a"), now: now) == .seconds(1))
    }

    @Test("Guesses from many addresses share a limit")
    mutating func manyAddressesAreSlowedDownTogether() {
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

    @Test("Guesses of other clients do not delay a client that sent a right password before")
    mutating func whoWasRightOnceDoesNotWaitForStrangers() {
        #expect(guardian.attempt(by: somebody("home"), now: now) == nil)
        guardian.succeeded(by: somebody("home"), password: "p", isOwners: true, now: now)
        for address in 0..<20 { _ = guardian.attempt(by: somebody("\(address)"), now: now) }
        #expect(guardian.attempt(by: somebody("stranger"), now: now) != nil)
        #expect(guardian.attempt(by: somebody("home"), now: now) == nil)
    }

    /// Attack class: one host in the house locks out the others. All hosts of a house share a network with the guesser.
    /// The right passwords of the other hosts must be checked nevertheless.
    @Test("A client that sent a right password before is not delayed by guesses of others in the same network")
    mutating func whoWasRightBeforeDoesNotWaitForItsOwnNetwork() {
        let phone = LoginThrottleKey(network: "house", address: "house::1"),
            stranger = LoginThrottleKey(network: "house", address: "house::666")
        let tablet = LoginThrottleKey(network: "house", address: "house::2", device: "tablet")
        #expect(guardian.attempt(by: phone, now: now) == nil)
        guardian.succeeded(by: phone, password: "p", isOwners: true, now: now)
        for _ in 0..<193 {
            _ = guardian.attempt(by: stranger, now: now)
            now = now + .seconds(1)
            #expect(guardian.attempt(by: phone, now: now) == nil)
            guardian.succeeded(by: phone, password: "p", isOwners: true, now: now)
            #expect(guardian.attempt(by: tablet, now: now) == nil)
            guardian.succeeded(by: tablet, password: "p", isOwners: true, now: now)
        }
        _ = guardian.attempt(by: stranger, now: now)
        #expect(guardian.attempt(by: stranger, now: now) != nil)
        // A stolen device cannot guess faster than a stranger.
        for _ in 0..<9 { _ = guardian.attempt(by: tablet, now: now) }
        #expect(guardian.attempt(by: tablet, now: now) != nil)
    }

    @Test("Four networks that guess continuously leave a new network its first tries")
    mutating func newNetworkHasTries() {
        for _ in 0..<600 {
            for address in 0..<4 { _ = guardian.attempt(by: somebody("\(address)"), now: now) }
            now = now + .seconds(1)
        }
        #expect(guardian.attempt(by: somebody("owner's new phone"), now: now) == nil)
        // The four networks together guess as slowly as one. A network without a try for ten minutes counts as new
        // again.
        var tries = 0
        for _ in 0..<600 {
            for address in 0..<4 where guardian.attempt(by: somebody("\(address)"), now: now) == nil { tries += 1 }
            now = now + .seconds(1)
        }
        #expect(tries < 35)
    }

    @Test("After a password is removed, the addresses that sent it are no longer known")
    mutating func knownAddressDiesWithItsPassword() {
        let viewer = somebody("viewer"), owner = somebody("owner")
        _ = guardian.attempt(by: viewer, now: now)
        guardian.succeeded(by: viewer, password: "v", isOwners: false, now: now)
        _ = guardian.attempt(by: owner, now: now)
        guardian.succeeded(by: owner, password: "o", isOwners: true, now: now)
        #expect(guardian.standing(of: viewer) == .known && guardian.standing(of: owner) == .owner)
        guardian.keep(ofPasswords: ["o"])
        #expect(guardian.standing(of: viewer) == .stranger && guardian.standing(of: owner) == .owner)
    }

    @Test("A password that many addresses send does not displace the known addresses of another password")
    mutating func addressesArePerPassword() {
        _ = guardian.attempt(by: somebody("owner"), now: now)
        guardian.succeeded(by: somebody("owner"), password: "o", isOwners: true, now: now)
        for address in 0..<1000 {
            now = now + .seconds(1)
            guardian.succeeded(by: somebody("v\(address)"), password: "v", isOwners: false, now: now)
        }
        #expect(guardian.standing(of: somebody("owner")) == .owner)
        let known = (0..<1000).count { guardian.standing(of: somebody("v\($0)")) == .known }
        #expect(known == PasswordGuard.addressesOfPassword)
    }

    @Test("No wait is longer than 30 seconds")
    mutating func nobodyIsLockedOut() {
        for _ in 0..<10_000 {
            if let wait = guardian.attempt(by: somebody("a"), now: now) {
                #expect(wait <= .seconds(30))
                now = now + wait
            }
        }
    }

    @Test("The wait is reset after ten minutes")
    mutating func timeHeals() {
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
    @Test("The session cookie is found among other cookies")
    func itIsFoundAmongOthers() {
        #expect(SessionCookie.values(in: ["a=b; smartplug=x; c=d", "smartplug=y"]) == ["x", "y"])
        #expect(SessionCookie.values(in: ["notsmartplug=x", "smartplug", ""]).isEmpty)
        #expect(SessionCookie.values(in: [String(repeating: "a=b;", count: 10_000)]).isEmpty)
    }

    @Test("The session cookie has the attributes that keep it private")
    func browsersKeepItToThemselves() {
        let header = SessionCookie.header("x", isSecure: true)
        for word in ["smartplug=x", "HttpOnly", "SameSite=Strict", "Path=/", "Secure"] {
            #expect(header.contains(word))
        }
        #expect(!SessionCookie.header("x", isSecure: false).contains("Secure"))
        #expect(SessionCookie.header(nil, isSecure: false).contains("Max-Age=0"))
    }

    @Test("A device cookie is valid only while its password exists")
    func deviceCookieDiesWithItsPassword() {
        let devices = DeviceCookie(secret: Array(0..<32))
        let cookie = devices.make(for: "p")
        func kept(_ text: String, by devices: DeviceCookie, _ passwords: [String] = ["o", "p"]) -> String? {
            devices.kept(in: [.cookie: text], among: passwords)?.cookie
        }
        #expect(kept("a=b; smartplug-device=\(cookie)", by: devices) == cookie)
        #expect(devices.kept(in: [.cookie: "smartplug-device=\(cookie)"], among: ["o", "p"])?.password == "p")
        #expect(
            kept("smartplug-device=\(cookie)", by: devices, ["o"]) == nil,
            "the cookie of a removed password was accepted")
        #expect(kept("smartplug-device=\(cookie)", by: devices, []) == nil)
        #expect(kept("smartplug=\(cookie)", by: devices) == nil)
        #expect(kept("smartplug-device=\(cookie)", by: DeviceCookie(secret: Array(1..<33))) == nil)
        #expect(kept("smartplug-device=0\(cookie.dropFirst())x", by: devices) == nil)
    }

    @Test("The device cookies of one password share a few names, so many cookies give no additional attempts")
    func deviceCookiesShareSlots() {
        let devices = DeviceCookie(secret: Array(0..<32))
        let names = (0..<300).compactMap { _ in
            devices.kept(in: [.cookie: "smartplug-device=\(devices.make(for: "p"))"], among: ["p"])?.name
        }
        #expect(names.count == 300 && Set(names).count <= DeviceCookie.slots)
    }

    @Test("Basic authorization has the password after the colon")
    func basicAuthorizationHasThePasswordBehindTheColon() {
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
    private let owners = "correct horse battery"

    @Test("A password is stored as a hash in a file that only its owner can read")
    func aPasswordIsKeptAsAHashForItsOwnerAlone() async throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/smartplug/password")
        #expect(try file.passwords().isEmpty)
        try file.set(owners)
        let all = try file.passwords()
        let owner = try #require(all.first)
        #expect(owner.hash.hasPrefix("$") && !owner.hash.contains("horse") && owner.role == .owner)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let keeper = PasswordKeeper(file)
        #expect(await keeper.verify(owners, among: all, by: somebody("a")) == .right(owner))
        #expect(await keeper.verify("wrong", among: all, by: somebody("a")) == .wrong)
        // Each wrong password doubles the wait, so even a slow machine reaches a wait.
        var answer = await keeper.verify("other", among: all, by: somebody("a"))
        for _ in 0..<8 where answer == .wrong { answer = await keeper.verify("other", among: all, by: somebody("a")) }
        guard case .wait = answer else { Issue.record("the wrong passwords caused no wait"); return }
        // The keeper accepts a right password that it knows although wrong passwords have caused a wait.
        #expect(await keeper.verify(owners, among: all, by: somebody("a")) == .right(owner))
        #expect(await keeper.verify(owners, among: all, by: somebody("b")) == .right(owner))
        await keeper.stop()
        #expect(try file.removeAll())
        #expect(try file.removeAll() == false)
    }

    @Test("Each password has its own role")
    func eachPasswordIsItsOwnRoles() async throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/password")
        // A first password for a viewer is rejected: without an owner's password, no user could manage the dashboard.
        #expect(throws: DashboardFault.self) { try file.set(owners, named: "Anna", role: .viewer) }
        try file.set(owners)
        try file.set("a viewer's words", named: "Hallway", role: .viewer)
        try file.set("a guest's words", named: "Visitor", role: .guest, until: 2_000_000_000)
        // A second name for the same password is rejected, because the password identifies the user.
        #expect(throws: DashboardFault.self) { try file.set(owners, named: "Anna", role: .viewer) }
        let all = try file.passwords()
        #expect(all.map(\.name) == ["owner", "Hallway", "Visitor"] && all.map(\.role) == [.owner, .viewer, .guest])
        #expect(all.map { $0.hasEnded(now: 2_000_000_000) } == [false, false, true])
        #expect(all.map { $0.hasEnded(now: 1_999_999_999) } == [false, false, false])
        let keeper = PasswordKeeper(file)
        #expect(await keeper.verify("a viewer's words", among: all, by: somebody("a")) == .right(all[1]))
        #expect(await keeper.verify("a viewer's words", among: all, by: somebody("a")) == .right(all[1]))
        #expect(await keeper.verify(owners, among: [all[1], all[2]], by: somebody("a")) == .wrong)
        await keeper.stop()
        #expect(throws: DashboardFault.self) { try file.remove("owner") }
        #expect(throws: DashboardFault.self) { try file.set("another one", role: .viewer) }
        #expect(throws: DashboardFault.self) { try file.remove("Nobody") }
        try file.remove("Hallway")
        #expect(try file.passwords().map(\.name) == ["owner", "Visitor"])
        try file.remove("Visitor")
        try file.remove("owner")
        #expect(try file.passwords().isEmpty)
    }

    @Test("The use of an expired password counts as a failed try")
    func endedPasswordIsNoSuccess() async throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/password")
        try file.set(owners)
        try file.set("a guest's words", named: "Visitor", role: .guest, until: 2_000_000_000)
        let all = try file.passwords()
        // The keeper's clock does not advance, so that the wait does not end during the test.
        let keeper = PasswordKeeper(file) { Instant.zero + .seconds(1000) }
        #expect(
            await keeper.verify("a guest's words", among: all, live: [all[0]], by: somebody("a")) == .right(all[1]))
        // The use of the expired password counted as a failure.
        guard case .wait = await keeper.verify("wrong", among: all, live: [all[0]], by: somebody("a")) else {
            Issue.record("the next try has no wait")
            return
        }
        await keeper.stop()
    }

    @Test("The number of passwords is limited")
    func thereAreFewPasswords() throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/password")
        let full = (0..<PasswordFile.most).map { "$made$up\($0)\t\($0 == 0 ? "owner" : "viewer")\t-\tp\($0)\n" }
        try FileStore().replaceSecret(file.path, with: Array(full.joined().utf8))
        #expect(throws: DashboardFault.self) { try file.set(owners, named: "one more", role: .viewer) }
        try file.set(owners, named: "p1", role: .viewer)
        #expect(try file.passwords().count == PasswordFile.most)
    }

    /// Attack class: an unreadable file opens the dashboard.
    @Test("If the password file has an invalid line, every login is refused")
    func aLineThatCannotBeReadOpensNothing() throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/password")
        let owner = "$made$up\towner\t-\towner\n"
        for bad in [
            "\n", "\t\t\t\n", "$x\tking\t-\tAnna\n", "$x\tviewer\tsoon\tAnna\n", "$x\tguest\t-\tAnna\n",
            "$x\towner\t12\tAnna\n", "$x\tviewer\t-\t\n", "$x\tviewer\t-\n", "$x\tviewer\t99999999999999999999\tA\n",
        ] {
            try FileStore().replaceSecret(file.path, with: Array((bad == "\n" ? bad : owner + bad).utf8))
            #expect(throws: FileError.self, "\(bad)") { try file.passwords() }
        }
        // A file of a version without roles has only the owner's hash.
        try FileStore().replaceSecret(file.path, with: Array("$made$up\n".utf8))
        let one = try file.passwords()
        #expect(one.map(\.role) == [.owner] && one.map(\.name) == ["owner"] && one.map(\.hash) == ["$made$up"])
    }

    @Test("A hash file that others can read is refused")
    func aHashThatOthersCouldHaveReadIsRefused() throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/password")
        try file.set("correct horse battery")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        #expect(throws: FileError.self) { try file.passwords() }
    }

    @Test("Invalid passwords and names are rejected")
    func aBadPasswordIsToldApart() {
        #expect(PasswordFile.fault(of: "short") != nil)
        #expect(PasswordFile.fault(of: "long enough") == nil)
        #expect(PasswordFile.fault(of: "a\u{0}bcdefghijk") != nil)
        #expect(PasswordFile.fault(of: String(repeating: "x", count: 300)) != nil)
        for name in ["Anna", "the hallway's tablet", "Zoë"] {
            #expect(DashboardPassword.fault(ofName: name) == nil, "\(name)")
        }
        for name in ["", " a", "a ", "-a", "a\tb", "a\nb", "a\u{9b}b", "a\u{202e}b", String(repeating: "x", count: 41)]
        {
            #expect(DashboardPassword.fault(ofName: name) != nil, "\(name)")
        }
    }
}
