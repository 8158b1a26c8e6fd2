import AddressConfiguration
import DNSWire
import PlugModel
import ProtocolCore
import WiFi

extension FuzzTarget {
    /// Sends the messages of wpa_supplicant to the machine that joins networks; an owner and a guest of the plug's own network
    /// act between them. The machine sends one command at a time, and its page contains no foreign elements. The input is
    /// valid if the plug has joined a network.
    static let wiFi = FuzzTarget(
        name: "wifi",
        seeds: { RadioLink.seeds },
        check: { bytes in
            var link = RadioLink()
            for datagram in datagrams(in: bytes).prefix(64) { try link.receive(datagram) }
            return link.isJoined
        })

    /// Sends the bytes as a form, a DHCP message and a question of a guest in the plug's own network. Answers have the
    /// plug's address as their source, and addresses of its network. The input is valid if a form was accepted.
    static let guest = FuzzTarget(
        name: "wifi-guest",
        seeds: {
            [
                Array("network=686f6d65&password=correct+horse&country=DE".utf8),
                Array("name=caf%C3%A9&password=&address=192.168.1.20/24&router=192.168.1.1&name_server=9.9.9.9".utf8),
            ]
        },
        check: { bytes in
            let own = IPv4Address(192, 168, 73, 1)
            _ = CaptiveNames.answer(bytes, address: own)
            if let message = try? DHCPMessage(decoding: bytes) {
                var leases = AccessPointLeases(address: own)
                for now in [Instant.zero, Instant.zero + .seconds(1000)] {
                    guard let answer = leases.answer(message, now: now) else { continue }
                    try require(
                        answer.yourAddress == .any || answer.yourAddress.rawValue >> 8 == own.rawValue >> 8,
                        "a guest got the foreign address \(answer.yourAddress)")
                    try require((try? DHCPMessage(decoding: answer.encoded)) != nil, "an answer cannot be decoded")
                }
            }
            guard let form = try? SetupForm(decoding: bytes) else { return false }
            var networks = WiFiNetworks(country: form.country)
            networks.add(form.network, address: form.address)
            try require(WiFiNetworks(line: networks.line) == networks, "\(networks) cannot be read again")
            return true
        })
}

/// A machine and the messages of its wpa_supplicant, in virtual time.
private struct RadioLink {
    /// A start without networks, a setup, and the first network; and a start with a network that is joined already.
    static let seeds: [[UInt8]] = {
        let ok = Array("OK\n".utf8)
        func text(_ text: String) -> [UInt8] { Array(text.utf8) }
        let connected = text("<3>CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:01:00 completed [id=0 id_str=]")
        let results = text(
            "bssid / frequency / signal level / flags / ssid\n02:00:00:00:01:00\t2412\t-50\t[WPA2-PSK-CCMP][ESS]\t<b>home\n"
        )
        let start = [ok, text("network id / ssid\n"), text("wpa_state=INACTIVE\n"), ok]
        // An empty datagram passes time.
        let setup =
            [[], ok, ok, text("<3>CTRL-EVENT-SCAN-RESULTS "), results, ok, text("0\n")]
            + Array(repeating: ok, count: 9) + [text("<3>AP-ENABLED "), text("!join"), []]
        let trial =
            [ok, text("0\n")] + Array(repeating: ok, count: 10) + [connected, ok, text("?"), text("RSSI=-50\n")]
        let known = [
            ok, text("network id / ssid\n0\thome\tany\n"),
            text("wpa_state=COMPLETED\nssid=home\nbssid=02:00:00:00:01:00\n"),
        ]
        return [framed(start + setup + trial), framed(known)]
    }()

    private var machine: WiFiMachine
    private var now = Instant.zero
    private var unanswered = 0
    private var isServing = false

    var isJoined: Bool { if case .joined = machine.report.phase { true } else { false } }

    init() {
        var networks = WiFiNetworks()
        networks.add(WiFiNetwork(WiFiName("home")!, password: WiFiPassword("correct horse")!))
        machine = WiFiMachine(
            label: WiFiMachine.Label(name: WiFiName("Plug-1a2b")!, password: WiFiPassword("abcdefgh2345")!),
            networks: networks)
        try? handle(.started)
    }

    mutating func receive(_ datagram: [UInt8]) throws(FuzzFailure) {
        let network = WiFiNetwork(WiFiName("<b>home")!, password: WiFiPassword("battery staple")!)
        switch String(decoding: datagram, as: UTF8.self) {
        case "":
            if let due = machine.nextDeadline { now = max(now, due) }
            try handle(.deadlineReached)
        case "!join": try handle(.submitted(network, country: WiFiCountry(rawValue: "DE"), address: nil))
        case "!button": try handle(.setupRequested)
        case "!lost": try handle(.socketFailed)
        case "?": try handle(.requested(.ask, 1))
        case let text:
            unanswered -= text.hasPrefix("<") ? 0 : min(unanswered, 1)
            try handle(.received(text))
        }
        guard let html = machine.setupPage?.html() else { return }
        try require(!html.contains("<b>home"), "the name of a network is an element of the page")
    }

    private mutating func handle(_ event: WiFiMachine.Event) throws(FuzzFailure) {
        for action in machine.handle(event, now: now) {
            switch action {
            case .open:
                unanswered = 0
                try handle(.socketOpened(true))
            case .close: unanswered = 0
            case .send(let command):
                unanswered += 1
                try require(unanswered == 1, "\(command) was sent before an answer")
                try require(!command.utf8.contains(10), "a command has two lines")
            case .keep: try handle(.kept(true))
            case .serve(let serves):
                try require(serves != isServing, "serve(\(serves)) twice")
                isServing = serves
            case .address, .answer, .notice: break
            }
        }
    }
}
