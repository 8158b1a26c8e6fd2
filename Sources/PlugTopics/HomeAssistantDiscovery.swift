import JSONText
public import PlugModel

/// The retained message from which Home Assistant creates a device for a plug (its MQTT integration, device-based
/// discovery, since 2024.12): <https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload>.
public struct HomeAssistantDiscovery: Hashable, Sendable {
    /// The discovery prefix of Home Assistant, `homeassistant` by default.
    public let prefix: String

    /// Creates the settings of the discovery.
    ///
    /// - Throws: an error message for the user.
    public init(prefix: String = "homeassistant") throws(TopicError) {
        self.prefix = try TopicTree(prefix: prefix, house: "x").prefix
    }

    /// The topic on which Home Assistant publishes `online` after it has connected and accepts discovery messages.
    public var status: String { "\(prefix)/status" }

    /// Returns the topic of a plug's discovery message.
    public func topic(of plug: PlugID) -> String { "\(prefix)/device/smartplug_\(plug)/config" }

    /// The time in seconds from a command of Home Assistant to its `until`. It exceeds the usual difference between the
    /// clocks in a house. The house limits the lifetime to ``RequestBook/commandAge``.
    private static let commandAge = 30

    func message(
        of plug: PlugID, _ portrait: PlugPortrait, measured: Set<MeasuredQuantity>, isUpdatable: Bool,
        in configuration: BrokerMachine.Configuration
    ) -> String {
        var message = JSONObject()
        var device = JSONObject()
        device.add("ids", ["smartplug_\(plug)"])
        device.add("name", portrait.name)
        device.add("mf", "Smart Plug")
        device.add("mdl", portrait.capabilities.contains(.dimmer) ? "Dimmer plug" : "Plug")
        device.add("sw", portrait.firmware)
        device.add("sn", plug.rawValue)
        message.add("dev", device)
        var origin = JSONObject()
        origin.add("name", "Smart Plug")
        message.add("o", origin)
        message.add("avty", configuration.availability(of: plug).map(Self.availability))
        message.add("avty_mode", "all")
        message.add("qos", 1)
        var components = JSONObject()
        for (key, component) in self.components(of: plug, portrait, measured, in: configuration.tree) {
            components.add(key, component)
        }
        if isUpdatable { components.add("update", update(of: plug, in: configuration)) }
        message.add("cmps", components)
        return message.text
    }

    private static func availability(_ topic: String) -> JSONObject {
        var entry = JSONObject()
        entry.add("t", topic)
        return entry
    }

    private func components(
        of plug: PlugID, _ portrait: PlugPortrait, _ measured: Set<MeasuredQuantity>, in tree: TopicTree
    ) -> [(String, JSONObject)] {
        let state = tree.topic(.state, of: plug)
        let set = tree.topic(.set, of: plug)
        let about = tree.topic(.about, of: plug)
        func component(_ key: String, _ platform: String, name: String? = nil) -> JSONObject {
            Self.component(key, platform, of: plug, name: name)
        }
        var components: [(String, JSONObject)] = []
        if portrait.capabilities.contains(.dimmer) {
            components.append(("light", light(component("light", "light"), state, set)))
        } else {
            components.append(("switch", relay(component("switch", "switch"), state, set)))
        }
        for quantity in MeasuredQuantity.allCases where measured.contains(quantity) {
            var sensor = component(quantity.rawValue, "sensor", name: quantity.name)
            sensor.add("stat_t", state)
            sensor.add("val_tpl", "{{ value_json.get('\(quantity.rawValue)') }}")
            sensor.add("dev_cla", quantity.deviceClass)
            if let unit = quantity.unit { sensor.add("unit_of_meas", unit) }
            sensor.add("stat_cla", quantity == .activeEnergy ? "total_increasing" : "measurement")
            components.append((quantity.rawValue, sensor))
        }
        if portrait.capabilities.contains(.button) {
            var button = component("button", "event", name: "Button")
            button.add("stat_t", tree.events(of: plug))
            button.add("dev_cla", "button")
            button.add("evt_typ", ButtonPress.allCases.map(\.rawValue))
            // Other events of the plug share the topic. The template renders them as an empty payload, which Home
            // Assistant does not treat as a press.
            button.add(
                "val_tpl",
                "{% if value_json.event == 'button' %}{\"event_type\":\"{{ value_json.press }}\","
                    + "\"number\":{{ value_json.seq }}}{% endif %}")
            components.append(("button", button))
        }
        var tripped = component("tripped", "binary_sensor", name: "Protection")
        tripped.add("stat_t", state)
        tripped.add("val_tpl", "{{ 'ON' if value_json.tripped else 'OFF' }}")
        tripped.add("dev_cla", "problem")
        tripped.add("ent_cat", "diagnostic")
        components.append(("tripped", tripped))
        for (key, name) in [("identify", "Identify"), ("resetProtection", "Reset protection")] {
            var press = component(key, "button", name: name)
            press.add("cmd_t", set)
            press.add("cmd_tpl", "{\"\(key)\":true,\(Self.until)}")
            if key == "identify" { press.add("dev_cla", "identify") }
            press.add("ent_cat", key == "identify" ? "diagnostic" : "config")
            components.append((key, press))
        }
        for (key, name) in [("firmware", "Firmware"), ("address", "Address")] {
            if key == "address", portrait.address == nil { continue }
            var sensor = component(key, "sensor", name: name)
            sensor.add("stat_t", about)
            sensor.add("val_tpl", "{{ value_json.get('\(key)') }}")
            sensor.add("ent_cat", "diagnostic")
            sensor.add("en", false)
            components.append((key, sensor))
        }
        return components
    }

