import DaemonClient
import LinuxSystem
import PlugClient
import PlugModel
import Presentation
import Terminal

/// The live table of `plugctl watch`. It handles the house's updates and the user's keys in one queue.
struct LiveHouse: Sendable {
    private enum Input: Sendable {
        case house(HouseFollower.Update)
        case terminal(TerminalEvent)
        case rule(RuleRecord)
        case today([String: Double])
    }

    /// The interval at which the energy of today is read.
    private static let energyInterval = Duration.seconds(30)

    let house: HouseFollower
    let memory: CursorMemory?
    /// The paired plugs.
    let paired: [PlugID: String]
    let notes: [String]
    /// The source of rule events; nil without a daemon.
    let daemon: DaemonClient?
    let energy: EnergyToday

    func run(_ capabilities: Capabilities) async {
        guard var screen = LiveScreen(capabilities: capabilities, placement: .wholeScreen, readsMouse: true)
        else { return }
        let keyboard = TerminalInput()
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self, bufferingPolicy: .bufferingOldest(1024))
        let feeding = [
            Task { await house.run { continuation.yield(.house($0)) } },
            Task {
                guard let keyboard else { return }
                for await event in keyboard.events { continuation.yield(.terminal(event)) }
            },
            Task { await followRules { continuation.yield(.rule($0)) } },
            Task {
                while !Task.isCancelled {
                    continuation.yield(.today(await energy.read()))
                    try await Task.sleep(for: Self.energyInterval)
                }
            },
        ]
        var table = HouseTable(paired: paired, notes: notes)
        screen.draw(table.lines(size: screen.size, capabilities: capabilities))
        for await input in inputs {
            switch input {
            case .house(.found(let name)): table.add(name)
            case .house(.lost(let name)): table.remove(name)
            case .house(.report(let report)):
                table.handle(report)
                await memory?.took(report)
            case .rule(let record): table.say(record.text, at: .now)
            case .today(let wattHours): table.setToday(wattHours)
            case .terminal(.resized): break
            case .terminal(.resumed): screen.invalidate()
            case .terminal(.key(.click(_, let row))): table.click(row: row, size: screen.size)
            case .terminal(.key(let key)):
                guard await obey(key, &table, house) else {
                    continuation.finish()
                    continue
                }
            }
            if screen.draw(table.lines(size: screen.size, capabilities: capabilities)) == .closed { break }
        }
        feeding.forEach { $0.cancel() }
        keyboard?.close()
    }

    /// Follows the events of the daemon's rules until the daemon ends. The table works without them.
    private func followRules(_ tell: (RuleRecord) -> Void) async {
        try? await daemon?.stream("/api/v1/stream") { event in
            guard event.kind == "rule", let record = try? daemon?.decoded(Array(event.data.utf8)) as RuleRecord? else {
                return true
            }
            if ["firing", "heldBack", "notSent"].contains(record.event) { tell(record) }
            return true
        }
    }

    /// Returns false if the user quits.
    private func obey(_ key: Key, _ table: inout HouseTable, _ house: HouseFollower) async -> Bool {
        guard !table.handle(key) else { return true }
        switch key {
        case .interrupt, .character("q"): return false
        case .character(" "):
            await send(table, house) { .setRelay(on: !$0.relayOn, autoOff: nil) }
        case .character("+"), .right: await dim(by: 10, table, house)
        case .character("-"), .left: await dim(by: -10, table, house)
        default: break
        }
        return true
    }

    private func dim(by step: Double, _ table: HouseTable, _ house: HouseFollower) async {
        await send(table, house) { state in
            state.level.map { .setLevel(DimLevel(percent: $0.percent + step), transition: .milliseconds(200)) }
        }
    }

    /// Sends a command. The table shows its effect when the plug's own event arrives.
    private func send(
        _ table: HouseTable, _ house: HouseFollower, _ command: (PlugState) -> PlugCommand?
    ) async {
        guard let name = table.selected, let state = table.state(of: name), let command = command(state),
            let plug = await house.plug(named: name)
        else { return }
        Task { try? await plug.send(command) }
    }
}
