import ArgumentParser
import Dashboard
import LinuxSystem

/// The addresses of the dashboard and its access control.
struct DashboardOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The address and port of the dashboard; port 0 selects a free port. Addresses other than loopback require a password \
            (plugctl daemon password) and use TLS. (default: 127.0.0.1:7580)
            """, valueName: "address:port"))
    var listen: String?
    @Flag(help: "Do not serve the dashboard; serve only the local socket for commands.")
    var noDashboard = false
    @Option(help: "An additional host name under which browsers reach this machine; may be given several times.")
    var hostName: [String] = []
    @Option(
        help: ArgumentHelp(
            """
            The external address of the dashboard behind a reverse proxy on this machine, such as https://plugs.example.org:8443; \
            may be given several times. Requires a password.
            """, valueName: "url"))
    var externalURL: [String] = []
    @Option(
        help: """
            The TLS certificate chain (PEM). (default: if TLS is required, a self-signed certificate that the daemon creates and \
            keeps; browsers warn about it once)
            """,
        completion: .file())
    var tlsCertificate: String?
    @Option(help: "The certificate's private key (PEM).", completion: .file())
    var tlsKey: String?
    @Option(
        help: """
            The local socket through which commands reach the daemon. (default: $SMARTPLUG_DAEMON, else daemon.socket in \
            $RUNTIME_DIRECTORY, else smartplug/daemon.socket in $XDG_RUNTIME_DIR or ~/.local/state)
            """,
        completion: .file())
    var socket: String?
    @Flag(
        help: """
            Let owners of the dashboard edit rule files. They may not add actions that run a program or call a URL or a script.
            """)
    var editRules = false
    @Option(
        help: ArgumentHelp(
            """
            A push service of your own, such as https://push.example.org:8443; may be given several times. Other push services need \
            a public name and port 443.
            """, valueName: "url"))
    var pushService: [String] = []
    @Option(
        help: "The authorities (PEM) that certify the push services of --push-service. (default: the system's)",
        completion: .file())
    var pushAuthority: String?
    @Option(
        help: ArgumentHelp(
            """
            A mailto: or https: address at which the operator of a push service reaches you; it is sent with each notification. \
            (default: https://smartplug.invalid)
            """, valueName: "address"))
    var pushContact: String?
    @OptionGroup var password: PasswordFileOption

    func validate() throws {
        if listen != nil, noDashboard { throw ValidationError("--listen and --no-dashboard cannot be combined") }
        if (tlsCertificate == nil) != (tlsKey == nil) {
            throw ValidationError("--tls-certificate and --tls-key must be used together")
        }
        if let listen, DashboardSettings.Place(listen) == nil {
            throw ValidationError(
                "'\(listen)' is not an address with a port\nhint: write it as 127.0.0.1:7580, [::1]:7580 or 0.0.0.0:7580"
            )
        }
        var push = PushSettings()
        for text in pushService where !push.add(service: text) {
            throw ValidationError(
                "'\(text)' is not a push service\nhint: write https, host and port: https://push.example.org:8443")
        }
        if pushAuthority != nil, pushService.isEmpty {
            throw ValidationError("--push-authority requires --push-service")
        }
        if let pushContact, !PushSettings.isContact(pushContact) {
            throw ValidationError("'\(pushContact)' is not a contact\nhint: write it as mailto:you@example.org")
        }
        for (text, address) in zip(externalURL, externalAddresses) where address == nil {
            throw ValidationError(
                "'\(text)' is not a valid external address\nhint: write scheme, host and port: https://plugs.example.org:8443"
            )
        }
    }

    private var externalAddresses: [ExternalAddress?] { externalURL.map { ExternalAddress($0) } }

    /// Returns the checked settings of the dashboard. Prints an error and exits with status 1 if they are not valid.
    ///
    /// - Parameter state: The directory of the daemon's state; nil if the user named none.
    func settings(state: String?) throws -> DashboardSettings {
        var settings = DashboardSettings()
        if let listen { settings.place = DashboardSettings.Place(listen) }
        if noDashboard { settings.place = nil }
        settings.hostNames = hostName
        settings.external = Set(externalAddresses.compactMap { $0 })
        if let tlsCertificate, let tlsKey {
            settings.certificate = DashboardSettings.Certificate(chain: tlsCertificate, key: tlsKey)
        }
        settings.domain = WideAreaFile.settings()
        settings.socket = DaemonSocket.path(socket)
        settings.password = password.file
        settings.mayEditRules = editRules
        for text in pushService { _ = settings.push.add(service: text) }
        settings.push.authority = pushAuthority
        if let pushContact { settings.push.contact = pushContact }
        if let state { settings.directory = state + "/dashboard" }
        do throws(DashboardFault) {
            try settings.check()
        } catch {
            printError("\(error)")
            throw ExitCode.failure
        }
        return settings
    }
}

/// The file with the hashes of the dashboard's passwords.
struct PasswordFileOption: ParsableArguments {
    @Option(
        help: """
            The file with the hashes of the dashboard's passwords. (default: dashboard-password in $STATE_DIRECTORY, else in \
            ~/.config/smartplug)
            """,
        completion: .file())
    var passwordFile: String?

    var file: PasswordFile { PasswordFile(passwordFile ?? PasswordFile.usualPath) }
}
