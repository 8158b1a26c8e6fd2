import Automation
import Foundation
import PlugProtocol
import ProtocolCore
import Scripting

/// A host that takes a script's text for a program of Python: `rules` in it is what it sets up, and `call` answers its calls.
struct StandIn: ~Copyable {
    let path: String
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "stand-in-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: ScriptHost.program)
        try Data(Self.program.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        path = file.path
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static let program = #"""
        #!/usr/bin/python3
        import json, os, signal, sys, time
        def say(answer):
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
        script = {}
        for line in sys.stdin:
            asked = json.loads(line)
            if "load" in asked:
                script = {"load": asked["load"], "os": os, "signal": signal, "sys": sys, "time": time, "say": say}
                exec(asked["load"]["source"], script)
                say({"loaded": {"rules": script.get("rules", []), "log": script.get("log", [])}})
            else:
                answer = script["call"](asked["call"])
                if answer is not None:
                    say(answer if "failed" in answer else {"done": answer})
        """#

    /// A script with one function, which a long press calls; its text follows.
    static func source(_ text: String) -> String {
        "rules = [{'line': 1, 'when': {'plug': 'Button', 'button': 'long'}}]\n" + text
    }

    func script(_ text: String, name: String = "house.lua") throws -> Script {
        try ScriptReader(host: path).read(name: name, source: Self.source(text), time: .start)
    }
}

extension ScriptTime {
    static let start = ScriptTime(at: 1_700_000_000.5, offset: 3600)
}

extension ScriptCall {
    /// Of the first function, by a long press.
    static func press(_ number: UInt8 = 1, of script: String = "house.lua") -> ScriptCall {
        let id = RequestID(bytes: [UInt8](repeating: number, count: 16))!
        let cause = Firing.Cause(.person, plug: "Button", value: 86.5)
        let firing = Firing(id: id, rule: "\(script):1", cause: cause, time: .zero)
        return ScriptCall(id: id, handler: ScriptHandler(script: script, index: 0), firing: firing)
    }
}

extension PlugView {
    static func lamp(on: Bool, percent: Double) -> PlugView {
        var view = PlugView(name: "Lamp", isConnected: true)
        (view.isOn, view.level, view.activePower) = (on, DimLevel(percent: percent), 3.25)
        return view
    }
}
