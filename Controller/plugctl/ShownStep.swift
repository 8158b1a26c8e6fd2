import ArgumentParser
import HouseCalendar

/// The step of an energy table, as requested by the user.
enum ShownStep: String, CaseIterable, ExpressibleByArgument {
    case hour
    case day
    case month

    var step: CalendarStep {
        switch self {
        case .hour: .hour
        case .day: .day
        case .month: .month
        }
    }
}

extension CalendarStep {
    static func fitting(seconds: Int) -> CalendarStep {
        seconds <= 2 * 86_400 ? .hour : seconds <= 92 * 86_400 ? .day : .month
    }
}
