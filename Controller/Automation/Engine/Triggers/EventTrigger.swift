import PlugModel
import ProtocolCore

/// A trigger on entries of a plug's journal.
struct EventTrigger: Sendable {
    enum Kind: Hashable, Sendable {
        case button(ButtonPress)
        case relay(on: Bool?)
        case protection(Protection?)

        func isMet(by event: PlugEvent.Kind) -> Bool {
            switch (self, event) {
            case (.button(let wanted), .buttonPressed(let press)): wanted == press
            case (.relay(let wanted), .relayChanged(let on, _)): wanted == nil || wanted == on
            case (.protection(let wanted), .protectionTripped(let protection)): wanted == nil || wanted == protection
            case (.button, _), (.relay, _), (.protection, _): false
            }
        }
    }

    let rule: Int
    let place: Int
    let written: String
    let kind: Kind
    var plug: Int?
    var seed: FiringSeed?
}
