/// Lists the figures that each group must have, so that a missing figure is an error. A number in a name, such as a
/// count that the short form reduces, is written as #. A figure with several references is listed once.
enum ExpectedFigures {
    /// - Throws: ``BenchmarkError`` if an expected figure is missing, if a value or a reference is not finite, or if a
    ///   figure that is not in `zeros` has the value or the reference zero.
    static func check(_ figures: [Figure], of group: String) throws {
        let measured = Set(figures.map { withoutNumbers($0.name) })
        if let missing = (all[group] ?? []).first(where: { !measured.contains($0) }) {
            throw BenchmarkError("\(group): \"\(missing)\" was not measured")
        }
        for figure in figures {
            let values = [figure.value] + (figure.reference.map { [$0.value] } ?? [])
            guard values.allSatisfy(\.isFinite) else {
                throw BenchmarkError("\(group): \"\(figure.name)\" is not finite")
            }
            let mayBeZero = zeros.contains(withoutNumbers(figure.name))
            guard mayBeZero || values.allSatisfy({ $0 != 0 }) else {
                throw BenchmarkError("\(group): \"\(figure.name)\" or its reference is zero")
            }
        }
    }

    /// The figures whose value and reference may be zero.
    private static let zeros: Set = [
        "idle messages in # s after announcing", "all idle packets in that time",
        "memory after # events, # subscribers, one stalled", "the same, peak memory above that of # days",
        "the same, more than after the first second", "memory of the plug, more after all these floods",
        "# events a second through a script for # s: not in its state at the end",
        "the same, missing at the subscriber", "the same, under a wrong number",
        "the same, came twice and known by its number", "the same, by an answer to a request",
    ]

    /// The expected figures by group. Those of recordings are not listed, because recordings are not part of the
    /// repository.
    private static let all: [String: [String]] = [
        "wire": [
            "event, recorded to for await",
            "command, sent to answered",
            "events through one session",
            "chunk, a sample, noisy models",
            "chunk, encode, noisy models",
            "chunk, decode, noisy models",
            "memory after # events, # subscribers, one stalled",
        ],
        "security": [
            "handshake and first snapshot",
            "command in the machine, role checked",
            "command, # strangers a second",
            "strangers that came",
            "owner's command, p#, a viewer floods",
            "memory of the plug, more after all these floods",
            "press to a rule's command, a paired plug floods",
            "command of the daemon, # false announcements a second",
            "false announcements that came",
        ],
        "mdns": [
            "decode a response of # records",
            "encode a response of # records",
            "# services, ours, resolved, cold",
            "packets for that",
            "# services, Avahi's, resolved, cold",
            "# services registered, first to last announced",
            "register to first announcement",
            "memory that # services add",
            "memory of a responder without them",
            "idle messages in # s after announcing",
            "all idle packets in that time",
        ],
        "addressing": [
            "link-up to # address, shortest of #",
            "link-up to # address, mean of #",
            "link-up to # address, longest of #",
            "link-up to DHCPACK",
            "link-up to DHCPACK, stored lease",
            "DHCPACK to usable, conflicts looked for",
            "link-up to announced by IPv#, without DHCP",
            "link-up to controller connected by IPv#",
            "link-up to announced by IPv#",
            "resident memory of the whole plugd",
            "the same, what is shared divided",
        ],
        "hardware": [
            "simulated: first start to button",
            "simulated: start to button, p# of #",
            "guest: kernel to button",
            "guest: first start to button",
            "guest: start to button, p# of #",
            "simulated: release to relay, p# of #",
            "simulated: release to relay, max of #",
            "simulated: release to event heard, p# of #",
            "simulated: release to event heard, max of #",
            "simulated: metering at # s, context switches",
            "simulated: metering at # s, of one core",
            "simulated: metering at # Hz, context switches",
            "simulated: metering at # Hz, of one core",
            "guest: release to relay, p# of #",
            "guest: release to relay, max of #",
            "guest: release to event heard, p# of #",
            "guest: release to event heard, max of #",
            "guest: release to relay, debounced, p# of #",
            "guest: release to relay, debounced, max of #",
            "guest: metering at # s, context switches",
            "guest: metering at # s, of one core",
            "guest: metering at # Hz, context switches",
            "guest: metering at # Hz, of one core",
        ],
        "history": [
            "on disk, a sample, noisy models, W V A",
            "ingest, processor time a sample",
            "# plugs, of one core's second",
            "a year of one plug, first call",
            "a day of one plug, raw, first call",
            "hourly mean and maximum, # x # days, raw",
            "# samples to SVG",
            "# samples to text",
        ],
        "dashboard": [
            "first useful paint, # plugs",
            "bytes of the page",
            "plug's event to changed page, # plugs, median",
            "the same, of a hundred the ninety-fifth",
            "memory that # readers add, of whom # never read",
            "event to a reader among them, median",
            "daemon, of one core",
            "  without dashboard",
            "  without dashboard and history",
            "  with a page that is open",
            "daemon, memory of its own",
            "  without plugs",
            "daemon, resident with its program's pages",
        ],
        "homekit": [
            "On, sent to answered", "On, until the accessory answers", "press, recorded to event",
            "connection to first read, what the accessory takes", "On, # strangers a second",
            "plugd with HomeKit and # sessions, anonymous memory beyond one without",
        ],
        "broker": [
            "event at the plug to a subscriber, p# of #",
            "own stream, p# of #",
            "mosquitto's round trip, p# of #",
            "# plugs' states a second, processor",
            "# plugs' states a second that the broker got",
            "the same of # plugs, of one core",
            "plugd at a broker, anonymous memory beyond one without",
            "the same, all of it",
        ],
        "fleet": [
            "# samples to PostgreSQL, with chunks and roll-ups, a second",
            "the same, absolute",
            "# houses x # plugs, # kills: events",
            "the same, missing at the subscriber",
            "the same, under a wrong number",
            "the same, came twice and known by its number",
            "the same, by an answer to a request",
            "event to the subscriber, median",
            "event to the subscriber, longest",
            "longest time without an event",
            "all houses, of one core",
            "all houses, memory",
            "three brokers, of one core",
            "the largest broker, memory",
        ],
        "rules": [
            "readings without an edge",
            "a press, its firing and its command",
            "two crossings, a firing and its command",
            "firings",
            "backtest, # days x # plugs, # rules",
            "the same, samples per second",
            "the same, firings",
            "the same, peak memory",
            "the same, peak memory above that of # days",
            "event to command sent, stored and synchronised first, p# of #",
            "event to command sent, stored and synchronised first, max of #",
            "the same by a script, p# of #",
            "the same by a script, max of #",
            "press at the plug to command sent, the same, p# of #",
            "press at the plug to command sent, the same, max of #",
            "press at the plug to command sent, nothing stored, p# of #",
            "press at the plug to command sent, nothing stored, max of #",
            "a script's idle process, anonymous memory",
            "# events a second through a script for # s: not in its state at the end",
            "the same, its anonymous memory",
            "the same, more than after the first second",
            "the same, from the event to its answer's being taken, p# of #",
            "the same, from the event to its answer's being taken, max of #",
            "press to a rule's command, unread pipe",
            "press to a rule's command, stalled disk",
            "press to a rule's command, silent browsers",
            "its #th percentile",
        ],
    ]

    static func withoutNumbers(_ name: String) -> String {
        // A comma or a point within a number is part of the number.
        name.replacing(/[0-9]+(?:[.,][0-9]+)*/, with: "#")
    }
}
