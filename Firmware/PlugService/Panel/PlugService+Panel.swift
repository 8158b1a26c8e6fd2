import AddressService
import Appliance
import LinuxSystem
import Metering
import NIOCore
import PlugHardware
import PlugModel

extension PlugService: PanelOwner {
    func perform(_ request: PanelRequest) async throws -> String {
        switch request {
        case .status:
            return status
        case .reset:
            guard await resetFromPanel() else {
                throw PanelError("the plug was not reset: its flash cannot be written\nhint: see the plug's log")
            }
            return "reset to factory state"
        case .controllers: return controllerLines
        case .remove(let fingerprint): return try remove(fingerprint)
        case .code(let code):
            switch await changeCode(code) {
            case true?: return "changed"
            case false?:
                throw PanelError(
                    "the setup code was not changed: the plug's flash cannot be written\nhint: see the plug's log")
            case nil:
                throw PanelError(
                    "the setup code was not changed: another change is in progress, or it was changed too often\nhint: try again later"
                )
            }
        case .rotateKey(let now): return try await rotateKey(now: now)
        case .press(let press):
            try push(simulated(), press)
            return "pressed"
        case .hold(let milliseconds):
            let up = Movement(after: .milliseconds(Int64(milliseconds)), down: false)
            move(try simulated(), [Movement(after: .zero, down: true), up])
            return "pressed"
        case .calibrate(let load): return try await calibrate(load)
        case .load(let text):
            let plug = try simulated()
            let load = try PluggedLoad.parse(text, replacing: plug.load)
            plug.change(load: load)
            logger.info("plugged in: \(load)")
            return "\(load)"
        }
    }

    private func simulated() throws(PanelError) -> SimulatedPlug {
        guard let plug = settings.simulated else {
            throw PanelError("this plug has real parts; button presses and loads cannot be simulated")
        }
        return plug
    }

    /// Moves the simulated contact as a user would: a press lasts 100 ms, a long press 1.2 s, and two presses are 100
    /// ms apart.
    private func push(_ plug: SimulatedPlug, _ press: ButtonPress) {
        let down = Movement(after: .zero, down: true)
        let up = Movement(after: .milliseconds(100), down: false)
        switch press {
        case .single: move(plug, [down, up])
        case .double: move(plug, [down, up, Movement(after: .milliseconds(100), down: true), up])
        case .long: move(plug, [down, Movement(after: .milliseconds(1200), down: false)])
        }
    }

    private struct Movement {
        var after: TimeAmount
        var down: Bool
    }

    /// Performs the movements one after another. Each delay begins when the previous movement was made, so on a busy
    /// machine a press gets longer but never too short.
    private func move(_ plug: SimulatedPlug, _ movements: ArraySlice<Movement>) {
        guard let next = movements.first else { return }
        _ = loop.scheduleTask(in: next.after) {
            plug.moveButton(down: next.down)
            self.assumeIsolated { $0.move(plug, movements.dropFirst()) }
        }
    }
}
