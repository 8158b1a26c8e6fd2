import Charting
import HouseCalendar
import LinuxSystem
import PlugClient
import PlugModel
import PowerHistory
import Presentation

/// The data for a chart.
struct Gathered: Sendable {
    var source: ChartSource
    /// One element per course; nil if the history does not have the plug.
    var plugs: [HistoryPlug?]

    func energies(_ periods: [CalendarPeriod], from history: PowerHistory?) throws -> [[PeriodEnergy]] {
        do throws(HistoryError) { return try source.energies(of: plugs, periods, from: history) } catch {
            throw CLIError(error)
        }
    }
}

/// Reads the history and, if it ends before the chart does, fetches the rest from the plugs.
struct ChartGathering: Sendable {
    /// The longest time that any plug keeps samples, in milliseconds. Older samples are not requested.
    private static let longestKept: Int64 = 31 * 86_400_000

    let names: [String]
    /// Milliseconds since 1970, both included.
    let span: ClosedRange<Int64>
    let columns: Int
    let history: PowerHistory?
    let network: NetworkOptions
    /// True for a chart of power, which shows samples; false for a chart of energy.
    let readsCourses: Bool

    /// Reads the history, and then fetches newer samples from the plugs that answer in time.
    /// - Throws: an error for a plug without history that is not found or cannot be followed.
    func all() async throws -> Gathered {
        var found = try known()
        let asked = names.indices.filter { needsPlug(found.plugs[$0]) }
        guard !asked.isEmpty else {
            sayWhereItIs(found)
            return found
        }
        try await network.withClient(.ofThisController()) { client in
            let (courses, plugs) = (found.source.courses, found.plugs)
            try await withThrowingTaskGroup(of: (Int, LivePowerSeries, name: String).self) { group in
                for index in asked {
                    group.addTask { try await ask(client, index, courses[index], plugs[index]) }
                }
                for try await (index, course, _) in group { found.source.courses[index] = course }
            }
        }
        sayWhereItIs(found)
        return found
    }

    /// Runs the body while the plugs are followed. Throws an error for a plug that is not found.
    func follow(_ body: (Gathered, [FollowedPlug]) async -> Void) async throws {
        var found = try known()
        try await network.withClient(.ofThisController()) { client in
            var plugs: [FollowedPlug] = []
            var courses: [LivePowerSeries] = []
            for (index, course) in found.source.courses.enumerated() {
                let name = try await client.find(wanted(index, found.plugs[index]), within: network.wait.duration)
                plugs.append(client.follow(name))
                courses.append(LivePowerSeries(plug: name.name, kept: course.kept))
            }
            found.source.courses = courses
            await body(found, plugs)
            for plug in plugs { await plug.stop() }
        }
    }

    // MARK: The history

    private func known() throws -> Gathered {
        var plugs: [HistoryPlug?] = []
        var courses: [LivePowerSeries] = []
        do throws(HistoryError) {
            for name in names {
                let plug = try lookUp(name)
                plugs.append(plug)
                guard let plug, let history, readsCourses else {
                    courses.append(LivePowerSeries(plug: plug?.title ?? name, kept: StoredPowerSeries(newestOf: plug)))
                    continue
                }
                let kept = try StoredPowerSeries(of: plug, from: history, over: span, columns: columns)
                if !kept.damaged.isEmpty {
                    printError("\(plug.title): part of its history cannot be read and is left out")
                }
                if kept.isCut { printError("\(plug.title): there are too many samples; the newest ones are left out") }
                courses.append(LivePowerSeries(plug: plug.title, kept: kept))
            }
            var source = ChartSource(courses: courses)
            if let history, readsCourses { try source.mark(plugs.compactMap(\.self), from: history, over: span) }
            return Gathered(source: source, plugs: plugs)
        } catch {
            throw CLIError(error)
        }
    }

