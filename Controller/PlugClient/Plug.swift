public import LinuxSystem
public import PlugModel
import Synchronization

/// A plug that was found by its name (see ``PlugClient/plug(_:within:)``), with its events, states, commands and
/// samples.
///
/// ```swift
/// let lamp = try await client.plug("Living Room Lamp")
/// try await lamp.dim(to: DimLevel(percent: 30), over: .seconds(2))
/// for try await entry in lamp.events(after: .now) { print(entry) }
/// ```
///
/// A plug may disappear and return. Requests wait until the plug returns, and end when their task is cancelled.
/// Commands and fetches share one connection, which is made on first use. Each sequence of events or states has its own
/// connection. A loop that reads a sequence slowly therefore blocks no other request, and its body may send commands to
/// the plug.
public final class Plug: Sendable {
    /// The name under which the plug was found.
    public let name: String
    /// The plug's id, which does not change when the plug is renamed.
    public let id: PlugID
    let client: PlugClient
    private let line = Mutex<FollowedPlug?>(nil)

    init(name: String, id: PlugID, client: PlugClient) {
        self.name = name
        self.id = id
        self.client = client
    }

    deinit {
        guard let line = line.withLock({ $0 }) else { return }
        Task { await line.stop() }
    }

    /// Returns the plug's events after the cursor: first the stored events, then new events.
    public func events(after cursor: Cursor = .now) -> PlugEvents { PlugEvents(plug: self, cursor: cursor) }

    /// Returns the plug's current state and then newer states. Intermediate states may be skipped.
    public func states(_ options: StateOptions = StateOptions()) -> PlugStates {
        PlugStates(plug: self, options: options)
    }

    /// Turns the plug on or off.
    ///
    /// - Parameters:
    ///   - on: True for on.
    ///   - autoOff: The time after which the plug turns off again; nil for the plug's own setting.
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func turn(on: Bool, autoOff: Duration? = nil) async throws -> Answer {
        try await send(.setRelay(on: on, autoOff: autoOff))
    }

    /// Dims the plug. Level 0 turns it off, and any other level turns it on.
    ///
    /// - Parameters:
    ///   - level: The fraction of full brightness.
    ///   - transition: The duration of the change, at most one hour.
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func dim(to level: DimLevel, over transition: Duration = .zero) async throws -> Answer {
        try await send(.setLevel(level, transition: transition))
    }

    /// Blinks the plug's light, so that the user can identify the plug.
    ///
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func identify() async throws -> Answer { try await send(.identify) }

    /// Resets the protection that locked the plug in the off state, so that the plug can be turned on again. If no
    /// protection has locked the plug, nothing changes.
    ///
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func resetProtection() async throws -> Answer { try await send(.resetProtection) }

    /// Renames the plug permanently. If the name is in use on the network, the plug adds a number to it. This object
    /// stays valid.
    ///
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func rename(to name: String) async throws -> Answer { try await send(.rename(name)) }

    /// Changes the plug's settings permanently, all or none.
    ///
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func configure(_ change: SettingsChange) async throws -> Answer { try await send(.configure(change)) }

    /// Sends a command, which the plug executes once even if the connection is lost before the answer.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - request: The request id; nil for a random one. A caller that stores the id and repeats it after a crash does
    ///     not execute the command twice.
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func send(_ command: PlugCommand, as request: RequestID? = nil) async throws -> Answer {
        let (state, event) = try await commandLine.send(command, id: request)
        return Answer(state: state, event: event)
    }

    /// The result of a command.
    public struct Answer: Hashable, Sendable {
        /// The resulting state.
        public var state: PlugState
        /// The number of the event that records the change; nil if nothing changed.
        public var event: SequenceNumber?
    }

    /// Fetches the samples that the plug still stores between two times, both included, in ascending order of time.
    ///
    /// - Throws: `Refusal`, `SampleChunkError` for a damaged chunk, or `CancellationError`.
    public func samples(from: WallTime, to: WallTime = .now) async throws -> [PlugSample] {
        try await commandLine.samples(from: from, to: to)
    }

    /// Fetches the samples of the last `span` that the plug still stores.
    ///
    /// - Throws: See ``samples(from:to:)``.
    public func samples(last span: Duration) async throws -> [PlugSample] { try await commandLine.samples(last: span) }

    private var commandLine: FollowedPlug {
        line.withLock { line in
            if let line { return line }
            let new = client.follow(name, id: id, after: nil, stateOptions: nil)
            line = new
            // Reads and discards the reports, because answers arrive only while reports are read.
            Task { for await _ in new.reports {} }
            return new
        }
    }
}
