import AddressConfiguration
import DNSWire
import Logging
import Testing

@testable import AddressService

@Suite("Address store")
struct AddressStoreTests {
    private let host = MadeUpHost()
    private let lease = RememberedLease(address: IPv4Address(192, 0, 2, 9), server: IPv4Address(192, 0, 2, 1))

    private var store: AddressStore { AddressStore(directory: host.root, logger: Logger(label: "test")) }

    @Test("Stored addresses are read after a restart, separately per interface")
    func addresses() throws {
        #expect(store.remembered(of: "eth0") == RememberedAddresses())
        let wired = RememberedAddresses(linkLocal: IPv4Address(169, 254, 7, 8), lease: lease)
        let wireless = RememberedAddresses(linkLocal: nil, lease: lease)
        let first = store
        first.remember(wired, of: "eth0")
        first.remember(wireless, of: "wlan0")
        first.remember(RememberedAddresses(), of: "usb0")
        #expect(
            host.text("/networks")
                == String(
                    repeating: "eth0:169.254.7.8:192.0.2.9:192.0.2.1 wlan0:-:192.0.2.9:192.0.2.1 usb0:-:-:-\n", count: 2
                ))
        #expect(try host.mode(of: "/networks") == 0o600)
        #expect(store.remembered(of: "eth0") == wired)
        #expect(store.remembered(of: "wlan0") == wireless)
        #expect(store.remembered(of: "usb0") == RememberedAddresses())
    }

    @Test(
        "A damaged file is ignored and rewritten",
        arguments: [
            "eth0:169.254.7.8:-:-\neth0:169.254.7.9:-:-\n", "eth0:169.254.7.8:-:-\n", "",
            "eth0:169.254.7:-:-\neth0:169.254.7:-:-\n",
            "eth0:169.254.7.8\neth0:169.254.7.8\n",
        ])
    func damaged(_ text: String) throws {
        try host.write(text, to: "/networks")
        let store = store
        #expect(store.remembered(of: "eth0") == RememberedAddresses())
        store.remember(RememberedAddresses(linkLocal: IPv4Address(169, 254, 7, 8)), of: "eth0")
        #expect(self.store.remembered(of: "eth0").linkLocal == IPv4Address(169, 254, 7, 8))
    }

    @Test("Beyond the limit, the interfaces that were written first are removed")
    func limit() {
        let store = store
        for number in 0..<17 { store.remember(RememberedAddresses(lease: lease), of: "eth\(number)") }
        #expect(store.remembered(of: "eth0").lease == nil)
        #expect(store.remembered(of: "eth1").lease == lease)
        #expect(store.remembered(of: "eth16").lease == lease)
    }

    @Test("The secret is created once and differs between plugs")
    func secret() throws {
        let secret = store.secret
        #expect(secret.count == 16)
        #expect(store.secret == secret)
        #expect(try host.mode(of: "/network-secret") == 0o600)
        let other = MadeUpHost()
        #expect(AddressStore(directory: other.root, logger: Logger(label: "test")).secret != secret)
    }
}

@Suite("Server files")
struct ServerFilesTests {
    private let host = MadeUpHost()

    private func address(_ last: UInt8) -> IPv4Address { IPv4Address(192, 0, 2, last) }

    @Test("Two files that all users can read list the name and time servers until the lease ends")
    func files() throws {
        let files = ServerFiles(directory: host.root, logger: Logger(label: "test"))
        files.set(
            NetworkServers(
                nameServers: [address(1), address(2)], timeServers: [address(3)], domain: "example.net",
                searchDomains: []), of: 2)
        #expect(
            host.text("/resolv.conf")
                == "# Written by plugd, from DHCP.\nsearch example.net\nnameserver 192.0.2.1\nnameserver 192.0.2.2\n")
        #expect(host.text("/ntp-servers") == "192.0.2.3\n")
        #expect(try host.mode(of: "/resolv.conf") == 0o644)
        #expect(try host.mode(of: "/ntp-servers") == 0o644)
        files.set(nil, of: 2)
        #expect(host.text("/resolv.conf") == nil)
        #expect(host.text("/ntp-servers") == nil)
    }

    @Test("Without a lease, the files of a killed plugd are removed")
    func leftover() throws {
        try host.write("nameserver 192.0.2.1\n", to: "/resolv.conf")
        ServerFiles(directory: host.root, logger: Logger(label: "test")).set(nil, of: 2)
        #expect(host.text("/resolv.conf") == nil)
    }

    @Test("The servers of several networks are merged without duplicates, up to the limits of resolvers")
    func several() {
        let files = ServerFiles(directory: host.root, logger: Logger(label: "test"))
        files.set(NetworkServers(nameServers: [address(4), address(1), address(5)], searchDomains: ["b.net"]), of: 3)
        files.set(
            NetworkServers(nameServers: [address(1), address(2)], domain: "x.net", searchDomains: ["a.net", "b.net"]),
            of: 2)
        #expect(
            host.text("/resolv.conf")
                == "# Written by plugd, from DHCP.\nsearch a.net b.net\nnameserver 192.0.2.1\nnameserver 192.0.2.2\n"
                + "nameserver 192.0.2.4\n")
        files.set(nil, of: 2)
        #expect(host.text("/resolv.conf")?.contains("192.0.2.5") == true)
    }
}
