import Synchronization

/// The user of a seat. A seat is a stream, a connection, a request that is being answered, or a subscribed browser.
enum SeatHolder: Codable, Hashable, Sendable {
    /// The daemon's own user, at the local socket.
    case local
    /// Any user of a dashboard without a password, which is open to its own machine only.
    case open
    /// An owner over the network.
    case owner
    /// A user, viewer or guest, with the id of the password.
    case other(password: String)
}

extension Authorization {
    var holder: SeatHolder {
        guard let password else { return isLocal ? .local : .open }
        return role == .owner ? .owner : .other(password: password)
    }
}

/// The number of seats, and the part that users other than owners may use. The remaining seats are reserved for owners
/// and the local socket.
struct SeatLimits: Hashable, Sendable {
    /// The total number of seats. Only the local socket may use all.
    var all: Int
    /// The seats of all network users.
    var network: Int
    /// All seats of users, viewers and guests together.
    var others: Int
    /// The seats of one password that is not an owner's.
    var password: Int

    /// Limits of streams. A house has fewer screens; more would only fill the memory.
    static let streams = SeatLimits(all: 64, network: 56, others: 36, password: 12)
    /// Limits of requests that are being answered. Users, viewers and guests have fewer seats than the limit of
    /// ``HistoryThreads``.
    static let requests = SeatLimits(all: .max, network: .max, others: 24, password: 16)
}

/// Counts the taken seats.
struct SeatCounter {
    let limits: SeatLimits
    private var taken: [SeatHolder: Int] = [:]

    init(_ limits: SeatLimits) { self.limits = limits }

    func hasRoom(for holder: SeatHolder) -> Bool {
        let all = taken.values.reduce(0, +)
        guard all < limits.all else { return false }
        guard holder != .local else { return true }
        guard all - taken[.local, default: 0] < limits.network else { return false }
        guard case .other = holder else { return true }
        return others < limits.others && taken[holder, default: 0] < limits.password
    }

    mutating func take(_ holder: SeatHolder) -> Bool {
        guard hasRoom(for: holder) else { return false }
        taken[holder, default: 0] += 1
        return true
    }

    mutating func leave(_ holder: SeatHolder) {
        guard let count = taken[holder] else { return }
        taken[holder] = count > 1 ? count - 1 : nil
    }

    private var others: Int {
        taken.reduce(0) { sum, seat in
            if case .other = seat.key { sum + seat.value } else { sum }
        }
    }
}

/// Counts the requests that are being answered at both sockets.
final class RequestSeats: Sendable {
    private let seats = Mutex(SeatCounter(.requests))

    /// Runs the body while it holds a seat. Throws `Refused` with status 503 if the holder has no seat left.
    func answer<Answer>(_ holder: SeatHolder, _ body: () async throws -> Answer) async throws -> Answer {
        guard seats.withLock({ $0.take(holder) }) else {
            throw Refused(
                503, "too many requests are in progress with this password, or with all non-owner passwords together",
                hint: "try again in a moment"
            )
            .with(.retryAfter, "1")
        }
        defer { seats.withLock { $0.leave(holder) } }
        return try await body()
    }
}
