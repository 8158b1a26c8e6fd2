import AddressConfiguration
import ProtocolCore
import SimulatedLAN

/// A broadcast domain of Ethernet that carries ARP and DHCP. ``SimulatedLAN`` is not used, because it carries only
/// datagrams between hosts that already have addresses.
///
/// The receivers of a broadcast are divided into up to eight portions, each with its own time of arrival. For 500
/// stations a broadcast then needs 8 events instead of 500.
struct AddressingSegment {
    /// A frame in flight.
    struct Arrival {
        let frame: LinkFrame
        let sender: Int
        let receivers: Receivers
    }

    enum Receivers {
        case one(Int)
        /// The stations whose number has this remainder after division by `of`.
        case portion(Int, of: Int)
    }

    struct Station {
        var isUp = true
        var group = 0
    }

    var stations: [Station]
    var faults = LinkFaults.none
    var random: SeededRandom
    /// The number of frames that all stations sent in each second of the run. Tests limit the largest number.
    private(set) var arpPerSecond: [Int: Int] = [:]
    private(set) var dhcpPerSecond: [Int: Int] = [:]
    private static let portions = 8

    init(stations: Int, seed: UInt64) {
        self.stations = Array(repeating: Station(), count: stations)
        random = SeededRandom(seed: seed)
    }

    /// Sends a frame to a receiver, or to all stations if `receiver` is nil.
    ///
    /// - Returns: the arrivals with their times; empty if the sender's link is down.
    mutating func send(_ frame: LinkFrame, from sender: Int, to receiver: Int?, now: Instant) -> [(Arrival, Instant)] {
        guard stations[sender].isUp else { return [] }
        let second = Int((now - .zero).components.seconds)
        switch frame {
        case .arp: arpPerSecond[second, default: 0] += 1
        case .dhcp: dhcpPerSecond[second, default: 0] += 1
        }
        let portions = min(Self.portions, stations.count)
        let all = receiver.map { [Receivers.one($0)] } ?? (0..<portions).map { Receivers.portion($0, of: portions) }
        var arrivals: [(Arrival, Instant)] = []
        for receivers in all {
            for _ in 0...(random.chance(faults.duplication) ? 1 : 0) {
                arrivals.append((Arrival(frame: frame, sender: sender, receivers: receivers), now + delay()))
            }
        }
        return arrivals
    }

    private mutating func delay() -> Duration {
        let held = random.chance(faults.reordering) ? random.duration(in: .zero...faults.heldBack) : .zero
        return random.duration(in: faults.delay) + held
    }

    /// Returns the stations that receive the frame at its arrival. The state of the links at this time counts.
    mutating func receivers(of arrival: Arrival) -> [Int] {
        let group = stations[arrival.sender].group
        func isReached(_ station: Int, _ random: inout SeededRandom) -> Bool {
            station != arrival.sender && stations[station].isUp && stations[station].group == group
                && !(faults.loss > 0 && random.chance(faults.loss))
        }
        switch arrival.receivers {
        case .one(let station): return isReached(station, &random) ? [station] : []
        case .portion(let first, let portions):
            return stride(from: first, to: stations.count, by: portions).filter { isReached($0, &random) }
        }
    }
}
