import Charting
import HouseCalendar
import LinuxSystem
import PlugClient
import Presentation
import Terminal

/// The scrolling chart.
struct LiveChart: Sendable {
    private enum Input: Sendable {
        case report(Int, PlugReport)
        case samples(Int, [PlugSample])
        case terminal(TerminalEvent)
    }

    let found: Gathered
    /// One plug per course.
    let plugs: [FollowedPlug]
    let length: Duration
    let style: ChartStyle

    func run(_ capabilities: Capabilities) async {
        guard var screen = LiveScreen(capabilities: capabilities, placement: .wholeScreen) else { return }
        let keyboard = TerminalInput()
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self, bufferingPolicy: .bufferingOldest(1024))
        let feeding =
            plugs.enumerated().map { index, plug in
                Task { for await report in plug.reports { continuation.yield(.report(index, report)) } }
            } + [
                Task {
                    guard let keyboard else { return }
                    for await event in keyboard.events { continuation.yield(.terminal(event)) }
                }
            ]
        var source = found.source
        for await input in inputs {
            switch input {
            case .report(let index, let report):
                if case .connected(let description) = report.update, let known = found.plugs[index],
                    description.id != known.id, source.courses[index].kept != StoredPowerSeries()
                {
                    // A different plug has this name now, and gets its own curve.
                    source.courses[index] = LivePowerSeries(plug: source.courses[index].plug)
                }
                source.courses[index].handle(report)
                source.mark(report)
                // Samples are fetched again after each reconnection, because the plug has stored those that this
                // controller missed.
                if case .snapshot = report.update {
                    let newest = source.courses[index].kept.newest
                    Task { continuation.yield(.samples(index, try await missed(plugs[index], since: newest))) }
                }
            case .samples(let index, let samples): source.courses[index].add(samples)
            case .terminal(.key(.interrupt)), .terminal(.key(.character("q"))): continuation.finish()
            case .terminal(.resumed): screen.invalidate()
            case .terminal(.key), .terminal(.resized): break
            }
            let lines = chart(of: source).lines(size: screen.size, capabilities: capabilities)
            if screen.draw(lines) == .closed { break }
        }
        feeding.forEach { $0.cancel() }
        keyboard?.close()
    }

    /// Fetches the samples that the plug has stored since the newest sample in the history.
    ///
    /// - Parameter newest: The newest sample in the history, in seconds since 1970.
    private func missed(_ plug: FollowedPlug, since newest: Double?) async throws -> [PlugSample] {
        let now = WallTime.now
        let known = WallTime(millisecondsSince1970: Int64(min(max(newest ?? 0, -9e9), 9e9) * 1000))
        return try await plug.samples(from: max(now - length, known), to: now)
    }

    private func chart(of source: ChartSource) -> Chart {
        let now = Double(WallTime.now.nanosecondsSince1970) / 1e9
        let from = now - Double(length.components.seconds)
        return source.chart(from...now, style: style, zone: .local(from: Int(from), to: Int(now)))
    }
}
