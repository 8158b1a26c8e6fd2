internal import ProtocolCore

extension SimulatedLAN {
    // MARK: Connecting

    func connect(_ host: HostID, _ id: StreamID, to endpoint: Endpoint) {
        precondition(id.rawValue < 1 << 32 && find(id, host) == nil, "the stream number is not new or not below 2^32")
        for interface in slots[host.index].interfaces {
            let own = interfaces[interface.index]
            guard
                let source = own.addresses.first(where: { $0.isIPv4 == endpoint.address.isIPv4 }),
                let peer = links[own.link.index].interfaces.first(where: {
                    interfaces[$0.index].addresses.contains(endpoint.address)
                })
            else { continue }
            nextStream += 1
            let asking = Stream.End(
                host: host, id: id, interface: interface,
                endpoint: Endpoint(source, UInt16(32_768 + nextStream % 28_000)))
            var accepting = Stream.End(
                host: interfaces[peer.index].host, id: StreamID(accepted: UInt64(nextStream)), interface: peer,
                endpoint: endpoint)
            accepting.isOpen = false
            streams[nextStream] = Stream(link: own.link, ends: [asking, accepting])
            let delay = oneWay(own.link, retry: StreamTiming.firstConnectRetry)
            queue.schedule(.stream(.ask(nextStream, attempt: 1)), at: now + delay)
            return
        }
        queue.schedule(.stream(.unreachable(host, id)), at: now + StreamTiming.resolution)
    }

    func advance(_ step: StreamStep) {
        switch step {
        case .ask(let number, let attempt): ask(number, attempt: attempt)
        case .answered(let number, let end): answered(number, end)
        case .arrive(let number, let from): arrive(number, from: from)
        case .reset(let number, let to): reset(number, to: to)
        case .unreachable(let host, let id): deliver(.closed(id, .unreachable), to: host)
        }
    }

    private func ask(_ number: Int, attempt: Int) {
        guard let stream = streams[number] else { return }
        guard stream.ends[0].isOpen else { return drop(number) }
        guard hasWay(stream, to: 1), slots[stream.ends[1].host.index].power != .off else {
            guard attempt < StreamTiming.connectAttempts else { return finish(number, 0, .timedOut) }
            let wait = StreamTiming.firstConnectRetry * (1 << (attempt - 1))
            return queue.schedule(.stream(.ask(number, attempt: attempt + 1)), at: now + wait)
        }
        let back = now + oneWay(stream.link, retry: StreamTiming.firstConnectRetry)
        let port = stream.ends[1].endpoint.port
        captureSegment(number, from: 0, .opens)
        guard slots[stream.ends[1].host.index].ports.contains(port) else {
            captureSegment(number, from: 1, .resets)
            return queue.schedule(.stream(.answered(number, .refused)), at: back)
        }
        streams[number]?.ends[1].isOpen = true
        streams[number]?.wasAccepted = true
        queue.schedule(.stream(.answered(number, nil)), at: back)
        captureSegment(number, from: 1, .opens)
        captureSegment(number, from: 0, .acknowledges)
        deliver(.accepted(stream.ends[1].id, port: port, from: stream.ends[0].endpoint), to: stream.ends[1].host)
    }

    private func answered(_ number: Int, _ end: StreamEnd?) {
        guard let stream = streams[number] else { return }
        guard stream.ends[0].isOpen else { return }
        if let end { return finish(number, 0, end) }
        deliver(.connected(stream.ends[0].id), to: stream.ends[0].host)
    }

    // MARK: Writing

    func write(_ bytes: [UInt8], to id: StreamID, of host: HostID) {
        // A stream that has just ended accepts and drops remaining writes.
        guard !bytes.isEmpty, let (number, side) = find(id, host) else { return }
        put(number, side, bytes, finishes: false)
        guard let end = streams[number]?.ends[side], end.writable, end.unreceived.count > sendBuffer
        else { return }
        streams[number]?.ends[side].writable = false
        deliver(.writable(id, false), to: host)
    }

