import NIOCore
import NIOPosix
import PlugClient
import PlugModel

/// Measures the time from a press of the button to the command of the rule that answers it. Meanwhile a second paired
/// plug floods the house with each message in turn. House and plugs share one core.
func hostileFigures(_ setting: Setting) async throws -> [Figure] {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let hostile = HostilePlug(named: "Hostile", on: group.next())
    let entry = PairedPlugs.Entry(id: HostilePlug.id, key: try await hostile.start(), name: "Hostile")
    var plug = try await RuledPlug(keeps: true, others: [entry])
    let count = setting.times(60, few: 10)
    var undisturbed = try await pressTimes(count, &plug)
    var worst = (name: "", times: undisturbed)
    for message in HostilePlug.Message.all {
        let before = await hostile.sent
        let flooding = Task { await hostile.flood(message) }
        // If the previous message ended the session, the house waits before it connects again.
        var waits = 0
        while await hostile.sent == before, waits < 100 {
            waits += 1
            await plug.runner.plug(named: "Hostile")?.locate()
            try await Task.sleep(for: .milliseconds(100))
        }
        let times = try await pressTimes(count, &plug)
        flooding.cancel()
        await flooding.value
        guard await hostile.sent > before else {
            throw BenchmarkError("the house did not subscribe before the flood of \(message.name)")
        }
        report("a plug floods \(message.name): p50 \(Int(times.median / 1000)) µs")
        if times.median >= worst.times.median || worst.name.isEmpty { worst = (message.name, times) }
    }
    undisturbed += try await pressTimes(count, &plug)
    try await plug.finish()
    await hostile.stop()
    try await group.shutdownGracefully()
    let reference = Figure.Reference(
        name: "undisturbed; worst: \(worst.name)", value: undisturbed.median / 1000)
    return [
        Figure(
            "press to a rule's command, a paired plug floods", worst.times.median / 1000, "µs", against: reference,
            .ratioAtMost(2))
    ]
}

/// Returns the nanoseconds from each press to the command.
private func pressTimes(_ count: Int, _ plug: inout RuledPlug) async throws -> [Double] {
    var times: [Double] = []
    for _ in 0..<count { times.append(try await plug.press().press) }
    return times
}
