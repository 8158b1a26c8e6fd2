internal import PlugModel
internal import ProtocolCore

/// Limits how often controllers' requests may write to flash.
///
/// Each controller has its own allowance, so that no controller can consume another's. All controllers that are not
/// owners also share one allowance, so that many guests together cannot wear out the flash. ``PeerBudgets`` defines the
/// limits.
struct FlashBudget: Sendable {
    private struct Peer: Hashable {
        let controller: AuthorityID
        let isOwner: Bool
    }

    private static let ofOwner = TokenBucket(
        atOnce: PeerBudgets.ownerWritesAtOnce, perHour: PeerBudgets.ownerWritesPerHour)
    private static let ofGuest = TokenBucket(
        atOnce: PeerBudgets.guestWritesAtOnce, perHour: PeerBudgets.guestWritesPerHour)

    private var peers: [Peer: TokenBucket] = [:]
    private var allGuests = TokenBucket(
        atOnce: PeerBudgets.allGuestsWritesAtOnce, perHour: PeerBudgets.allGuestsWritesPerHour)

    /// Consumes one token per write. Returns false and consumes nothing if fewer tokens are available.
    mutating func spend(_ writes: Int, of controller: AuthorityID, _ role: Role, now: Instant) -> Bool {
        let peer = Peer(controller: controller, isOwner: role == .owner)
        var own = peers[peer] ?? (peer.isOwner ? Self.ofOwner : Self.ofGuest)
        guard own.available(writes) <= now, peer.isOwner || allGuests.take(writes, now: now) else { return false }
        own.spend(writes, now: now)
        peers[peer] = own
        return true
    }

    /// Discards the allowances of controllers that are no longer paired.
    mutating func keep(only paired: [AuthorityID]) {
        let paired = Set(paired)
        peers = peers.filter { paired.contains($0.key.controller) }
    }
}

extension Refusal {
    static let tooManyWrites = Refusal(
        .busy,
        "Too many requests of the last hour wrote to the plug's flash; try again in ten minutes.")
}
