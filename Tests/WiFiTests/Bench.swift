import AddressConfiguration
import PlugModel
import ProtocolCore
import Testing

@testable import WiFi

let home = WiFiNetwork(WiFiName("home")!, password: WiFiPassword("correct horse")!)
let office = WiFiNetwork(WiFiName("office")!, password: WiFiPassword("battery staple")!)
let label = WiFiMachine.Label(name: WiFiName("Plug-1a2b")!, password: WiFiPassword("abcdefgh2345")!)

/// A plug with its supplicant in virtual time.
struct Bench {
    private(set) var machine: WiFiMachine
    var supplicant = SimulatedSupplicant()
    private(set) var now = Instant.zero
    /// The networks in flash.
    fileprivate(set) var flash: WiFiNetworks
    var isFlashBroken = false
    /// True while the plug serves the setup page.
    private(set) var serves = false
    /// The address that the owner chose for the network that the plug has joined.
    private(set) var address: FixedAddress?
    private(set) var notices: [WiFiMachine.Notice] = []
    fileprivate(set) var answers: [UInt64: Result<WiFiReport, Refusal>] = [:]
    /// Violations of the rules that hold for every action.
    private(set) var faults: [String] = []
    private var isOpen = false
    private var unanswered = 0
    fileprivate var lastNumber: UInt64 = 0
    private var waiting: [WiFiMachine.Action] = []
    private var isPerforming = false

    init(_ networks: WiFiNetwork...) {
        var known = WiFiNetworks()
        for network in networks.reversed() { known.add(network) }
        flash = known
        machine = WiFiMachine(label: label, networks: known)
    }

    /// Starts plugd again with the networks in flash.
    mutating func restart() {
        machine = WiFiMachine(label: label, networks: flash)
        (serves, isOpen, unanswered) = (false, false, 0)
        handle(.started)
    }

    mutating func handle(_ event: WiFiMachine.Event) { perform(machine.handle(event, now: now)) }

    /// Sends a request and returns its number.
    mutating func ask(_ request: WiFiRequest) -> UInt64 {
        lastNumber += 1
        handle(.requested(request, lastNumber))
        return lastNumber
    }

    /// Passes time.
    mutating func run(_ seconds: Double) {
        let end = now + .milliseconds(Int(seconds * 1000))
        while let next = sooner(machine.nextDeadline, supplicant.nextDeadline), next <= end {
            now = max(now, next)
            for text in supplicant.take(now: now) where isOpen { handle(.received(text)) }
            if let due = machine.nextDeadline, due <= now {
                handle(.deadlineReached)
                if machine.nextDeadline.map({ $0 <= now }) ?? false {
                    faults.append("a deadline stays in the past"); break
                }
            }
        }
        now = end
    }

    /// Performs actions in order, like the shell: those of an event that an action causes come last.
    private mutating func perform(_ actions: [WiFiMachine.Action]) {
        waiting += actions
        guard !isPerforming else { return }
        isPerforming = true
        defer { isPerforming = false }
        while !waiting.isEmpty {
            let action = waiting.removeFirst()
            switch action {
            case .open:
                isOpen = supplicant.isRunning
                unanswered = 0
                handle(.socketOpened(isOpen))
            case .close: (isOpen, unanswered) = (false, 0)
            case .send(let command):
                unanswered += 1
                if unanswered > 1 { faults.append("two commands wait: \(command)") }
                guard supplicant.isRunning else {
                    handle(.socketFailed)
                    continue
                }
                let answer = supplicant.answer(command, now: now)
                unanswered -= 1
                handle(.received(answer))
            case .keep(let networks):
                if !isFlashBroken { flash = networks }
                handle(.kept(!isFlashBroken))
            case .serve(let serves):
                if serves == self.serves { faults.append("serve(\(serves)) twice") }
                self.serves = serves
            case .address(let address): self.address = address
            case .answer(let number, let result):
                if answers.updateValue(result, forKey: number) != nil { faults.append("two answers to \(number)") }
            case .notice(let notice): notices.append(notice)
            }
        }
    }

    var joined: WiFiName? {
        if case .joined(let link) = machine.report.phase { link.name } else { nil }
    }
}

extension SimulatedSupplicant.AccessPoint {
    init(_ network: WiFiNetwork) {
        self.init(name: network.name.description, password: network.password?.secret)
    }
}

extension Bench {
    /// Stores a network in flash, as if an earlier plugd had joined it.
    mutating func know(_ network: WiFiNetwork) { flash.add(network) }

    /// The requests without an answer.
    var unansweredRequests: [UInt64] { (0..<lastNumber).map { $0 + 1 }.filter { answers[$0] == nil } }
}