    func close(_ id: StreamID, of host: HostID) {
        guard let (number, side) = find(id, host) else { return }
        streams[number]?.ends[side].isOpen = false
        put(number, side, [], finishes: true)
    }

    func setReading(_ reading: Bool, _ id: StreamID, of host: HostID) {
        guard let (number, side) = find(id, host) else { return }
        streams[number]?.ends[side].reading = reading
        if reading { move(number, from: 1 - side, at: now) }
    }

    private func put(_ number: Int, _ side: Int, _ bytes: [UInt8], finishes: Bool) {
        guard let stream = streams[number] else { return }
        let soonest = now + oneWay(stream.link, retry: StreamTiming.firstRetransmission)
        let arrival = max(soonest, stream.ends[side].flights.last?.arrival ?? soonest)
        streams[number]?.ends[side].unreceived += bytes
        streams[number]?.ends[side].flights.append(
            Stream.Flight(arrival: arrival, bytes: bytes.count, finishes: finishes))
        move(number, from: side, at: arrival)
    }

    private func move(_ number: Int, from side: Int, at time: Instant) {
        guard let end = streams[number]?.ends[side], !end.isMoving, !end.flights.isEmpty else { return }
        streams[number]?.ends[side].isMoving = true
        queue.schedule(.stream(.arrive(number, from: side)), at: max(now, time))
    }

    // MARK: Arriving

    private func arrive(_ number: Int, from side: Int) {
        guard let stream = streams[number] else { return }
        streams[number]?.ends[side].isMoving = false
        let (sender, receiver) = (stream.ends[side], stream.ends[1 - side])
        // Data of a host that lost its power is not retransmitted.
        guard slots[sender.host.index].power != .off, let first = sender.flights.first else { return }
        guard hasWay(stream, to: 1 - side), slots[receiver.host.index].power != .off else {
            return retransmit(number, from: side)
        }
        streams[number]?.ends[side].retries = 0
        streams[number]?.ends[side].blockedSince = nil
        guard receiver.isOpen else {
            // The bytes wait until the other side has accepted.
            guard stream.wasAccepted else {
                return move(number, from: side, at: now + StreamTiming.firstRetransmission)
            }
            return announceReset(number, to: side)
        }
        guard receiver.reading || first.bytes == 0 else { return }
        take(number, from: side)
    }

    private func retransmit(_ number: Int, from side: Int) {
        guard let end = streams[number]?.ends[side] else { return }
        let since = end.blockedSince ?? now
        guard now - since < StreamTiming.giveUp else {
            streams[number]?.ends[side].flights = []
            return finish(number, side, .timedOut)
        }
        streams[number]?.ends[side].blockedSince = since
        streams[number]?.ends[side].retries += 1
        move(number, from: side, at: now + StreamTiming.retransmission(end.retries))
    }

    /// Delivers all flights that are due, split again at random places.
    private func take(_ number: Int, from side: Int) {
        guard var end = streams[number]?.ends[side], let receiver = streams[number]?.ends[1 - side] else { return }
        let due = end.flights.prefix { $0.arrival <= now }
        let finishes = due.contains { $0.finishes }
        let count = due.reduce(0) { $0 + $1.bytes }
        var bytes = end.unreceived.prefix(count)
        end.flights.removeFirst(due.count)
        end.unreceived.removeFirst(count)
        streams[number]?.ends[side] = end
        captureSegment(number, from: side, .says, Array(bytes))
        if finishes { captureSegment(number, from: side, .finishes) }
        while !bytes.isEmpty, streams[number]?.ends[1 - side].isOpen == true {
            let piece = random.chance(0.5) ? bytes.count : Int.random(in: 1...bytes.count, using: &random)
            deliver(.received(receiver.id, Array(bytes.prefix(piece))), to: receiver.host)
            bytes = bytes.dropFirst(piece)
        }
        if finishes { finish(number, 1 - side, .finished) }
        if let left = streams[number]?.ends[side] {
            if !left.writable, left.isOpen, left.unreceived.count <= sendBuffer / 4 {
                streams[number]?.ends[side].writable = true
                deliver(.writable(left.id, true), to: left.host)
            }
            if let next = left.flights.first { move(number, from: side, at: next.arrival) }
        }
    }

