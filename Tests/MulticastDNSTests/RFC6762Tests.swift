import DNSWire
import MulticastDNS
import Testing

struct RFC6762Tests {
    @Test("The constants have the values of RFC 6762")
    func constants() {
        #expect(RFC6762.port == 5353)
        #expect(RFC6762.groupV4.description == "224.0.0.251")
        #expect(RFC6762.groupV6.description == "ff02::fb")
        #expect(RFC6762.hopLimit == 255)
        #expect(RFC6762.packetLimit == 9000)
        #expect(RFC6762.hostTimeToLive == 120)
        #expect(RFC6762.otherTimeToLive == 4500)
        #expect(RFC6762.probeWait == .zero ... .milliseconds(250))
        #expect(RFC6762.probeInterval == .milliseconds(250))
        #expect(RFC6762.probeCount == 3)
        #expect(RFC6762.tiebreakWait == .seconds(1))
        #expect(RFC6762.conflictLimit == 15)
        #expect(RFC6762.conflictWindow == .seconds(10))
        #expect(RFC6762.conflictPause == .seconds(5))
        #expect(RFC6762.announcementInterval == .seconds(1))
        #expect((2...8).contains(RFC6762.announcementCount))
        #expect(RFC6762.sharedAnswerDelay == .milliseconds(20) ... .milliseconds(120))
        #expect(RFC6762.truncatedAnswerDelay == .milliseconds(400) ... .milliseconds(500))
        #expect(RFC6762.multicastInterval == .seconds(1))
        #expect(RFC6762.defenceInterval == .milliseconds(250))
        #expect(RFC6762.legacyTimeToLive == 10)
        #expect(RFC6762.firstQueryDelay == .milliseconds(20) ... .milliseconds(120))
        #expect(RFC6762.queryInterval == .seconds(1))
        #expect(RFC6762.queryIntervalLimit == .seconds(3600))
        #expect(RFC6762.refreshPercentages == [80, 85, 90, 95])
        #expect(RFC6762.refreshJitter == 0...0.02)
        #expect(RFC6762.duplicateQuestionWindow == 0.5)
        #expect(RFC6762.unansweredLimit == 4)
        #expect(RFC6762.updateLimit == 10)
        #expect(RFC6762.updateWindow == .seconds(60))
        #expect(RFC6762.goodbyeGrace == .seconds(1))
        #expect(RFC6762.flushGrace == .seconds(1))
        #expect(RFC6762.reconfirmation == .seconds(10))
    }
}
