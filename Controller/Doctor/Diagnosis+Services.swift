import PlugModel

extension Diagnosis {
    static func ofServices(_ seen: Observations) -> [Finding] {
        guard !seen.links.isEmpty else { return [] }
        guard !seen.services.isEmpty else {
            return [
                Finding(
                    .warning, .service, "no host answers for _smartplug._tcp",
                    why: "no plug has power, or none is on this network",
                    next: "check that the plugs have power and are on the same network as this host")
            ]
        }
        return seen.services.sorted { $0.name < $1.name }.map { service in finding(service, seen) }
    }

    private static func finding(_ service: Observations.Service, _ seen: Observations) -> Finding {
        guard let place = service.place else {
            return Finding(
                .problem, .service, service.name, "it is announced but does not answer with its address",
                why: "it disappeared without a goodbye, or its answers do not reach this host",
                next: "check its power; a plug that is gone without a goodbye can stay listed for up to 75 minutes")
        }
        let addresses = list(place.addresses.map { "\($0)" })
        let what = "at \(place.host) port \(place.port), \(addresses), on \(list(service.interfaces))"
        guard let id = service.id else {
            return Finding(
                .warning, .service, service.name, "\(what); its announcement has no plug id",
                next:
                    "check that it is a smart plug of this kind; its TXT record needs id= with twelve hexadecimal digits"
            )
        }
        let twins = seen.services.filter { $0.id == id && $0.name != service.name }.map(\.name)
        guard twins.isEmpty else {
            return Finding(
                .problem, .service, service.name, "\(what); \(list(twins)) has the same id, \(id)",
                why: "one plug has a copy of the other plug's flash, so events and keys of both are mixed up",
                next: "stop one of these plugs, empty its state directory and start it again, so that it gets a new id")
        }
        if let version = service.version, version != "\(PlugWire.version)" {
            return Finding(
                .warning, .service, service.name, "\(what); it uses version \(version) of the protocol",
                why: "this controller uses version \(PlugWire.version)", next: "update the older of the two")
        }
        // If the paired plugs are unknown, the finding does not mention pairing.
        guard service.isPaired || seen.controllerFault != nil else {
            return Finding(
                .ok, .service, service.name, "\(what); not paired with this controller",
                next: "if it is yours: plugctl pair \"\(service.name)\", with the code on its label")
        }
        return Finding(.ok, .service, service.name, what)
    }
}
