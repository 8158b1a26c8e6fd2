import Appliance
import LinuxSystem
import Metering
import PlugModel
import PlugProtocol
import ProtocolCore
import ServiceDiscovery
import SimulatedLAN
import Storage
import TestSupport

/// A complete plug on the simulated LAN: ``PlugMachine``, its storage and its announcement, connected as in the
/// firmware, on a board with a failing disk.
final class SimulatedPlug {
    /// The way in which controllers find the plug.
    enum Place {
        case fixed(port: UInt16)
        /// Announced by name, with a new port after each start.
        case announced
    }

    static let stateDirectory = "/var/plug"
    static let runtimeDirectory = "/run/plug"
    static let serviceType: ServiceType = "_smartplug._tcp"
    private static let registration = RegistrationID(rawValue: 1)
    /// The durations of a short press, of one that opens the pairing window, and of one that resets the plug, and the
    /// time after its release within which a press is recorded.
    private static let hold = Duration.milliseconds(100)
    private static let longHold = Duration.milliseconds(5200)
    private static let resetHold = Duration.milliseconds(15_100)
    private static let recorded = Duration.milliseconds(500)

    let name: String
    let number: UInt8
    let disk: SimulatedDisk
    private let finding: Place
    private let configuration: ApplianceConfiguration
    private let limits: PlugMemory.Limits
    private(set) var machine: PlugMachine?
    private(set) var boot: BootID?
    private(set) var truth = PlugTruth()
    private(set) var relayOn = false
    /// The readings of the meter in the current boot in tenths of a watt, by time.
    private(set) var measured: [Instant: Int32] = [:]
    private(set) var pressesBegun = 0
    /// Presses after which the plug ran long enough to record them.
    private(set) var pressesCertain = 0
    private var storage: PlugStorage?
    private var flash: SimulatedFlash
    private let queue = ActionQueue<PlugMachine.Action>()
    private var out: [HostAction] = []
    private var now = Instant.zero
    /// Active power of the load, in tenths of a watt.
    private var load: Int32 = 0
    private(set) var starts: UInt16 = 0
    /// The number of completed factory resets.
    private(set) var resets = 0
    /// The plug's key; nil if it is off the network.
    private var simulatedKey: SimulatedKey?
    private var keyNumbers: UInt64 = 0
    private var lastStart: Start?
    private var isResetting = false
    /// The time until which the mirror may be missing, on the plug's clock.
    private var mirrorDoubtedUntil = Instant.zero
    /// The time of the machine's last step.
    private var lastStep = Instant.zero
    private var nextStart: (breakdown: SimulatedDisk.Breakdown, steps: Int)?
    private var discovery: DiscoveryShell?
    private var streams: [ConnectionID: StreamID] = [:]
    private var release: Instant?
    private var certain: Instant?

    init(
        name: String, number: UInt8, seed: UInt64, place: Place,
        configuration: ApplianceConfiguration = ApplianceConfiguration(),
        limits: PlugMemory.Limits = PlugMemory.Limits()
    ) {
        self.name = name
        self.number = number
        finding = place
        self.configuration = configuration
        self.limits = limits
        disk = SimulatedDisk(seed: seed)
        flash = SimulatedFlash(seed: seed)
        printLabel()
    }

    /// Writes the code on the label and the first key, as the factory does.
    private func printLabel() {
        let files = FileStore(calls: disk)
        do {
            try files.makeDirectories(Self.stateDirectory)
            try files.replace(
                "\(Self.stateDirectory)/setup-code",
                with: Array("\(SetupCode.label.text)\n\(SetupCode.label.text)\n".utf8))
            SimulatedKey.make(files)
        } catch {
            preconditionFailure("a new disk cannot be written: \(error)")
        }
    }

    var address: LANAddress { LANAddress(192, 0, 2, 10 + number) }

    /// The key that the plug would prove in TLS; nil if the plug is off the network.
    var key: PublicKey? { simulatedKey.map { PublicKey(of: address, number: $0.number) } }
    var isOffNetwork: Bool { simulatedKey == nil }
    /// The endpoint of an announced plug.
    var place: LANEndpoint { LANEndpoint(address, 7000 + starts) }
    var id: PlugID? { storage?.id }

    var nextDeadline: Instant? {
        [machine?.nextDeadline, discovery?.nextDeadline, flash.nextDeadline, release, certain].reduce(nil, sooner)
    }

