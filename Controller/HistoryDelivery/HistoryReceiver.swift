import NIOPosix
import PowerHistory

/// A receiver of a history. Calls must not overlap.
protocol HistoryReceiver: Sendable {
    /// Connects to the receiver and drops a previous connection.
    ///
    /// - Returns: the receiver's position; nil if the whole history must be sent.
    func connect() async throws(DeliveryFault) -> FeedPosition?

    /// Called at each check for changes, before the missing changes are sent.
    ///
    /// - Parameter hasAll: true if the receiver has the whole history; false if changes are sent next.
    func idle(hasAll: Bool) async throws(DeliveryFault)

    /// Sends a part of the changes.
    ///
    /// - Parameters:
    ///   - position: the position up to which the receiver has all changes, in the current epoch.
    ///   - limit: the maximum number of changes in the part.
    /// - Returns: the number up to which the receiver has all changes, and true if no change follows.
    func deliver(
        from source: HistorySource, after position: FeedPosition, atMost limit: Int
    ) async throws(DeliveryFault) -> (through: Int64, isAll: Bool)

    /// Closes open resources.
    func end() async

    /// Makes the current call end as soon as possible, and all later deliveries fail. May be called at any time.
    func giveUp()
}

/// A thread for blocking calls.
struct BlockingThread: Sendable {
    private let pool = NIOThreadPool(numberOfThreads: 1)

    init() { pool.start() }

    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(DeliveryFault) -> Value
    ) async throws(DeliveryFault) -> Value {
        let result = try? await pool.runIfActive { () -> Result<Value, DeliveryFault> in
            do throws(DeliveryFault) { return .success(try body()) } catch { return .failure(error) }
        }
        guard let result else { throw DeliveryFault(reason: "the delivery was stopped") }
        return try result.get()
    }

    func end() async { try? await pool.shutdownGracefully() }
}
