import LinkWire
import ProtocolCore
import SimulatedLAN

/// A broadcast domain of Ethernet that carries ARP and DHCP. ``SimulatedLAN`` is not used, because it carries datagrams
/// between existing addresses.
///
/// A broadcast arrives in up to eight portions of its receivers, each at its own time. That is enough disorder, and 500
/// stations cost 8 events per packet instead of 500.
struct AddressingSegment {
    /// A frame in flight.
    struct Arrival {
        let frame: LinkFrame
        let sender: Int
        let receivers: Receivers
    }

    enum Receivers {
        case one(Int)
        /// The stations whose number has this remainder.
        case portion(Int, of: Int)
    }

    struct Station {
        var isUp = true
        var group = 0
    }

    var stations: [Station]
    var faults = LinkFaults.none
    var random: SeededRandom
    /// Frames of all stations per second, which reveal a storm.
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

    /// The stations that receive the frame now that it arrives.
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
