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
        "the same, growth after the first second", "memory of the plug, growth over all floods",
        "# events a second through a script for # s: missing in its state at the end",
        "events lost in these moves", "events repeated in these moves", "idle packets of a registered, mapped plug",
        "the same, missing at the subscriber", "the same, with a wrong number",
        "the same, duplicates known by their numbers", "the same, received in answers",
        "plugd with Matter, one fabric and one subscription, additional wake-ups",
    ]

    /// The expected figures by group. Figures that need recordings are not listed, because recordings are not part
    /// of the repository.
    private static let all: [String: [String]] = [
        "wire": [
            "event, recorded to for await",
            "command, sent to answered",
            "events through one session",
            "chunk, a sample, noisy models",
            "chunk, encode, noisy models",
            "chunk, decode, noisy models",
            "memory after # events, # subscribers, one stalled",
            "command, thousand instructions of the plug",
            "event, thousand instructions of the plug",
            "reading, thousand instructions of the rules' process",
        ],
        "security": [
            "handshake and first snapshot",
            "command in the machine, role checked",
            "command, # strangers a second",
            "rate of strangers",
            "owner's command, p#, a viewer floods",
            "memory of the plug, growth over all floods",
            "press to a rule's command, a paired plug floods",
            "command of the daemon, # false announcements a second",
            "rate of false announcements",
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
            "DHCPACK to usable, with conflict checks",
            "link-up to announced by IPv#, without DHCP",
            "link-up to controller connected by IPv#",
            "link-up to announced by IPv#",
            "resident memory of the whole plugd",
            "the same, shared pages divided",
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
            "# plugs, time to store a second",
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
            "the same, p#",
            "memory that # readers add, of whom # never read",
            "event to a reader among them, median",
            "daemon, of one core",
            "  without dashboard",
            "  without dashboard and history",
            "  with an open page",
            "daemon, anonymous memory",
            "  without plugs",
            "daemon, resident memory",
        ],
        "homekit": [
            "On, sent to answered", "On, until the accessory answers", "press, recorded to event",
            "connection to first read, time of the accessory", "On, # strangers a second",
            "plugd with HomeKit and # sessions, additional anonymous memory",
        ],
        "matter": [
            "On, sent to answered", "press, recorded to event", "On, # PASE messages per second",
            "press, # PASE messages per second", "On, # Sigma# messages per second",
            "press, # Sigma# messages per second",
            "plugd with Matter, one fabric and one subscription, additional anonymous memory",
            "plugd with Matter, one fabric and one subscription, additional wake-ups",
            "commissioning, processor time of the plug at # GHz",
        ],
        "sleep-proxy": [
            "registration to answering, p# of #",
            "SYN to magic packet, p# of #",
            "# sleepers x # services, additional anonymous memory",
            "the same, total",
            "# unrelated packets per second, additional, of one core",
            "plugd in that time, of one core",
            "rate of unrelated packets",
        ],
        "wide-area": [
            "registration, first packet to last answer",
            "push, change to line, p# of #",
            "external address, change to record, p# of #",
            "coming home, event after the move, p# of #",
            "leaving, event after the move, p# of #",
            "events lost in these moves",
            "events repeated in these moves",
            "idle packets of a registered, mapped plug",
        ],
        "image": [
            "start of the kernel to the first program", "from there to systemd",
            "from the first program to a working button",
        ],
        "cli": [
            "on", "off", "toggle", "toggle, repeated at once", "dim", "info", "house", "history", "chart",
            "chart --energy", "rules state", "rules explain", "toggle --direct",
            "toggle --direct, repeated at once", "house --direct",
        ],
        "broker": [
            "event at the plug to a subscriber, p# of #",
            "own stream, p# of #",
            "mosquitto's round trip, p# of #",
            "# plugs' states a second, processor",
            "# plugs' states a second that reached the broker",
            "the same of # plugs, of one core",
            "plugd at a broker, additional anonymous memory",
            "the same, total",
        ],
        "fleet": [
            "samples to PostgreSQL per second, with chunks and roll-ups, of #",
            "the same, absolute",
            "# houses x # plugs, # kills: events",
            "the same, missing at the subscriber",
            "the same, with a wrong number",
            "the same, duplicates known by their numbers",
            "the same, received in answers",
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
            "# events a second through a script for # s: missing in its state at the end",
            "the same, its anonymous memory",
            "the same, growth after the first second",
            "the same, from the event to its handled answer, p# of #",
            "the same, from the event to its handled answer, max of #",
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
