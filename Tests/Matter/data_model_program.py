"""Compares a device with Matter's data model, by esp-matter-dm-validator: data_model_program.py VERSION.

Reads the values of all attributes as JSON from standard input ({"ENDPOINT/CLUSTER/ATTRIBUTE": value}), and prints a JSON
list of the deviations from this version of the specification.
"""

import json
import logging
import sys

from dmv_tool.validators.conformance_checker import validate_device_conformance

# Attributes that each cluster has: the part of the validator's input and the name there.
GLOBAL = {
    65528: ("commands", "GeneratedCommandList"), 65529: ("commands", "AcceptedCommandList"), 65531: ("attributes", "AttributeList"),
    65532: ("features", "FeatureMap"), 65533: ("revisions", "ClusterRevision"),
}
DESCRIPTOR, DEVICE_TYPES, SERVERS, CLIENTS = 29, 0, 1, 2


def hexadecimal(number):
    return f"0x{number:04X}"


def identifiers(numbers):
    return [{"id": hexadecimal(number), "name": "unknown"} for number in numbers]


def described(cluster, attribute, value):
    """Returns the value as the validator expects it. It reads only the attributes of the descriptor."""
    if (cluster, attribute) == (DESCRIPTOR, DEVICE_TYPES):
        return {"DeviceTypeList": [{"DeviceType": hexadecimal(one["0"]), "Revision": one["1"]} for one in value]}
    if cluster == DESCRIPTOR and attribute in (SERVERS, CLIENTS):
        return {"ServerList" if attribute == SERVERS else "ClientList": identifiers(value)}
    return {"value": value}


def device(values):
    endpoints = {}
    for path, value in values.items():
        endpoint, cluster, attribute = (int(part) for part in path.split("/"))
        parts = endpoints.setdefault(endpoint, {}).setdefault(
            hexadecimal(cluster), {"attributes": {}, "events": {}, "commands": {}, "features": {}, "revisions": {}})
        if attribute in GLOBAL:
            part, name = GLOBAL[attribute]
            parts[part][name] = {name: identifiers(value) if isinstance(value, list) else value}
        else:
            parts["attributes"][hexadecimal(attribute)] = described(cluster, attribute, value)
    return {"endpoints": [{"id": endpoint, "clusters": clusters} for endpoint, clusters in sorted(endpoints.items())]}


def deviations(result):
    for endpoint in result["endpoints"]:
        found = [*endpoint["missing_elements"], *endpoint["duplicate_elements"], *endpoint["revision_issues"]]
        yield from (f"endpoint {endpoint['endpoint']}: {one.get('message', one)}" for one in found if one.get("type") != "info")
        yield from (f"endpoint {endpoint['endpoint']}: extra cluster {one}" for one in endpoint["extra_clusters"])
        yield from (f"endpoint {endpoint['endpoint']}: {kind['error']}" for kind in endpoint["device_types"] if "error" in kind)
        if not endpoint["is_compliant"]:
            yield f"endpoint {endpoint['endpoint']} does not conform"


logging.disable()
print(json.dumps(list(deviations(validate_device_conformance(device(json.load(sys.stdin)), sys.argv[1])))))
