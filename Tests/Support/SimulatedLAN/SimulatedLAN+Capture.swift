internal import DNSWire
internal import ProtocolCore

/// Captures streams as TCP segments at the time of their arrival. A stream has only the total delay of a segment, so
/// losses and retransmissions are not captured.
extension SimulatedLAN {
    enum Segment {
        case opens, acknowledges, says, finishes, resets
    }

    func captureSegment(_ number: Int, from side: Int, _ segment: Segment, _ bytes: [UInt8] = []) {
        guard capture != nil, var stream = streams[number] else { return }
        let (sender, receiver) = (stream.ends[side], stream.ends[1 - side])
        let flags: InternetPacket.TCPFlags =
            switch segment {
            case .opens: side == 0 ? .syn : [.syn, .ack]
            case .acknowledges: .ack
            case .says: [.psh, .ack]
            case .finishes: [.fin, .ack]
            case .resets: [.rst, .ack]
            }
        var rest = bytes[...]
        repeat {
            let part = Array(rest.prefix(Self.segmentSize))
            rest = rest.dropFirst(part.count)
            guard segment != .says || !part.isEmpty else { break }
            let packet = InternetPacket.tcp(
                from: sender.endpoint.traced, to: receiver.endpoint.traced, flags,
                sequence: stream.ends[side].sequence, acknowledgement: receiver.sequence, part)
            capture?.add(packet, to: receiver.endpoint.address, sender: sender.interface, at: now)
            stream.ends[side].sequence &+= UInt32(part.count)
        } while !rest.isEmpty
        // SYN and FIN use one sequence number each (RFC 9293 §3.4).
        switch segment {
        case .opens, .finishes: stream.ends[side].sequence &+= 1
        case .acknowledges, .says, .resets: break
        }
        streams[number]?.ends[side].sequence = stream.ends[side].sequence
    }

    /// The space in an Ethernet frame after the headers of IPv6 and TCP.
    private static var segmentSize: Int { 1440 }
}
