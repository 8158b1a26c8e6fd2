import DurableFiles
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
        guardian.succeeded(by: somebody("a"), password: "p", isOwners: true, now: now)
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
        guardian.succeeded(by: somebody("home"), password: "p", isOwners: true, now: now)
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
        // A device that was stolen guesses no faster than anybody else.
        for _ in 0..<9 { _ = guardian.attempt(by: tablet, now: now) }
        #expect(guardian.attempt(by: tablet, now: now) != nil)
    }

    @Test("Four networks that guess without end leave a new network its first tries")
    mutating func newNetworkHasTries() {
        for _ in 0..<600 {
            for address in 0..<4 { _ = guardian.attempt(by: somebody("\(address)"), now: now) }
            now = now + .seconds(1)
        }
        #expect(guardian.attempt(by: somebody("owner's new phone"), now: now) == nil)
        // The four together guess as slowly as one; a network that does not come to a try for ten minutes is new again.
        var tries = 0
        for _ in 0..<600 {
            for address in 0..<4 where guardian.attempt(by: somebody("\(address)"), now: now) == nil { tries += 1 }
            now = now + .seconds(1)
        }
        #expect(tries < 35)
    }

    @Test("An address is no longer known when the password is removed that was right there")
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

    @Test("A password that is right at many addresses does not push out the addresses of another one")
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

    @Test("A device cookie is known while its password is valid, and no longer")
    func deviceCookieDiesWithItsPassword() {
        let devices = DeviceCookie(secret: Array(0..<32))
        let cookie = devices.make(for: "p")
        func kept(_ text: String, by devices: DeviceCookie, _ passwords: [String] = ["o", "p"]) -> String? {
            devices.kept(in: [.cookie: text], among: passwords)?.cookie
        }
        #expect(kept("a=b; smartplug-device=\(cookie)", by: devices) == cookie)
        #expect(devices.kept(in: [.cookie: "smartplug-device=\(cookie)"], among: ["o", "p"])?.password == "p")
        #expect(kept("smartplug-device=\(cookie)", by: devices, ["o"]) == nil, "the password is removed")
        #expect(kept("smartplug-device=\(cookie)", by: devices, []) == nil)
        #expect(kept("smartplug=\(cookie)", by: devices) == nil)
        #expect(kept("smartplug-device=\(cookie)", by: DeviceCookie(secret: Array(1..<33))) == nil)
        #expect(kept("smartplug-device=0\(cookie.dropFirst())x", by: devices) == nil)
    }

    @Test("Any number of device cookies of one password counts as a few devices")
    func deviceCookiesShareSlots() {
        let devices = DeviceCookie(secret: Array(0..<32))
        let names = (0..<300).compactMap { _ in
            devices.kept(in: [.cookie: "smartplug-device=\(devices.make(for: "p"))"], among: ["p"])?.name
        }
        #expect(names.count == 300 && Set(names).count <= DeviceCookie.slots)
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
    private let owners = "correct horse battery"

    @Test func aPasswordIsKeptAsAHashForItsOwnerAlone() async throws {
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
        // Each wrong one doubles the wait, so that even a machine that stands still for seconds comes to one.
        var answer = await keeper.verify("other", among: all, by: somebody("a"))
        for _ in 0..<8 where answer == .wrong { answer = await keeper.verify("other", among: all, by: somebody("a")) }
        guard case .wait = answer else { Issue.record("no wait"); return }
        // What was right is remembered, however many wrong ones there were.
        #expect(await keeper.verify(owners, among: all, by: somebody("a")) == .right(owner))
        #expect(await keeper.verify(owners, among: all, by: somebody("b")) == .right(owner))
        await keeper.stop()
        #expect(try file.removeAll())
        #expect(try file.removeAll() == false)
    }

    @Test func eachPasswordIsItsOwnRoles() async throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/password")
        // Without an owner's there is none: a door that only viewers may pass would be nobody's to open.
        #expect(throws: DashboardFault.self) { try file.set(owners, named: "Anna", role: .viewer) }
        try file.set(owners)
        try file.set("a viewer's words", named: "Hallway", role: .viewer)
        try file.set("a guest's words", named: "Visitor", role: .guest, until: 2_000_000_000)
        // Who has a password that is another's would come as that one.
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

    @Test("An ended password that is tried again and again makes its browser known to nobody")
    func endedPasswordIsNoSuccess() async throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/password")
        try file.set(owners)
        try file.set("a guest's words", named: "Visitor", role: .guest, until: 2_000_000_000)
        let all = try file.passwords()
        let keeper = PasswordKeeper(file)
        #expect(
            await keeper.verify("a guest's words", among: all, live: [all[0]], by: somebody("a")) == .right(all[1]))
        // It counted as a failure.
        guard case .wait = await keeper.verify("wrong", among: all, live: [all[0]], by: somebody("a")) else {
            Issue.record("the try was allowed at once")
            return
        }
        await keeper.stop()
    }

    @Test func thereAreFewPasswords() throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/password")
        let full = (0..<PasswordFile.most).map { "$made$up\($0)\t\($0 == 0 ? "owner" : "viewer")\t-\tp\($0)\n" }
        try FileStore().replaceSecret(file.path, with: Array(full.joined().utf8))
        #expect(throws: DashboardFault.self) { try file.set(owners, named: "one more", role: .viewer) }
        try file.set(owners, named: "p1", role: .viewer)
        #expect(try file.passwords().count == PasswordFile.most)
    }

    /// Class: a file that cannot be read is a door that stands open.
    @Test func aLineThatCannotBeReadOpensNothing() throws {
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
        // Of the time before there were roles.
        try FileStore().replaceSecret(file.path, with: Array("$made$up\n".utf8))
        let one = try file.passwords()
        #expect(one.map(\.role) == [.owner] && one.map(\.name) == ["owner"] && one.map(\.hash) == ["$made$up"])
    }

    @Test func aHashThatOthersCouldHaveReadIsRefused() throws {
        let directory = TestFolder()
        let file = PasswordFile(directory.path + "/password")
        try file.set("correct horse battery")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        #expect(throws: FileError.self) { try file.passwords() }
    }

    @Test func aBadPasswordIsToldApart() {
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
