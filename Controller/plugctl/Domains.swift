import ArgumentParser
import DNSWire
import Foundation
import LinuxNetwork
import PlugClient
import Presentation
import UnicastDNS

struct Domains: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "domains",
        abstract: "List the domains that the network recommends.",
        discussion: """
            Asks the name servers of this machine for the lists of RFC 6763, section 11, below the search domains of \
            /etc/resolv.conf and below the addresses of the networks. --domain auto searches the domains that are marked \
            automatic.

            Example: plugctl domains
            """)

    @OptionGroup var network: NetworkOptions
    @Flag(help: "Print a JSON object per domain: domain, purposes.")
    var json = false

    func run() async throws {
        try await network.withClient(connects: false) { client in
            var records: [DomainRecord] = []
            for purpose in [DomainEnumerator.Purpose.automaticBrowsing, .defaultBrowsing, .browsing] {
                for name in try await client.discovery.recommendedDomains(for: purpose) {
                    let domain = "\(name)"
                    if let index = records.firstIndex(where: { $0.domain == domain }) {
                        records[index].purposes.append(purpose.word)
                    } else {
                        records.append(DomainRecord(domain: domain, purposes: [purpose.word]))
                    }
                }
            }
            if records.isEmpty { printError("the network recommends no domain") }
            for record in records {
                if json { Output.json(record) } else { Output.safeLine(record.text) }
            }
        }
    }
}

/// A domain in the output of `plugctl domains`.
private struct DomainRecord: Encodable {
    let domain: String
    var purposes: [String]

    var text: String { "\(domain)  \(purposes.joined(separator: ", "))" }
}

extension DomainEnumerator.Purpose {
    fileprivate var word: String {
        switch self {
        case .automaticBrowsing: "automatic"
        case .defaultBrowsing: "default"
        case .browsing: "browsing"
        }
    }
}
