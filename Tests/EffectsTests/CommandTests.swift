import Foundation
import TestSupport
import Testing

@testable import Effects

/// Runs real programs.
@Suite("Commands") struct CommandTests {
    private let performer = EffectPerformer()

    /// Calls the body with the path of a file that is deleted afterwards.
    private func withFile(_ body: (String) async throws -> Void) async throws {
        let folder = TestFolder()
        try await body(folder.path + "/file")
    }

    private func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    @Test("A program reads the event as JSON on its standard input") func itReadsWhatHappened() async throws {
        try await withFile { path in
            #expect(await performer.perform(request(.run(["tee", path], timeout: .seconds(20)))) == .done)
            let event = try JSONDecoder().decode(EffectEvent.self, from: Data(text(path).utf8))
            #expect(event.rule == "Laundry \"done\"" && event.plug == "Washer" && event.value == 2.5)
            #expect(event.id == String(repeating: "a5", count: 16))
            #expect(event.at?.count == 24 && event.at?.hasSuffix("Z") == true)
        }
    }

    @Test("A program that does not read its input succeeds")
    func itNeedNotReadIt() async { #expect(await performer.perform(script("exec <&-; exit 0")) == .done) }

    @Test("The words of a command are not interpreted by a shell") func noShellReadsTheWords() async throws {
        try await withFile { path in
            let words = ["sh", "-c", "printf '%s' \"$1\" >\(path)", "x", "a; echo $(id) > b"]
            #expect(await performer.perform(request(.run(words, timeout: .seconds(20)))) == .done)
            #expect(text(path) == "a; echo $(id) > b")
        }
    }

    @Test("A program inherits only PATH, HOME and LANG, and no descriptors of the daemon")
    func itHasLittleOfOurEnvironmentAndNoneOfOurFiles() async throws {
        setenv("SMARTPLUG_SECRET_OF_TEST", "x", 1)
        try await withFile { path in
            #expect(await performer.perform(script("env | cut -d= -f1 >\(path); ls /proc/self/fd >>\(path)")) == .done)
            let lines = Set(text(path).split(separator: "\n").map(String.init))
            #expect(lines.isSuperset(of: ["PATH", "SMARTPLUG_RULE", "SMARTPLUG_WHY", "0", "1", "2"]))
            // The shell adds PWD and similar variables; ls has its folder open.
            let known: Set = [
                "PATH", "HOME", "LANG", "SMARTPLUG_RULE", "SMARTPLUG_EVENT_ID", "SMARTPLUG_PLUG", "SMARTPLUG_VALUE",
                "SMARTPLUG_WHY", "PWD", "OLDPWD", "SHLVL", "_", "0", "1", "2", "3",
            ]
            #expect(lines.isSubset(of: known), "\(lines.subtracting(known))")
        }
    }

    @Test("The environment of a program contains the event")
    func whatHappenedStandsInTheEnvironmentAsWell() async throws {
        try await withFile { path in
            #expect(await performer.perform(script("env | grep ^SMARTPLUG_[A-Z_]*= | sort >\(path)")) == .done)
            let expected = [
                "SMARTPLUG_EVENT_ID=" + String(repeating: "a5", count: 16), "SMARTPLUG_PLUG=Washer",
                "SMARTPLUG_RULE=Laundry \"done\"", "SMARTPLUG_VALUE=2.5",
                "SMARTPLUG_WHY=Washer fell below 5 W (now 2.5 W)",
            ]
            let lines = text(path).split(separator: "\n").map(String.init)
            #expect(lines.filter { !$0.hasPrefix("SMARTPLUG_SECRET") } == expected)
        }
    }

    @Test("A failure reports the exit status and the last line of output")
    func aStatusAndTheLastWordsSayWhyItFailed() async {
        let outcome = await performer.perform(script("echo first; echo 'no \u{1B}such thing' >&2; exit 3"))
        #expect(outcome == .failed("sh ended with status 3: no  such thing"))
        #expect(await performer.perform(script("kill -9 $$")).words == "sh was ended by signal 9")
    }

    @Test("A program that cannot be started is reported with the reason") func whatCannotBeStartedIsSaid() async {
        let missing = await performer.perform(request(.run(["/no/such/program"], timeout: .seconds(5))))
        #expect(missing == .failed("/no/such/program cannot be started: No such file or directory"))
        #expect(await performer.perform(request(.run([], timeout: .seconds(5)))).words.contains("cannot be started"))
        let zero = await performer.perform(request(.run(["true", "a\u{0}b"], timeout: .seconds(5))))
        #expect(zero.words.contains("zero byte"))
    }

    @Test("A program is ended at its timeout") func itsTimeIsLimited() async {
        let outcome = await performer.perform(script("sleep 1000000", timeout: .milliseconds(200)))
        #expect(outcome.words == "sh took longer than 0.2 s and was ended")
    }

    @Test("A program that ignores SIGTERM is killed at its timeout, with its children")
    func alsoWhereItRefusesToEndAndHasChildren() async throws {
        try await withFile { path in
            let parent = "(trap '' TERM; sleep 61 & echo $! >\(path); wait)"
            let stubborn = "trap '' TERM; \(parent) & while :; do sleep 1; done"
            let outcome = await performer.perform(script(stubborn, timeout: .milliseconds(500)))
            #expect(outcome.words.contains("took longer"))
            let child = try #require(Int32(text(path).trimmingCharacters(in: .newlines)))
            #expect(isGone(child))
        }
    }

    @Test("Children that a program leaves behind are killed when it ends")
    func whatItLeavesBehindEndsWithIt() async throws {
        try await withFile { path in
            #expect(await performer.perform(script("sleep 62 & echo $! >\(path)")) == .done)
            let child = try #require(Int32(text(path).trimmingCharacters(in: .newlines)))
            #expect(isGone(child))
        }
    }

    @Test("A process that left the program's process group and keeps the output open does not delay the outcome")
    func whoeverHoldsItsOutputKeepsNobodyWaiting() async throws {
        try await withFile { path in
            let other = "setsid sh -c 'echo $$ >\(path); exec sleep 1000000' &"
            let outcome = await performer.perform(script("\(other) sleep 0.3; exit 4"))
            #expect(outcome.words == "sh ended with status 4")
            if let other = Int32(text(path).trimmingCharacters(in: .newlines)) { kill(other, SIGKILL) }
        }
    }

    @Test("A flood of output is cut to its last line") func aFloodOfOutputFillsNothing() async {
        let flood = await performer.perform(script("yes 0123456789", timeout: .milliseconds(300)))
        #expect(flood.words.contains("took longer") && flood.words.utf8.count < 400)
        let long = await performer.perform(script("head -c 1000000 /dev/zero | tr '\\0' x; echo; echo end; exit 1"))
        #expect(long == .failed("sh ended with status 1: end"))
        // This output is longer than the buffer of one read.
        let burst = await performer.perform(script("head -c 60000 /dev/zero | tr '\\0' x; echo; echo end; exit 1"))
        #expect(burst == .failed("sh ended with status 1: end"))
    }

    @Test("Cancelling the task ends the program") func whoeverGivesUpEndsIt() async {
        let task = Task { await performer.perform(script("sleep 1000000")) }
        task.cancel()
        #expect(await task.value == nil)
    }

    /// Returns true if the process is gone or is a zombie. Waits up to 2 s.
    private func isGone(_ id: Int32) -> Bool {
        for _ in 0..<200 {
            let state = text("/proc/\(id)/stat").split(separator: ")").last?.dropFirst().first
            if state == nil || state == "Z" || state == "X" { return true }
            sched_yield()
            usleep(10_000)
        }
        return false
    }
}