    func handle(_ event: HostEvent<HouseStimulus>, now: Instant) -> [HostAction] {
        self.now = now
        switch event {
        case .started(let start): begin(start)
        case .interfaceUp(let interface, let addresses): discover { $0.up(interface, addresses, now: now) }
        case .interfaceDown: discover { $0.down(now: now) }
        case .datagram(let datagram, _): discover { $0.received(datagram, now: now) }
        case .accepted(let stream, _, _) where isOffNetwork: out.append(.close(stream))
        case .accepted(let stream, _, let peer):
            streams[id(stream)] = stream
            perform(.server(.opened(PlugServer.Opening(id(stream), of: PublicKey(of: peer.address), peer: "\(peer)"))))
        case .received(let stream, let bytes): perform(.server(.received(id(stream), bytes)))
        case .writable(let stream, let writable): perform(.server(.writable(id(stream), writable)))
        case .closed(let stream, _): perform(.server(.closed(id(stream))))
        case .deadlineReached:
            finishWrites()
            finishPress()
            perform(.deadlineReached)
            discover { $0.handle(.deadlineReached, now: now) }
        case .stimulus(let stimulus): stimulate(stimulus)
        case .connected, .wallClockStepped: break
        }
        defer { out = [] }
        return out
    }

    private func stimulate(_ stimulus: HouseStimulus) {
        switch stimulus {
        case .press: press(for: Self.hold)
        case .hold: press(for: Self.longHold)
        case .holdForReset: press(for: Self.resetHold)
        case .load(let deciwatts): load = deciwatts
        case .disk(let area, let faults):
            disk.change(area) { $0 = faults }
            switch area {
            case .flash: truth.hadBadFlash = true
            // The plug tries to write the mirror every 30 s, and whenever the meter is read.
            case .memory:
                let isRepaired = faults == SimulatedDisk.Faults()
                mirrorDoubtedUntil = isRepaired ? now + .seconds(33) : Instant(nanoseconds: .max)
            }
        case .corrupt(let file):
            truth.hadBadFlash = true
            disk.corrupt("\(Self.stateDirectory)/\(file)")
        case .flashTakes(let time): flash.time = time
        case .diskBreaksDown(let breakdown, let steps): disk.breakDown(breakdown, afterSteps: steps)
        case .nextStartBreaksDown(let breakdown, let steps): nextStart = (breakdown, steps)
        case .remove(let key): perform(.server(.removeController(fingerprint: key.fingerprint)))
        case .command, .fetchSamples, .killBeforeStore, .call, .reset: break
        }
    }

    private func press(for duration: Duration) {
        guard release == nil, certain == nil else { return }
        pressesBegun += 1
        release = now + duration
        perform(.appliance(.buttonEdge(down: true, at: now)))
    }

    private func id(_ stream: StreamID) -> ConnectionID { ConnectionID(rawValue: stream.rawValue) }

    private func finishPress() {
        if let time = certain, time <= now {
            certain = nil
            pressesCertain += 1
        }
        guard let time = release, time <= now else { return }
        release = nil
        certain = now + Self.recorded
        perform(.appliance(.buttonEdge(down: false, at: now)))
    }

    private func discover(_ step: (inout DiscoveryShell) -> DiscoveryShell.Outcome) {
        // Names are unique in this house, so the other actions are ignored.
        guard let outcome = discovery.flatMap({ _ in step(&discovery!) }) else { return }
        out += outcome.datagrams
    }

    // MARK: The machine

    private func begin(_ start: Start) {
        let boot = BootID(bytes: (0..<16).map { UInt8(truncatingIfNeeded: start.boot >> ($0 % 8 * 8)) })!
        forgetProcess()
        self.boot = boot
        lastStart = start
        switch start.cause {
        case .powerOn:
            disk.boot()
            relayOn = false
            measured = [:]
            lastStep = .zero
            if mirrorDoubtedUntil.nanoseconds < .max { mirrorDoubtedUntil = .zero }
        case .processStart: disk.startProcess()
        }
        if let (breakdown, steps) = nextStart { disk.breakDown(breakdown, afterSteps: steps) }
        nextStart = nil
        guard beginLife(start, boot) else { return }
        announce(start)
        perform(.started)
    }

    /// Restores the storage and creates the machine. Returns false if the disk broke down.
    private func beginLife(_ start: Start, _ boot: BootID) -> Bool {
        starts += 1
        let isMarked = disk.files.contains("\(Self.stateDirectory)/unmirrored")
        guard let memory = restore(start, boot), let storage else { return false }
        if storage.wasReset { resets += 1 }
        truth.begin(
            memory, boot: boot, mayForget: isMarked || lastStep < mirrorDoubtedUntil, wasReset: storage.wasReset)
        return true
    }

    /// Continues as a new plug after a factory reset, in the same process.
    private func beginAnew() {
        guard isResetting, let boot, var start = lastStart else { return }
        isResetting = false
        storage?.close()
        (machine, storage, release, certain) = (nil, nil, nil, nil)
        flash.forget()
        start.seed &+= UInt64(starts)
        if beginLife(start, boot) { perform(.started) }
    }

