import ArgumentParser
import Dashboard
import DurableFiles
import Terminal

struct DaemonPassword: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "password",
        abstract: "Set the dashboard's password.",
        discussion: """
            It is asked for at a terminal, else read from standard input, and kept as a hash that only you can read. Who is logged \
            in has to log in again. A daemon that runs takes it at once. For scripts and Prometheus it is the password of Basic \
            authorization, with any user.

            Examples:
              plugctl daemon password
              pass house/dashboard | plugctl daemon password
              sudo -u smartplug plugctl daemon password --password-file /var/lib/smartplug/dashboard-password
            """)

    @OptionGroup var file: PasswordFileOption
    @Flag(help: "Take it away: then only this machine can open the dashboard.")
    var remove = false

    func run() async throws {
        try await saying {
            do {
                try remove ? takeAway() : set()
            } catch let error as FileError {
                throw Complaint(error)
            }
        }
    }

    private func takeAway() throws {
        Output.line(try file.file.remove() ? "the password is removed" : "there was no password")
    }

    private func set() throws {
        let isTerminal = TerminalDevice.standardInput.isTerminal
        let password = isTerminal ? hidden("New password of the dashboard: ") : readLine()
        guard let password else {
            throw Complaint("no password came in\nhint: type it, or give it on standard input")
        }
        if let fault = PasswordFile.fault(of: password) {
            throw Complaint("\(fault)\nhint: four words that have nothing to do with each other are a good one")
        }
        guard !isTerminal || hidden("The same again: ") == password else {
            throw Complaint("the two differ\nhint: try again")
        }
        try file.file.set(password)
        Output.line("the password is set")
    }

    private func hidden(_ question: String) -> String? {
        TerminalDevice.standardInput.readHiddenLine(question, on: .standardError)
    }
}