    // MARK: Ending

    private func announceReset(_ number: Int, to side: Int) {
        guard let stream = streams[number] else { return }
        guard stream.ends[side].isOpen else {
            streams[number] = nil
            return
        }
        // A reset is sent once for each arrival. If the reset is lost, the end at `side` receives another reset only
        // after it has sent its data again.
        guard !random.chance(links[stream.link.index].faults.loss) else {
            return move(number, from: side, at: now + StreamTiming.firstRetransmission)
        }
        let delay = random.duration(in: links[stream.link.index].faults.delay)
        queue.schedule(.stream(.reset(number, to: side)), at: now + delay)
    }

    private func reset(_ number: Int, to side: Int) {
        guard let stream = streams[number], hasWay(stream, to: side) else { return }
        captureSegment(number, from: 1 - side, .resets)
        finish(number, side, .reset)
    }

    /// Ends a stream at one side and reports that to its host.
    private func finish(_ number: Int, _ side: Int, _ reason: StreamEnd) {
        guard let end = streams[number]?.ends[side] else { return }
        let wasOpen = end.isOpen
        streams[number]?.ends[side].isOpen = false
        drop(number)
        if wasOpen { deliver(.closed(end.id, reason), to: end.host) }
    }

    /// Removes a stream that is closed on both sides, unless the stream was accepted and data of a host with power is
    /// still in flight.
    private func drop(_ number: Int) {
        guard let stream = streams[number], !stream.ends.contains(where: \.isOpen) else { return }
        let isFinishing = stream.ends.contains { !$0.flights.isEmpty && slots[$0.host.index].power != .off }
        if !isFinishing || !stream.wasAccepted { streams[number] = nil }
    }

    /// Abandons the streams of a host whose process or power is gone.
    ///
    /// - Parameter announced: true if its kernel is still running and resets the streams.
    func abandonStreams(of host: HostID, announced: Bool) {
        for number in streams.keys.sorted() {
            for side in 0...1 where streams[number]?.ends[side].host == host {
                // The kernel still delivers data of streams that the process closed before it was killed.
                if announced, streams[number]?.ends[side].isOpen != true { continue }
                // Linux delivers written data, or resets the stream if the process left received data unread. The seed
                // selects one of the two.
                if announced, let end = streams[number]?.ends[side], !end.flights.isEmpty, random.chance(0.5) {
                    close(end.id, of: host)
                    continue
                }
                streams[number]?.ends[side].isOpen = false
                streams[number]?.ends[side].flights = []
                streams[number]?.ends[side].unreceived = []
                if announced { announceReset(number, to: 1 - side) } else { drop(number) }
            }
        }
    }

    // MARK: Finding

    private func find(_ id: StreamID, _ host: HostID) -> (number: Int, side: Int)? {
        for (number, stream) in streams {
            for side in 0...1
            where stream.ends[side].id == id && stream.ends[side].host == host && stream.ends[side].isOpen {
                return (number, side)
            }
        }
        return nil
    }

    private func hasWay(_ stream: Stream, to side: Int) -> Bool {
        let (left, right) = (stream.ends[0].host, stream.ends[1].host)
        guard links[stream.link.index].joins(left, right) else { return false }
        // A suspended host answers nothing; the kernel of a stopped process still answers.
        return slots[stream.ends[side].host.index].power != .suspended
    }

    /// Returns the delay of a segment, including losses and retransmissions.
    private func oneWay(_ link: LinkID, retry first: Duration) -> Duration {
        let faults = links[link.index].faults
        var delay = random.duration(in: faults.delay)
        var retry = first
        while random.chance(faults.loss), retry < StreamTiming.longestRetransmission {
            delay += retry
            retry = retry * 2
        }
        return delay
    }
}
