import Foundation
import LinuxSystem
import PlugModel
import ProtocolCore
import TestSupport
import Testing

@testable import FirmwareProcess

/// Tests the report for each way in which a process can end. Other tests cover the signal handler, with a real plugd.
struct CrashReportsTests {
    private static let boot = BootID(bytes: [UInt8](repeating: 0x1A, count: 16))!
    private static let otherBoot = BootID(bytes: [UInt8](repeating: 2, count: 16))!

    private let disk = SimulatedDisk()

    init() throws {
        try FileStore(calls: disk).makeDirectories("/state")
        try FileStore(calls: disk).makeDirectories("/run/plugd")
    }

    private func reports(_ boot: BootID = boot) -> CrashReports {
        CrashReports(state: "/state", runtime: "/run/plugd", boot: boot, files: FileStore(calls: disk))
    }

    private func text(_ path: String) throws -> String? {
        try FileStore(calls: disk).readIfPresent(path, limit: 9000).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes the file that a process of `boot` leaves: a header, and these lines.
    private func leave(_ lines: String, boot: BootID = boot) throws {
        let text = "firmware 0.1.0\nboot \(LifeReport.words(boot))\nbuild 00ff\n\(lines)"
        try FileStore(calls: disk).replace("/run/plugd/life", with: Array(text.utf8))
    }

    @Test("A process that ended normally leaves no report") func nothingIsToldOfALifeThatEndedInOrder() throws {
        #expect(try reports().takeOver() == nil)
        #expect(try reports().last() == nil)
    }

    @Test("A fatal signal is reported with its time, and the report survives a loss of power")
    func aSignalIsToldWithItsTimeAndKeptInFlash() throws {
        try leave("signal SIGSEGV at address 0x10\n12345 ms after boot, thread plugd\nplugd+0x1f\n")
        let crash = try #require(try reports().takeOver())
        #expect(crash.count == 1 && crash.at == Instant(nanoseconds: 12_345_000_000))
        #expect(crash.report.hasPrefix("crash 1 of this boot\nfirmware 0.1.0\nboot 1a1a"))
        #expect(
            crash.report.hasSuffix(
                "build 00ff\nsignal SIGSEGV at address 0x10\n12345 ms after boot, thread plugd\nplugd+0x1f\n"))
        #expect(try reports().last() == crash)
        #expect(try reports().takeOver() == nil, "a report is taken over only once")
        // A loss of power clears the runtime directory, which is in memory.
        try FileStore(calls: disk).removeIfPresent("/run/plugd/crash")
        let old = try #require(try reports(Self.otherBoot).last())
        #expect(old.count == 0 && old.at == nil && old.report.hasPrefix("firmware 0.1.0\n"))
    }

    @Test("A killed process is reported without a write to flash") func aKillIsToldAndCostsNoFlash() throws {
        try leave("")
        let crash = try #require(try reports().takeOver())
        #expect(crash.count == 1 && crash.at == nil && crash.report.hasSuffix("\n" + LifeReport.killed))
        #expect(try text("/state/crash") == nil)
    }

    @Test("A loss of power is not a crash") func aLossOfPowerIsNoCrash() throws {
        try leave("signal SIGSEGV\n", boot: Self.otherBoot)
        #expect(try reports().takeOver() == nil)
    }

    @Test("Repeated crashes write flash once per boot")
    func aPlugThatCrashesAgainAndAgainWritesFlashOnceABoot() throws {
        for count in 1...5 {
            try leave("signal SIGSEGV at address \(count)\n")
            #expect(try reports().takeOver()?.count == count)
        }
        #expect(try reports().last()?.report.hasSuffix("address 5\n") == true)
        #expect(try text("/state/crash")?.hasSuffix("address 1\n") == true)
        try leave("signal SIGILL\n", boot: Self.otherBoot)
        #expect(try reports(Self.otherBoot).takeOver()?.count == 1)
        #expect(try text("/state/crash")?.hasSuffix("signal SIGILL\n") == true)
    }

    @Test(
        "Damaged files are not reported as a crash of this boot",
        arguments: [
            "", "\0\u{FFFD}", "boot", "boot 1a", "crash x\nsignal", "ms ms ms\n9999999999999999999 ms after boot",
        ])
    func whatIsDamagedIsNoCrashOfThisBoot(text: String) throws {
        try FileStore(calls: disk).replace("/run/plugd/life", with: Array(text.utf8))
        try FileStore(calls: disk).replace("/run/plugd/crash", with: Array(text.utf8))
        try FileStore(calls: disk).replace("/state/crash", with: Array(text.utf8))
        #expect(try reports().takeOver() == nil)
        #expect(try reports().last().map { $0.count == 0 && $0.at == nil } ?? true)
    }

    @Test("A crash is reported even if flash is read-only") func aFlashThatTakesNothingHidesNothing() throws {
        try leave("signal SIGSEGV\n")
        disk.change(.flash) { $0.isReadOnly = true }
        #expect(try reports().takeOver()?.count == 1)
        #expect(try reports().last()?.count == 1)
    }
}
