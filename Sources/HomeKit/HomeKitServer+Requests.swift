internal import ProtocolCore

extension HomeKitServer {
    mutating func handle(
        _ request: HTTPRequest, of id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]
    ) {
        let isVerified = sessions[id]?.isVerified ?? false
        switch (request.path, request.method, isVerified) {
        // Pairing uses connections that are not encrypted yet (HAP 5.6, 5.7).
        case ("/pair-setup", "POST", false): pairSetup(request.body, of: id, now, &actions)
        case ("/pair-verify", "POST", false): pairVerify(request.body, of: id, now, &actions)
        case ("/pair-setup", "POST", true), ("/pair-verify", "POST", true):
            send(HTTPResponse(.badRequest), to: id, now, &actions)
        case ("/identify", "POST", _): identify(id, now, &actions)
        case ("/pairings", "POST", true): pairings(request.body, of: id, now, &actions)
        case ("/accessories", "GET", true):
            let attributes = table.attributes(subscribed: sessions[id]?.subscriptions ?? [])
            send(HTTPResponse(.ok, .json(attributes)), to: id, now, &actions)
        case ("/characteristics", "GET", true): read(request, of: id, now, &actions)
        case ("/characteristics", "PUT", true): write(request, of: id, now, &actions)
        case ("/prepare", "PUT", true): prepare(request, of: id, now, &actions)
        case ("/pairings", "POST", false), ("/accessories", "GET", false), ("/characteristics", "GET", false),
            ("/characteristics", "PUT", false), ("/prepare", "PUT", false):
            send(HTTPResponse(.connectionAuthorizationRequired), to: id, now, &actions)
        case ("/pair-setup", _, _), ("/pair-verify", _, _), ("/identify", _, _), ("/pairings", _, _),
            ("/accessories", _, _), ("/characteristics", _, _), ("/prepare", _, _):
            send(HTTPResponse(.methodNotAllowed), to: id, now, &actions)
        case (_, _, _): send(HTTPResponse(.notFound), to: id, now, &actions)
        }
    }

    /// Handles an identify request, which any client may send before pairing (HAP 6.7.6).
    private mutating func identify(_ id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]) {
        guard !isPaired else {
            let status = HomeKitStatus.insufficientPrivileges.rawValue
            return send(HTTPResponse(.badRequest, .json("{\"status\":\(status)}")), to: id, now, &actions)
        }
        actions.append(.identify)
        send(HTTPResponse(.noContent), to: id, now, &actions)
    }

    private mutating func send(
        _ fault: RequestFault, to id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]
    ) {
        switch fault {
        case .malformed: send(HTTPResponse(.badRequest), to: id, now, &actions)
        case .unprocessable: send(HTTPResponse(.unprocessable), to: id, now, &actions)
        }
    }

    private mutating func read(
        _ request: HTTPRequest, of id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]
    ) {
        do throws(RequestFault) {
            let read = try CharacteristicRead(query: request.query)
            send(read.answer(table, subscribed: sessions[id]?.subscriptions ?? []), to: id, now, &actions)
        } catch {
            send(error, to: id, now, &actions)
        }
    }

    private mutating func prepare(
        _ request: HTTPRequest, of id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]
    ) {
        do throws(RequestFault) {
            let preparation = try CharacteristicWrite.preparation(request.body)
            sessions[id]?.preparation = (preparation.id, now + preparation.time)
            send(HTTPResponse(.ok, .json("{\"status\":0}")), to: id, now, &actions)
        } catch {
            send(error, to: id, now, &actions)
        }
    }

    private mutating func write(
        _ request: HTTPRequest, of id: HomeKitSessionID, _ now: Instant, _ actions: inout [Action]
    ) {
        let write: CharacteristicWrite
        do throws(RequestFault) {
            write = try CharacteristicWrite(request.body)
        } catch {
            return send(error, to: id, now, &actions)
        }
        guard let session = sessions[id], let controller = session.controller,
            let pairing = records.pairing(of: controller)
        else { return close(id, .removed, &actions) }
        // A preparation is valid for one write (HAP 6.7.2.4).
        let prepared = session.preparation
        if write.preparation != nil { sessions[id]?.preparation = nil }
        let isTimed =
            write.preparation != nil && prepared?.id == write.preparation && prepared.map { now < $0.until } == true
        let isLate = write.preparation != nil && !isTimed
        var asked: [CharacteristicWriteRequest] = []
        let entries = write.entries.map { entry in
            var (status, value) = isLate ? (.invalidValue, nil) : check(entry, isTimed: isTimed)
            if let written = value, asked.contains(where: { $0.key == entry.key }) {
                // Two different values for one characteristic have no defined order.
                (status, value) = (
                    asked.contains { $0.key == entry.key && $0.value == written } ? .success : .invalidValue, nil
                )
            }
            if let value { asked.append(CharacteristicWriteRequest(key: entry.key, value: value)) }
            if status == .success, let subscribes = entry.subscribes { subscribe(id, entry.key, subscribes) }
            return PendingWrite.Entry(
                key: entry.key, status: status, wantsResponse: entry.wantsResponse, isAsked: value != nil)
        }
        let pending = PendingWrite(request: nextRequest(), deadline: now + Self.writeTime, entries: entries)
        guard !asked.isEmpty else { return send(Self.answer(pending), to: id, now, &actions) }
        sessions[id]?.work = .writing(pending)
        let asking = ControllerIdentity(name: pairing.name, isAdmin: pairing.isAdmin)
        actions.append(.write(pending.request, id, asking, asked))
    }

    /// Checks an entry. Returns its status, and the value to write if the accessory must handle it.
    private func check(
        _ entry: CharacteristicWrite.Entry, isTimed: Bool
    ) -> (HomeKitStatus, CharacteristicValue?) {
        guard let characteristic = table[entry.key] else { return (.doesNotExist, nil) }
        if entry.subscribes != nil, !characteristic.permissions.contains(.events) {
            return (.notificationUnsupported, nil)
        }
        guard let value = entry.value else { return (entry.subscribes == nil ? .invalidValue : .success, nil) }
        guard characteristic.permissions.contains(.pairedWrite) else { return (.readOnly, nil) }
        guard isTimed || !characteristic.permissions.contains(.timedWrite) else { return (.invalidValue, nil) }
        guard let written = characteristic.written(value) else { return (.invalidValue, nil) }
        return (.success, written)
    }

    private mutating func subscribe(_ id: HomeKitSessionID, _ key: CharacteristicKey, _ subscribes: Bool) {
        if subscribes {
            sessions[id]?.subscriptions.insert(key)
        } else {
            sessions[id]?.subscriptions.remove(key)
            sessions[id]?.untold.remove(key)
        }
    }

    mutating func answered(
        _ request: HomeKitRequestID, _ outcomes: [CharacteristicKey: HomeKitWriteOutcome], _ now: Instant,
        _ actions: inout [Action]
    ) {
        for id in sessions.keys.sorted() {
            guard case .writing(var write) = sessions[id]?.work, write.request == request else { continue }
            for index in write.entries.indices where write.entries[index].isAsked {
                let entry = write.entries[index]
                switch outcomes[entry.key] {
                case .done: break
                case .value(let value): write.entries[index].value = table[entry.key]?.told(value)
                case .failed(let status): write.entries[index].status = status
                case nil: write.entries[index].status = .unableToCommunicate
                }
            }
            sessions[id]?.work = .none
            send(Self.answer(write), to: id, now, &actions)
            return proceed(id, now, &actions)
        }
    }

    /// Returns the response to a write (HAP 6.7.2): no content if all entries succeeded and none returns a value,
    /// otherwise a status per entry.
    private static func answer(_ write: PendingWrite) -> HTTPResponse {
        let hasValues = write.entries.contains { $0.wantsResponse && $0.value != nil }
        if !hasValues, write.entries.allSatisfy({ $0.status == .success }) { return HTTPResponse(.noContent) }
        return HTTPResponse(.multiStatus, .json(CharacteristicWrite.answer(write.entries)))
    }
}