    /// Returns nil if the history does not have the plug, which may still be found on the network.
    private func lookUp(_ name: String) throws(HistoryError) -> HistoryPlug? {
        do throws(HistoryError) {
            return try history?.plug(meantBy: name)
        } catch {
            if case .unknownPlug = error.reason { return nil }
            throw error
        }
    }

    private func needsPlug(_ plug: HistoryPlug?) -> Bool {
        // A plug that exists only through imported recordings has no newer samples.
        guard let plug, plug.id != RecordedHistory.plug(named: plug.name) else { return plug == nil }
        let now = WallTime.now.nanosecondsSince1970 / 1_000_000
        let newest = plug.span?.upperBound ?? .min
        return span.upperBound > max(newest, now - Self.longestKept)
    }

    /// Reports the recorded time of plugs that have no data in the window.
    private func sayWhereItIs(_ found: Gathered) {
        for (course, plug) in zip(found.source.courses, found.plugs) where readsCourses {
            guard let known = plug?.span, !known.overlaps(span), course.series.points.isEmpty else { continue }
            // Rounds to whole minutes around the recorded time.
            let ends = [known.lowerBound, known.upperBound + 59_999].map { time in
                let wall = WallTime(millisecondsSince1970: time)
                return String(wall.iso8601(offset: wall.localOffset).prefix(16))
            }
            printError(
                "\(course.plug): its history has no samples in this time span\nhint: use --from \(ends[0]) --to \(ends[1])"
            )
        }
    }

    // MARK: The plugs

    private func wanted(_ index: Int, _ plug: HistoryPlug?) -> String {
        guard let plug, !plug.name.isEmpty else { return names[index] }
        return plug.name
    }

    /// Fetches the plug's samples since the newest sample in the history.
    private func ask(
        _ client: PlugClient, _ index: Int, _ course: LivePowerSeries, _ known: HistoryPlug?
    ) async throws -> (Int, LivePowerSeries, name: String) {
        do {
            let name = try await client.find(wanted(index, known), within: network.wait.duration)
            var course = known == nil ? LivePowerSeries(plug: name.name) : course
            if try await !fill(&course, from: client.follow(name, after: nil), known) {
                printError("\(name.name): the plug did not answer; samples that are not in the history are missing")
            }
            return (index, course, name.name)
        } catch let error where known != nil && !(error is CancellationError) {
            let reason = error is PlugNotFound ? "the plug did not answer" : "\(error)"
            printError("\(course.plug): \(reason); samples that are not in the history are missing")
            return (index, course, course.plug)
        } catch let error as PlugNotFound where error.known.isEmpty && history != nil {
            // If the name is a wrong spelling of a plug in the history, the history's error suggests that plug.
            do throws(HistoryError) { _ = try history?.plug(meantBy: names[index]) } catch { throw CLIError(error) }
            throw error
        }
    }

    /// Returns false if the plug does not answer in time. The limit is `--wait` if the history has the plug, otherwise
    /// `--timeout`.
    private func fill(_ course: inout LivePowerSeries, from plug: FollowedPlug, _ known: HistoryPlug?) async throws
        -> Bool
    {
        let limit = Task {
            try await Task.sleep(for: (known == nil ? network.answerTime : network.wait).duration)
            await plug.stop()
        }
        defer { limit.cancel() }
        do {
            for await report in plug.reports {
                if case .disconnected(let reason, _) = report.update { try reportDisconnection(plug.name, reason) }
                if case .connected(let description) = report.update, let known, description.id != known.id {
                    throw CLIError("a different plug has this name now")
                }
                course.handle(report)
                guard case .snapshot = report.update else { continue }
                limit.cancel()
                let from = max(span.lowerBound, known?.span?.upperBound ?? .min)
                course.add(
                    try await plug.samples(
                        from: WallTime(millisecondsSince1970: from), to: max(.now, upper)))
                await plug.stop()
                return true
            }
        } catch {
            await plug.stop()
            throw error
        }
        return false
    }

    private var upper: WallTime { WallTime(millisecondsSince1970: span.upperBound) }
}