    /// Returns nil if the disk broke down.
    private func restore(_ start: Start, _ boot: BootID) -> PlugMemory? {
        var random = SeededRandom(seed: start.seed)
        let storage: PlugStorage
        do {
            storage = try PlugStorage(
                state: Self.stateDirectory, runtime: Self.runtimeDirectory, boot: boot, limits: limits,
                files: FileStore(calls: disk), random: &random, tell: { _ in })
        } catch {
            preconditionFailure("the storage cannot be opened: \(error)")
        }
        let memory = storage.restore(now: now)
        if breakOff(nil) { return nil }
        self.storage = storage
        let identity = PlugServer.Identity(
            id: storage.id, name: name, capabilities: configuration.capabilities, firmware: "1.0", boot: boot)
        let isUnfinished = storage.isUnfinished
        simulatedKey = SimulatedKey(storage, FileStore(calls: disk), next: keyNumbers + 1)
        keyNumbers = max(keyNumbers, simulatedKey?.number ?? 0)
        if breakOff(nil) { return nil }
        if isOffNetwork, !isUnfinished { truth.lostKey() }
        let access = storage.access(key: key ?? PublicKey(of: address), random: &random)
        if breakOff(nil) { return nil }
        machine = PlugMachine(
            configuration, identity: identity, access: access, memory: memory,
            audit: storage.audit(), seed: random.next())
        return memory
    }

    private func announce(_ start: Start) {
        switch finding {
        case .fixed(let port): out.append(.listen(port: port))
        case .announced:
            let port = 7000 + starts
            out.append(.listen(port: port))
            discovery = DiscoveryShell(seed: start.seed)
            do {
                let service = try ServiceRegistration(
                    name: name, type: Self.serviceType, hostName: "plug-\(number)", port: port)
                discover { $0.handle(.register(Self.registration, service), now: now) }
            } catch {
                preconditionFailure("\(name) is not a valid name: \(error)")
            }
        }
    }

    /// Passes an event to the machine and performs its actions.
    private func perform(_ event: PlugMachine.Event) {
        guard let actions = machine?.handle(event, now: now) else { return }
        queue.perform(actions) { action in
            guard machine != nil else { return }
            perform(action)
            breakOff(action)
        }
        guard !queue.isPerforming, let machine else { return }
        lastStep = now
        storage?.settle(machine.memory, now: now)
        if !breakOff(nil) { beginAnew() }
    }

    /// Writes to flash, and returns the answer for the machine.
    private func write(_ action: PlugMachine.Action) -> PlugMachine.Event? {
        switch action {
        case .persist(let state): storage?.persist(state) == true ? nil : .appliance(.persistFailed)
        case .reserve(let boundary): storage?.reserve(upTo: boundary) == true ? .reserved(boundary) : .reservationFailed
        case .keepSettings(let settings): storage?.keep(settings) == true ? .settingsKept : .settingsNotKept
        case .keepAudit(let audit): storage?.keep(audit) == true ? .auditKept : .auditNotKept
        case .keepCode(let code): storage?.keep(code) == true ? .codeKept : .codeNotKept
        default: preconditionFailure("\(action) is not a deferred write")
        }
    }

    private func finishWrites() {
        while machine != nil {
            let (hasEnded, answer) = flash.end(now: now, perform: write)
            guard hasEnded, !breakOff(nil) else { return }
            flash.begin(now: now, perform: write)
            guard !breakOff(nil) else { return }
            if let answer { perform(answer) }
        }
    }

    private func perform(_ action: PlugMachine.Action) {
        switch action {
        case .part(.setRelay(let on)): relayOn = on
        case .part(.readMeter):
            let deciwatts = relayOn ? load : 0
            measured[now] = deciwatts
            perform(.appliance(.measured(Measurement(deciwatts: deciwatts))))
        case .mirror(let records): storage?.mirror(records)
        case .keep(let controllers):
            let isKeyKept = simulatedKey?.keep(FileStore(calls: disk)) == true
            if !isKeyKept || storage?.keep(controllers) != true { perform(.keepFailed) }
        case .factoryReset(let actor):
            isResetting = storage?.orderReset(by: actor) == true
            perform(isResetting ? .resetStands : .resetFailed)
        case .persist, .reserve, .keepSettings, .keepCode, .keepAudit:
            if flash.isImmediate {
                if let answer = write(action) { perform(answer) }
            } else {
                flash.add(action, now: now)
                flash.begin(now: now, perform: write)
            }
        case .server(.send(let connection, let bytes)): out.append(.write(streams[connection]!, bytes))
        case .server(.close(let connection, _)): out.append(.close(streams[connection]!))
        case .part, .server, .setUpNetwork, .announce: break
        }
    }

    private func forgetProcess() {
        streams = [:]
        (machine, storage, discovery, release, certain) = (nil, nil, nil, nil, nil)
        flash.forget()
        isResetting = false
    }

    /// Returns true, and ends the process, if the disk broke down during the action.
    @discardableResult private func breakOff(_ action: PlugMachine.Action?) -> Bool {
        let breakdown = disk.breakdown
        if case .mirror(let records) = action, let boot {
            if breakdown == nil {
                truth.take(records, boot: boot, isFlashLate: flash.isLate(at: now))
            } else {
                truth.breakOff(records)
            }
        }
        guard let breakdown else { return false }
        forgetProcess()
        switch breakdown {
        case .powerCut: out.append(.breakDown(.powerCut))
        case .kill: out.append(.breakDown(.kill))
        }
        return true
    }
}
