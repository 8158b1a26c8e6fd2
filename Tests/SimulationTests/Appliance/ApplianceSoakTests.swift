import Appliance
import Foundation
import PlugModel
import ProtocolCore
import SimulatedLAN
import TestSupport
import Testing

@Suite struct ApplianceSoakTests {
    /// Checks locks, rests, energy and the button under all faults of one plug.
    @Test("One plug keeps its invariants under presses, commands, faults and power cuts")
    func whateverHappensToOnePlugItKeepsItsPromises() throws {
        var seen = (presses: 0, toggles: 0, locks: 0)
        let seeds = SeedPlan(environment: ProcessInfo.processInfo.environment).seeds
        for seed in seeds {
            var soak = ApplianceSoak(seed: seed)
            do {
                try soak.start()
                for _ in 0..<120 {
                    try step(&soak)
                    if soak.machine.state.tripped != nil { seen.locks += 1 }
                }
            } catch {
                throw SimulationFailure(seed: seed, reason: "\(error) after \(soak.now)", trace: [])
            }
            seen.presses += soak.presses.made
            seen.toggles += soak.presses.toggles
        }
        // The soak must have presses, toggles and locks, or it would prove nothing.
        if seeds.count >= 50 {
            #expect(seen.presses > seeds.count && seen.toggles > seeds.count && seen.locks > seeds.count)
        }
    }

    /// Uses plugs without a rest, an auto-off or a locked power-on state, so that nothing prevents a switch.
    @Test("Each short press toggles the relay once and is reported once, with or without bouncing")
    func eachPressSwitchesOnceAndIsReportedOnce() throws {
        for seed in SeedPlan(environment: ProcessInfo.processInfo.environment).seeds {
            var soak = ApplianceSoak(seed: seed)
            guard soak.configuration.rest == nil, soak.configuration.powerOnState != .lockedOn,
                soak.configuration.autoOff == nil
            else { continue }
            do {
                try soak.start()
                for _ in 0..<60 {
                    let isLong = soak.random.chance(0.2)
                    let held = Int64.random(in: isLong ? 1010...4000 : 30...950, using: &soak.random)
                    try soak.press(for: .milliseconds(held))
                    try soak.run(for: soak.random.duration(in: .milliseconds(30)...(.seconds(2))))
                }
                try soak.run(for: .seconds(2))
                let presses = soak.presses
                try soak.require(
                    presses.toggles == presses.made && presses.reported == presses.made, "\(presses)")
            } catch {
                throw SimulationFailure(seed: seed, reason: "\(error)", trace: [])
            }
        }
    }

    private func step(_ soak: inout ApplianceSoak) throws {
        switch Int.random(in: 0..<20, using: &soak.random) {
        case 0...2: try soak.press(for: .milliseconds(Int64.random(in: 30...950, using: &soak.random)))
        case 3: try soak.press(for: .milliseconds(Int64.random(in: 1010...16_000, using: &soak.random)))
        case 4...8: try command(&soak)
        case 9, 10:
            soak.load =
                soak.random.chance(0.3)
                ? .random(in: 30_000...120_000, using: &soak.random) : .random(in: -50...20_000, using: &soak.random)
        case 11: soak.isWelded = soak.random.chance(0.2)
        case 12: soak.isMeterDead = soak.random.chance(0.3)
        case 13: soak.isFlashBroken = soak.random.chance(0.2)
        case 14: try soak.kill()
        case 15: try soak.cutPower()
        case 16: try soak.feed(.stopping)
        default: break
        }
        let spans: [Duration] = [.milliseconds(50), .seconds(1), .seconds(5), .seconds(60)]
        try soak.run(for: soak.random.duration(in: .zero...spans.randomElement(using: &soak.random)!))
    }

    private func command(_ soak: inout ApplianceSoak) throws {
        let autoOff: Duration? =
            soak.random.chance(0.8) ? nil : .seconds(Int64.random(in: 1...100, using: &soak.random))
        let level = DimLevel(percent: soak.random.chance(0.3) ? 0 : .random(in: 1...100, using: &soak.random))
        let commands: [PlugCommand] = [
            .setRelay(on: true, autoOff: autoOff), .setRelay(on: false, autoOff: nil),
            .setLevel(level, transition: .milliseconds(Int64.random(in: 0...3000, using: &soak.random))), .identify,
            .resetProtection,
        ]
        let command = commands.randomElement(using: &soak.random)!
        if command == .resetProtection { soak.resets += 1 }
        soak.commands += 1
        let id = CommandID(RequestID(drawnFrom: &soak.random), of: .desk)
        try soak.feed(.command(id, controller: "desk", command))
    }
}
