import ArgumentParser
import LinuxNetwork
import PlugClient
import Presentation
import ServiceDiscovery

struct Browse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse",
        abstract: "Show plugs as they appear, change and disappear on the network.",
        discussion: """
            The list is live: new lines are printed until the command is interrupted.

            With --domain it also shows the plugs that are registered in this domain, and asks again when an answer expires. A \
            plug that is on the network and in the domain is shown once.

            With --packets it shows multicast DNS packets of all services and hosts instead, with their contents. "cache flush" marks a \
            record that replaces earlier ones, "QU" a question that requests a unicast answer. Nothing is sent. \
            Unicast answers to other hosts are not received.

            Examples:
              plugctl browse
              plugctl browse --json --for 3s
              plugctl browse --domain example.org
              plugctl browse --packets --interface eth0
              plugctl browse --packets --write house.pcap --for 1m
            """)

    @OptionGroup var network: NetworkOptions
    @Flag(
        help: """
            One JSON object per line: event, name, type, domain, interface, txt. With --packets: at, interface, from, port, to, \
            bytes, kind (query, probe, response, malformed), truncated, questions, records, more, fault.
            """)
    var json = false
    @Option(name: .customLong("for"), parsing: .unconditional, help: "Stop after this long, such as 5s.")
    var limit: TimeSpan?
    @Flag(help: "Show multicast DNS packets.")
    var packets = false
    @Option(
        help:
            "With --packets: also write the packets to this file (pcap, for Wireshark). An existing file is replaced.",
        completion: .file(extensions: ["pcap"]))
    var write: String?

    func validate() throws {
        guard write == nil || packets else { throw ValidationError("--write requires --packets") }
    }

    func run() async throws {
        try network.checkInterfaces()
        if packets { return try await showPackets() }
        let json = json
        try await network.withClient(connects: false, endsItself: false) { client in
            try await untilInterrupted(for: limit) {
                for await event in client.browse() {
                    let record = BrowseRecord(event.change, interfaceName: interfaceName)
                    guard json ? Output.json(record) : Output.safeLine(record.text) else { return }
                }
            }
        }
    }

    private func showPackets() async throws {
        let json = json
        try await saying {
            let file = try write.map(TraceFile.init)
            let listener = PacketListener(interfaces: network.filter, logger: network.logger)
            try await untilInterrupted(for: limit) {
                let explaining = Task {
                    try await Task.sleep(for: .seconds(1))
                    guard await listener.places.isEmpty else { return }
                    printError("no usable network interface yet; waiting for one\nhint: `plugctl doctor` shows why")
                }
                defer { explaining.cancel() }
                for await packet in listener.packets {
                    try file?.add(packet)
                    let record = PacketRecord(packet, interfaceName: interfaceName)
                    let isRead = json ? Output.json(record) : record.lines.allSatisfy { Output.safeLine($0) }
                    guard isRead else { return }
                }
            }
            await listener.stop()
            let dropped = await listener.dropped
            if dropped > 0 {
                printError("\(dropped) packets were dropped because they arrived faster than they could be printed")
            }
        }
    }
}
