import PlugModel
import ProtocolCore

/// The pattern of the plug's status light, a single lamp of one colour. A state that needs an action of the user blinks
/// permanently. A state that is only informative blinks briefly every eight seconds, on top of the light of the relay.
/// In normal operation the light only shows the relay. The first matching pattern of this table applies:
///
/// | pattern | light | changes per second |
/// | --- | --- | --- |
/// | near reset | flickers, 50 ms lit, 50 ms dark | 20, for 5 s |
/// | identify | blinks quickly, 250 ms lit, 250 ms dark | 4, for 10 s |
/// | waiting for the rest time to end | mostly dark: 0.5 s lit, 1.5 s dark | 1 |
/// | pairing | blinks evenly, 0.5 s lit, 0.5 s dark | 2, for 10 min at most |
/// | tripped | mostly lit: 1.5 s lit, 0.5 s dark | 1 |
/// | dark, in the time of day that the settings name | dark; waiting for the rest time is not shown either | 0 |
/// | no address | winks three times every 8 s | 0.75 |
/// | unpaired | winks four times every 8 s | 1 |
/// | link-local | winks twice every 8 s | 0.5 |
/// | alone: no controller is connected | winks once every 8 s | 0.25 |
/// | connected | lit while the relay is on, dark while it is off | 0 |
///
/// A wink is 150 ms of the inverted light, and the winks of a group begin 400 ms apart. While hosts on the internet can
/// connect, the last two patterns have an additional long wink of 750 ms, 250 ms before the short one: 0.5 changes per
/// second if no controller is connected, and 0.25 if one is. A pattern that is not limited
/// in time costs at most one change, and so one wake-up, per second.
public enum LightPattern: Hashable, Sendable {
    /// Patterns with their own rhythm; see the table.
    case nearReset, identify, resting, pairing, tripped
    /// The settings turn the light off at this time of day.
    case dark
    /// No other host can reach the plug. This pattern and the following ones are shown on top of the light of the
    /// relay, which is `lit`; see the table.
    case noAddress(lit: Bool)
    /// No controller is paired.
    case unpaired(lit: Bool)
    /// The plug has only link-local addresses.
    case linkLocal(lit: Bool)
    /// No controller is connected. `isReachable` adds the long wink, also in the next pattern.
    case alone(lit: Bool, isReachable: Bool = false)
    /// At least one controller is connected. Also used while the surroundings are unknown.
    case connected(lit: Bool, isReachable: Bool = false)

    static let winkPeriod = Duration.seconds(8)
    static let wink = Duration.milliseconds(150)
    static let longWink = Duration.milliseconds(750)
    /// The time between the beginnings of two winks.
    static let winkDistance = Duration.milliseconds(400)

    /// The timing of a pattern.
    enum Course: Hashable {
        case steady(lit: Bool)
        /// Alternates between lit and dark, beginning with lit.
        case blinking(lit: Duration, dark: Duration)
        /// The winks are at the end of each period, after a long one if `isLong`. A new pattern therefore begins with the
        /// steady light, which shows a change of the relay at once.
        case winking(Int, isLong: Bool = false, lit: Bool)
    }

    var course: Course {
        switch self {
        case .nearReset: .blinking(lit: .milliseconds(50), dark: .milliseconds(50))
        case .identify: .blinking(lit: .milliseconds(250), dark: .milliseconds(250))
        case .resting: .blinking(lit: .milliseconds(500), dark: .milliseconds(1500))
        case .pairing: .blinking(lit: .milliseconds(500), dark: .milliseconds(500))
        case .tripped: .blinking(lit: .milliseconds(1500), dark: .milliseconds(500))
        case .dark: .steady(lit: false)
        case .noAddress(let lit): .winking(3, lit: lit)
        case .unpaired(let lit): .winking(4, lit: lit)
        case .linkLocal(let lit): .winking(2, lit: lit)
        case .alone(let lit, let isReachable): .winking(1, isLong: isReachable, lit: lit)
        case .connected(let lit, isReachable: true): .winking(0, isLong: true, lit: lit)
        case .connected(let lit, isReachable: false): .steady(lit: lit)
        }
    }
}

extension LightPattern: CustomStringConvertible {
    /// The name that `plugd status` prints.
    public var description: String {
        switch self {
        case .nearReset: "near reset"
        case .identify: "identify"
        case .resting: "resting"
        case .pairing: "pairing"
        case .tripped: "tripped"
        case .dark: "dark"
        case .noAddress: "no address"
        case .unpaired: "unpaired"
        case .linkLocal: "link-local"
        case .alone(_, let isReachable): "no controller" + (isReachable ? ", reachable" : "")
        case .connected(let lit, let isReachable): (lit ? "on" : "off") + (isReachable ? ", reachable" : "")
        }
    }
}

extension LightPattern.Course {
    /// Returns the light at a time since the beginning of the pattern, and the time of the next change, also since the
    /// beginning. This runs after every event, so it calculates in nanoseconds.
    func phase(after elapsed: Duration) -> (lit: Bool, until: Duration?) {
        let elapsed = elapsed.wholeNanoseconds
        switch self {
        case .steady(let lit): return (lit, nil)
        case .blinking(let lit, let dark):
            let (lit, dark) = (lit.wholeNanoseconds, dark.wholeNanoseconds)
            let since = elapsed % (lit + dark)
            let isLit = since < lit
            return (isLit, .nanoseconds(elapsed - since + lit + (isLit ? 0 : dark)))
        case .winking(let count, let isLong, let lit):
            let (wink, distance) = (LightPattern.wink.wholeNanoseconds, LightPattern.winkDistance.wholeNanoseconds)
            let (period, long) = (LightPattern.winkPeriod.wholeNanoseconds, LightPattern.longWink.wholeNanoseconds)
            let end = elapsed - elapsed % period + period
            let longEnd = end - distance * Int64(count)
            if isLong, elapsed < longEnd {
                let start = longEnd - long
                return elapsed < start ? (lit, .nanoseconds(start)) : (!lit, .nanoseconds(longEnd))
            }
            let first = longEnd + distance - wink
            guard elapsed >= first else { return (lit, .nanoseconds(first)) }
            let own = elapsed - (elapsed - first) % distance
            return elapsed - own < wink ? (!lit, .nanoseconds(own + wink)) : (lit, .nanoseconds(own + distance))
        }
    }
}
