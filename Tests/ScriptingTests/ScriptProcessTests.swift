import PlugModel
import RuleFiles
import RuleModel
import Testing

@testable import Scripting

@Suite("A script's process") struct ScriptProcessTests {
    private func fault(_ body: () throws(ScriptFault) -> Void) -> ScriptFault? {
        do throws(ScriptFault) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test("The triggers of a script become rules") func scriptBecomesRules() throws {
        let script = try StandIn.script("log = ['hello']")
        #expect(script.rules.map(\.name) == ["house.lua:1"] && script.log == ["hello"])
        #expect(script.rules[0].triggers == [.button(plug: "Button", .long)])
        #expect(script.rules[0].actions == [.call(ScriptHandler(script: "house.lua", index: 0))])
    }

    @Test("Consecutive calls are answered, and only changed plugs are sent")
    func callIsAnsweredAndTheNextOneToo() throws {
        let script = try StandIn.script(
            """
            state = load.get('state', 0)
            def call(call):
                global state
                state = state + 1
                lamp = call.get('plugs', [{}])[0].get('on')
                return {'then': [{'turn on': call['event']['plug']}], 'state': state, 'log': [str(lamp)]}
            """)
        let process = try ScriptProcess(script, host: StandIn.path, state: "41", time: .start)
        var answers: [ScriptOutcome] = []
        for view in [PlugView.lamp(on: true, percent: 10), .lamp(on: true, percent: 10), .lamp(on: false, percent: 10)]
        {
            answers.append(try process.call(.press(), plugs: [view], time: .start))
        }
        let expected = [("42", "True"), ("43", "None"), ("44", "False")].map { state, lamp in
            var answer = ScriptAnswer()
            (answer.actions, answer.state, answer.log) = ([.turnOn(["Button"])], state, [lamp])
            return ScriptOutcome.answered(answer)
        }
        // Unchanged plugs are not sent again.
        #expect(answers == expected)
    }

    @Test("A process inherits no descriptors and no environment") func processHasNothingOfOurs() throws {
        let script = try StandIn.script(
            """
            def call(call):
                return {'log': [str(sorted(int(x) for x in os.listdir('/proc/self/fd'))[:3]),
                    str([os.readlink('/proc/self/fd/%s' % x).split(':')[0] for x in sorted(os.listdir('/proc/self/fd'))
                        if os.path.exists('/proc/self/fd/%s' % x)]), str([k for k in os.environ if k != 'LC_CTYPE']), str(os.getsid(0) == os.getpid())]}
            """)
        let process = try ScriptProcess(script, host: StandIn.path, state: nil, time: .start)
        guard case .answered(let answer) = try process.call(.press(), plugs: [], time: .start) else {
            Issue.record("the script did not answer")
            return
        }
        #expect(answer.log == ["[0, 1, 2]", "['socket', 'socket', '/dev/null']", "[]", "True"])
    }

    @Test(
        "The end of a process is reported with its cause",
        arguments: [
            ("signal.SIGPROF", ScriptDeath.computed), ("signal.SIGXCPU", .computed), ("signal.SIGSYS", .forbidden),
            ("signal.SIGKILL", .killed), ("signal.SIGSEGV", .crashed(signal: 11)),
        ])
    func deathIsToldByItsCause(signal: String, death: ScriptDeath) throws {
        let script = try StandIn.script("def call(call):\n  os.kill(os.getpid(), \(signal))")
        let process = try ScriptProcess(script, host: StandIn.path, state: nil, time: .start)
        #expect(
            fault { () throws(ScriptFault) in _ = try process.call(.press(), plugs: [], time: .start) } == .ended(death)
        )
        // A further call fails in the same way.
        #expect(
            fault { () throws(ScriptFault) in _ = try process.call(.press(), plugs: [], time: .start) } == .ended(death)
        )
    }

    @Test(
        "A process that does not answer a call correctly is ended",
        arguments: [
            ("os._exit(3)", ScriptDeath.exited(status: 3)), ("os._exit(75)", .full), ("os._exit(71)", .unshut),
            ("sys.stdout.write('x' * 300000 + '\\n')", .garbled("a line of more than 256 KiB")),
            ("sys.stdout.write('{\"done\":{}}\\n{\"done\":{}}\\n')", .garbled("more than one line")),
            ("os.close(0); os.close(1); time.sleep(60)", .garbled("it closed the connection")),
        ])
    func whatIsNoAnswerEndsIt(text: String, death: ScriptDeath) throws {
        let script = try StandIn.script("def call(call):\n  \(text)\n  sys.stdout.flush()")
        let process = try ScriptProcess(script, host: StandIn.path, state: nil, time: .start)
        #expect(
            fault { () throws(ScriptFault) in _ = try process.call(.press(), plugs: [], time: .start) } == .ended(death)
        )
    }

    @Test("A process that does not answer in time is ended") func oneThatIsSilentIsEnded() throws {
        let script = try StandIn.script("def call(call):\n  os.kill(os.getpid(), signal.SIGSTOP)")
        let process = try ScriptProcess(
            script, host: StandIn.path, state: nil, time: .start, patience: .milliseconds(1500))
        let words = fault { () throws(ScriptFault) in _ = try process.call(.press(), plugs: [], time: .start) }
        #expect(words == .ended(.silent(.milliseconds(1500))))
    }

    @Test("An invalid trigger in a script is reported with its line") func wrongScriptIsRefusedWithItsLine() throws {
        let source = "rules = [\n  {'line': 2, 'when': {'plug': 'TV', 'active power': {'rises over': '40 W'}}}]"
        let error = fault { () throws(ScriptFault) in
            _ = try ScriptReader(host: StandIn.path).read(name: "tv.lua", source: source, time: .start)
        }
        guard case .refused(let refusal) = error else {
            Issue.record("the script was not refused: \(String(describing: error))")
            return
        }
        #expect(refusal.description.hasPrefix("tv.lua:2:3: error: 'rises over' is not known in 'active power'\n"))
        #expect(refusal.diagnostics[0].hint == "did you mean 'rises above'?")
    }

    @Test("An error while loading has its line and hint") func failureOfLoadingHasItsLineAndHint() throws {
        let source = "say({'failed': {'error': 'a.lua:1: no file is read\\nhint: use state'}})\nos._exit(0)"
        let error = fault { () throws(ScriptFault) in
            _ = try ScriptReader(host: StandIn.path).read(name: "a.lua", source: source, time: .start)
        }
        guard case .refused(let refusal) = error else {
            Issue.record("the script was not refused: \(String(describing: error))")
            return
        }
        #expect(refusal.diagnostics[0].message == "no file is read" && refusal.diagnostics[0].hint == "use state")
    }

    @Test("A script whose triggers differ from those at its first load is refused")
    func oneThatSetsUpOtherFunctionsLaterIsRefused() throws {
        let script = try StandIn.script("if 'state' in load: rules = rules * 2")
        _ = try ScriptProcess(script, host: StandIn.path, state: nil, time: .start)
        let error = fault { () throws(ScriptFault) in
            _ = try ScriptProcess(script, host: StandIn.path, state: "1", time: .start)
        }
        #expect(error?.words == "line 1: the triggers differ from those when the script was read")
    }

    @Test("A name, source or state beyond its limit is rejected") func whatIsTooLongIsNotTold() throws {
        let reader = ScriptReader(host: StandIn.path)
        for (name, source) in [
            ("a.lua", String(repeating: " ", count: (128 << 10) + 1)), ("", ""), ("a/b.lua", ""), ("a\n.lua", ""),
            (String(repeating: "a", count: 49), ""),
        ] {
            #expect(throws: ScriptFault.self) { try reader.read(name: name, source: source, time: .start) }
        }
        let script = try StandIn.script("")
        for state in ["{", "1\n", "\"\(String(repeating: "x", count: 65_536))\""] {
            #expect(throws: ScriptFault.self) {
                try ScriptProcess(script, host: StandIn.path, state: state, time: .start)
            }
        }
    }

    @Test("The script host is searched next to the program") func hostIsLookedForBesideTheProgram() {
        #expect(
            ScriptHost.places(beside: "/usr/bin/plugctl") == [
                "/usr/bin/plugctl-script", "/usr/bin/../lib/smartplug/plugctl-script",
            ])
        let error = fault { () throws(ScriptFault) in
            _ = try ScriptReader(host: "/nowhere/plugctl-script").read(name: "a.lua", source: "", time: .start)
        }
        #expect(error?.words == "/nowhere/plugctl-script cannot be started: No such file or directory")
    }
}
