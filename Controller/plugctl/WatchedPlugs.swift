import ArgumentParser
import LinuxSystem
import PlugClient
import PlugModel
import Presentation

/// The place from which a watch resumes, as set by the user.
enum WatchPlace: Sendable {
    /// After this event of the only watched plug.
    case number(SequenceNumber)
    case cursor(WatchCursor)

    init(_ text: String) throws {
        if let number = SequenceNumber(text) {
            guard number <= UInt64(Int64.max) else { throw ValidationError("--after must be at most \(Int64.max)") }
            self = .number(number)
            return
        }
        do throws(WatchCursorFault) {
            self = .cursor(try WatchCursor(text: text))
        } catch {
            throw ValidationError(
                """
                the value of --after is not valid: \(error)
                hint: pass the complete "cursor" of a line of `plugctl watch --json`; --from-now skips missed events
                """)
        }
    }
}

/// The plugs that one `watch` command follows, and the positions after which it prints their events.
struct WatchedPlugs: Sendable {
    let client: PlugClient
    /// Empty for the whole house.
    let plugs: [Plug]
    let options: StateOptions
    let memory: CursorMemory?
    /// The cursor after which events are printed.
    private let begin: WatchCursor
    /// The start position of plugs that `begin` does not contain.
    private let others: Cursor

    init(
        client: PlugClient, plugs: [Plug], place: WatchPlace?, known: [PlugID: SequenceNumber],
        options: StateOptions, memory: CursorMemory?
    ) {
        self.client = client
        self.plugs = plugs
        self.options = options
        self.memory = memory
        switch place {
        case nil:
            // Plugs that are not watched are left out of the printed cursor.
            let ids = Set(plugs.map(\.id))
            begin = WatchCursor(start: .now, known: known.filter { plugs.isEmpty || ids.contains($0.key) })
            others = .now
        case .number(let number):
            begin = WatchCursor(start: .now, known: Dictionary(plugs.map { ($0.id, number) }) { first, _ in first })
            others = .now
        case .cursor(let cursor):
            begin = cursor
            others = .beginning
        }
    }

    func house() -> HouseFollower { HouseFollower(client, after: others, known: begin.known, stateOptions: options) }

    /// Prints lines until the reader closes the pipe or the task is cancelled.
    func print(json: Bool) async {
        let printer = WatchPrinter(WatchLines(after: begin, tellsCursor: json)) { record in
            json ? Output.json(record) : Output.safeLine("\(localTime(record.at))  \(record.plug)  \(record.words)")
        }
        await withTaskGroup(of: Void.self) { group in
            if plugs.isEmpty {
                let house = house()
                let (open, closing) = AsyncStream.makeStream(of: Never.self)
                group.addTask {
                    await house.run { update in
                        guard case .report(let report) = update else { return }
                        if await !print(report, printer) { closing.finish() }
                    }
                }
                for await _ in open {}
            } else {
                for plug in plugs { group.addTask { await print(plug, printer) } }
                // A task ends only when it is interrupted or cannot print. In both cases the others must end too.
                await group.next()
            }
            group.cancelAll()
        }
    }

    private func print(_ plug: Plug, _ printer: WatchPrinter) async {
        let followed = client.follow(plug.name, id: plug.id, after: others, known: begin.known, stateOptions: options)
        for await report in followed.reports {
            guard await print(report, printer) else { break }
        }
        await followed.stop()
    }

    /// Returns false if the reader has closed the pipe.
    private func print(_ report: PlugReport, _ printer: WatchPrinter) async -> Bool {
        guard await printer.print(report) else { return false }
        await memory?.took(report)
        return true
    }
}