    private static func component(
        _ key: String, _ platform: String, of plug: PlugID, name: String?
    ) -> JSONObject {
        var component = JSONObject()
        component.add("p", platform)
        component.add("uniq_id", "smartplug_\(plug)_\(key)")
        if let name { component.add("name", name) } else { component.addNull("name") }
        return component
    }

    /// The plug's system. Home Assistant can begin the update if the house allows it.
    private func update(of plug: PlugID, in configuration: BrokerMachine.Configuration) -> JSONObject {
        var update = Self.component("update", "update", of: plug, name: "System")
        update.add("stat_t", configuration.tree.topic(.system, of: plug))
        update.add(
            "val_tpl",
            "{{ {'installed_version': value_json.get('system', ''), "
                + "'latest_version': value_json.get('available', value_json.get('system', '')), "
                + "'in_progress': value_json.phase in ['receiving', 'installing', 'trying'], "
                + "'update_percentage': value_json.get('percent')} | to_json }}")
        update.add("dev_cla", "firmware")
        update.add("ent_cat", "config")
        guard configuration.updatesSystems else { return update }
        update.add("cmd_t", configuration.tree.topic(.set, of: plug))
        // Home Assistant has no template for this payload, so the command has no `until`. It is valid for the usual time.
        update.add("pl_inst", "{\"update\":true}")
        return update
    }

    /// The template with which Home Assistant adds the expiry time of its command.
    private static let until = "\"until\":{{ (now().timestamp() + \(commandAge)) | round }}"

    private func relay(_ base: JSONObject, _ state: String, _ set: String) -> JSONObject {
        var relay = base
        relay.add("dev_cla", "outlet")
        relay.add("stat_t", state)
        relay.add("val_tpl", "{{ 'ON' if value_json.on else 'OFF' }}")
        relay.add("cmd_t", set)
        relay.add("cmd_tpl", "{\"on\":{{ 'true' if value == 'ON' else 'false' }},\(Self.until)}")
        return relay
    }

    private func light(_ base: JSONObject, _ state: String, _ set: String) -> JSONObject {
        var light = base
        light.add("schema", "template")
        light.add("stat_t", state)
        light.add("stat_tpl", "{{ 'on' if value_json.on else 'off' }}")
        light.add("bri_tpl", "{{ (value_json.level * 2.55) | round }}")
        light.add("cmd_t", set)
        light.add(
            "cmd_on_tpl",
            "{ {%- if brightness is defined -%}\"level\":{{ [brightness / 2.55, 1] | max | round(1) }},"
                + "{%- if transition is defined -%}\"over\":{{ transition }},{%- endif -%}"
                + "{%- else -%}\"on\":true,{%- endif -%}\(Self.until)}")
        light.add("cmd_off_tpl", "{\"on\":false,\(Self.until)}")
        return light
    }
}

extension MeasuredQuantity {
    fileprivate var name: String {
        switch self {
        case .activePower: "Power"
        case .activeEnergy: "Energy"
        case .voltageRMS: "Voltage"
        case .currentRMS: "Current"
        case .apparentPower: "Apparent power"
        case .reactivePower: "Reactive power"
        case .powerFactor: "Power factor"
        case .frequency: "Frequency"
        }
    }

    /// Home Assistant's device class.
    fileprivate var deviceClass: String {
        switch self {
        case .activePower: "power"
        case .activeEnergy: "energy"
        case .voltageRMS: "voltage"
        case .currentRMS: "current"
        case .apparentPower: "apparent_power"
        case .reactivePower: "reactive_power"
        case .powerFactor: "power_factor"
        case .frequency: "frequency"
        }
    }

    fileprivate var unit: String? {
        switch self {
        case .activePower: "W"
        case .activeEnergy: "Wh"
        case .voltageRMS: "V"
        case .currentRMS: "A"
        case .apparentPower: "VA"
        case .reactivePower: "var"
        case .powerFactor: nil
        case .frequency: "Hz"
        }
    }
}
