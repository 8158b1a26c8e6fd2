import JSONText
import Metering
import PlugModel
import ProtocolCore
import Testing

@testable import PlugTopics

@Suite struct TopicTests {
    let tree = try! TopicTree(prefix: "smartplug", house: "home")
    var house: BrokerMachine.Configuration { BrokerMachine.Configuration(tree: tree, discovery: nil) }
    let plug = PlugID(rawValue: "0123456789ab")!

    @Test("Topics contain the plug's id") func topicsHaveThePlugsIDAndNoName() {
        #expect(tree.topic(.state, of: plug) == "smartplug/home/0123456789ab/state")
        #expect(tree.events(of: plug) == "smartplug/home/0123456789ab/event")
        #expect(tree.requests == ["smartplug/home/+/set", "smartplug/home/+/replay", "smartplug/home/refresh"])
        #expect(tree.request(in: "smartplug/home/0123456789ab/set")?.request == .set)
    }

    @Test(
        "Other topics are not requests",
        arguments: [
            "smartplug/home/0123456789ab/state", "smartplug/home/0123456789AB/set", "smartplug/home//set",
            "smartplug/home/0123456789ab/set/x", "smartplug/other/0123456789ab/set", "",
        ])
    func otherTopicsAreNoRequests(_ topic: String) { #expect(tree.request(in: topic) == nil) }

    @Test(
        "A prefix or house with reserved characters is rejected",
        arguments: [
            ("a/b+", "x"), ("", "x"), ("a//b", "x"), ("/a", "x"), ("a", "x/y"), ("a", "#"), ("a", ""), ("ä", "x"),
        ])
    func whatMeansSomethingInATopicIsRefused(_ prefix: String, _ house: String) {
        #expect(throws: TopicError.self) { try TopicTree(prefix: prefix, house: house) }
    }

    @Test("Only topics below the answer topic are accepted as response topics") func answersStayBelowTheirTopic() {
        #expect(tree.isAnswer("smartplug/answers/mine/1"))
        for topic in ["smartplug/answers/", "smartplug/home/0123456789ab/set", "smartplug/answers/#", "other", ""] {
            #expect(!tree.isAnswer(topic))
        }
    }

    @Test("A state has the JSON keys of `plugctl watch`") func aStateHasTheKeysOfTheWatchLines() {
        let reading = Reading(
            time: .zero, deciwatts: 123, decivolts: 2301, milliamperes: 60, milliwattHours: 1500)
        let state = PlugState(relayOn: true, level: DimLevel(percent: 40), reading: reading, tripped: .overPower)
        #expect(
            JSONObject(state, at: "T").text
                == #"{"on":true,"level":40,"tripped":"overPower","at":"T","activePower":12.3,"activeEnergy":1.5,"voltageRMS":230.1,"currentRMS":0.06}"#
        )
    }

    @Test("Valid commands are parsed") func commandsAreRead() throws {
        func read(_ text: String) throws -> TopicCommand { try TopicCommand(Array(text.utf8)) }
        #expect(try read("ON").deed == .command(.setRelay(on: true, autoOff: nil)))
        #expect(try read(#"{"on":true,"autoOff":60}"#).deed == .command(.setRelay(on: true, autoOff: .seconds(60))))
        let dim = try read(#"{"level":12.5,"over":2,"until":1764000000.5}"#)
        #expect(dim.deed == .command(.setLevel(DimLevel(percent: 12.5), transition: .seconds(2))))
        #expect(dim.until == 1_764_000_000.5)
        #expect(try read(#"{"identify":true}"#).deed == .command(.identify))
        #expect(try read(#"{"update":true}"#).deed == .update)
        #expect(try TopicReplay(Array(#"{"after":41}"#.utf8)).after == 41)
    }

    @Test(
        "Invalid commands are rejected",
        arguments: [
            "", "{}", "ein", "[]", #"{"on":1}"#, #"{"on":true,"level":3}"#, #"{"level":101}"#, #"{"level":-1}"#,
            #"{"on":false,"autoOff":60}"#, #"{"on":true,"autoOff":0}"#, #"{"on":true,"form":1}"#,
            #"{"identify":false}"#, #"{"update":false}"#, #"{"update":true,"on":true}"#,
            #"{"level":3,"over":3601}"#, #"{"on":true,"until":-1}"#,
        ])
    func otherMessagesAreNoCommands(_ text: String) {
        #expect(throws: TopicError.self) { try TopicCommand(Array(text.utf8)) }
    }

    @Test("A replay without a valid number is rejected") func aReplayBeginsAtANumber() {
        for text in ["{}", #"{"after":-1}"#, #"{"after":1.5}"#, #"{"after":1e300}"#, #"{"after":"1"}"#] {
            #expect(throws: TopicError.self) { try TopicReplay(Array(text.utf8)) }
        }
    }

    @Test("The discovery message lists only the capabilities of the plug")
    func discoveryNamesOnlyWhatAPlugHas() throws {
        let discovery = try HomeAssistantDiscovery()
        #expect(discovery.topic(of: plug) == "homeassistant/device/smartplug_0123456789ab/config")
        let lamp = PlugPortrait(name: "Lamp/+# 💡", firmware: "1.0", capabilities: [.relay, .dimmer, .button])
        let text = discovery.message(of: plug, lamp, measured: [], isUpdatable: false, in: house)
        #expect(text.contains("\"p\":\"light\"") && text.contains("\"p\":\"event\"") && text.contains("Lamp/+# 💡"))
        #expect(!text.contains("\"dev_cla\":\"energy\"") && !text.contains("\"p\":\"switch\""))
        let meter = PlugPortrait(name: "TV", firmware: "1.0", capabilities: [.relay, .meter])
        let other = discovery.message(
            of: plug, meter, measured: [.activePower, .activeEnergy], isUpdatable: false, in: house)
        let (whole, one) = (
            #"{"t":"smartplug/home/availability"}"#, #"{"t":"smartplug/home/0123456789ab/availability"}"#
        )
        #expect(text.contains("\"avty\":[\(whole),\(one)]"))
        // A plug with its own connection depends only on its own availability.
        let alone = BrokerMachine.Configuration(tree: house.tree, speaker: .plug(plug), discovery: discovery)
        let own = discovery.message(of: plug, lamp, measured: [], isUpdatable: false, in: alone)
        #expect(own.contains("\"avty\":[\(one)]"))
        #expect(other.contains("total_increasing") && !other.contains("\"p\":\"event\"") && !other.contains("voltage"))
    }
}
