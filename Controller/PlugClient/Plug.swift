public import LinuxClocks
public import PlugModel
import Synchronization

/// A plug that was found by its name (``PlugClient/plug(_:within:)``): follow it, read it, command it.
///
/// ```swift
/// let lamp = try await client.plug("Living Room Lamp")
/// try await lamp.dim(to: DimLevel(percent: 30), over: .seconds(2))
/// for try await entry in lamp.events(after: .now) { print(entry) }
/// ```
///
/// A plug may go away and come back: whatever is asked of it waits until then, and ends when its task is cancelled. Commands
/// and fetches share one connection, made when it is first needed; each sequence has one of its own, so that a slow reader
/// holds up nobody, and may command the plug it reads from.
public final class Plug: Sendable {
    /// The name under which it was found.
    public let name: String
    /// The plug's own id, which stays when its name changes.
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

    /// What happened and happens at the plug, from the cursor on.
    public func events(after cursor: Cursor = .now) -> PlugEvents { PlugEvents(plug: self, cursor: cursor) }

    /// What the plug does now, and each change of it.
    public func states(_ options: StateOptions = StateOptions()) -> PlugStates {
        PlugStates(plug: self, options: options)
    }

    /// Turns the plug on or off.
    ///
    /// - Parameters:
    ///   - on: true for on.
    ///   - autoOff: turn off again after so long; nil stays on.
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func turn(on: Bool, autoOff: Duration? = nil) async throws -> Answer {
        try await send(.setRelay(on: on, autoOff: autoOff))
    }

    /// Dims the plug; level 0 turns it off, any other on.
    ///
    /// - Parameters:
    ///   - level: of full.
    ///   - transition: how long the way there takes, at most an hour.
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func dim(to level: DimLevel, over transition: Duration = .zero) async throws -> Answer {
        try await send(.setLevel(level, transition: transition))
    }

    /// Blinks the plug's light, so that a person sees which one it is.
    ///
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func identify() async throws -> Answer { try await send(.identify) }

    /// Resets the protection that locked the plug off, so that it can be turned on again. Where none did, nothing changes.
    ///
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func resetProtection() async throws -> Answer { try await send(.resetProtection) }

    /// Gives the plug another name, which it keeps. One that is taken gets a number; this value goes on under whichever it is.
    ///
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func rename(to name: String) async throws -> Answer { try await send(.rename(name)) }

    /// Changes settings of the plug, all of them or none, which it keeps.
    ///
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func configure(_ change: SettingsChange) async throws -> Answer { try await send(.configure(change)) }

    /// Carries out a command once, however often the connection breaks before it is answered.
    ///
    /// - Parameters:
    ///   - command: what to do.
    ///   - request: one that is kept and given again, after a crash say, is carried out once all the same.
    /// - Throws: `Refusal`, or `CancellationError`.
    @discardableResult
    public func send(_ command: PlugCommand, as request: RequestID? = nil) async throws -> Answer {
        let (state, event) = try await commandLine.send(command, id: request)
        return Answer(state: state, event: event)
    }

    /// What a command led to.
    public struct Answer: Hashable, Sendable {
        /// The state that resulted.
        public var state: PlugState
        /// The number of the event that records it; nil where nothing changed.
        public var event: SequenceNumber?
    }

    /// The samples that the plug still has between two points of time, both included, in order.
    ///
    /// - Throws: `Refusal`, `SampleChunkError` for a damaged chunk, or `CancellationError`.
    public func samples(from: WallTime, to: WallTime = .now) async throws -> [PlugSample] {
        try await commandLine.samples(from: from, to: to)
    }

    /// The samples that the plug still has of the last `span`.
    ///
    /// - Throws: as ``samples(from:to:)``.
    public func samples(last span: Duration) async throws -> [PlugSample] { try await commandLine.samples(last: span) }

    private var commandLine: FollowedPlug {
        line.withLock { line in
            if let line { return line }
            let new = client.follow(name, id: id, after: nil, stateOptions: nil)
            line = new
            // Nobody waits for what it reports; left unread it would stop the answers too.
            Task { for await _ in new.reports {} }
            return new
        }
    }
}
