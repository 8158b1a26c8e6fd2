import Doctor
import Presentation
import Testing

/// The exact output of `plugctl doctor`.
@Suite struct FindingTests {
    private let problem = Finding(
        .problem, .interface, "eth0", "multicast is disabled", why: "its multicast flag is off",
        next: "ip link set eth0 multicast on")
    private let fine = Finding(.ok, .clock, "the clock shows 2026-11-21T09:01:23.456Z and is synchronized")

    @Test("The lines of a finding for a user") func forAPerson() {
        #expect(
            FindingRecord(problem).lines == [
                "problem  interface eth0: multicast is disabled", "         why:  its multicast flag is off",
                "         hint: ip link set eth0 multicast on",
            ])
        #expect(
            FindingRecord(fine).lines == [
                "ok       clock: the clock shows 2026-11-21T09:01:23.456Z and is synchronized"
            ])
        #expect(
            FindingRecord(Finding(.warning, .service, "no answer")).lines == ["warning  service: no answer"])
    }

    @Test("The JSON line of a finding") func forAScript() {
        #expect(
            jsonLine(FindingRecord(problem))
                == #"{"about":"eth0","level":"problem","next":"ip link set eth0 multicast on","subject":"interface","#
                + #""what":"multicast is disabled","why":"its multicast flag is off"}"#)
        #expect(
            jsonLine(FindingRecord(fine))
                == #"{"about":"","level":"ok","subject":"clock","#
                + #""what":"the clock shows 2026-11-21T09:01:23.456Z and is synchronized"}"#)
    }
}
