import Automation
import Checkout
import Foundation
import PlugModel
import ProtocolCore
import RuleModel
import Scripting

/// The script host of these tests, which runs a script's text as a Python program.
enum StandIn {
    static let path = Checkout.place("Tests/ScriptingTests/stand-in.py").path

    /// Returns a script with one function, which a long press calls, followed by the text.
    static func source(_ text: String) -> String {
        "rules = [{'line': 1, 'when': {'plug': 'Button', 'button': 'long'}}]\n" + text
    }

    static func script(_ text: String, name: String = "house.lua") throws -> Script {
        try ScriptReader(host: path).read(name: name, source: Self.source(text), time: .start)
    }
}

extension ScriptTime {
    static let start = ScriptTime(at: 1_700_000_000.5, offset: 3600)
}

extension ScriptCall {
    /// A call of the script's first function by a long press.
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
