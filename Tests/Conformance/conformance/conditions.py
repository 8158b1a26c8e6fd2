"""Conditions that select packets."""


def is_response(packet):
    return packet.message is not None and packet.message.is_response


def tells(kind, parent):
    """Selects responses with a live record of that type whose name is under `parent`."""
    return lambda packet: packet.message.is_response and any(
        record.type == kind and record.ttl and record.name.under(parent) for record in packet.message.records)


def proposes(kind, parent):
    """Selects probes with a record of that type whose name is under `parent`."""
    return lambda packet: packet.message.is_probe and any(
        record.type == kind and record.name.under(parent) for record in packet.message.authorities)


def probes_for(name):
    """Selects probes for that name: queries that propose a record with this name."""
    return lambda packet: packet.message.is_probe and any(
        record.name.folded == name.folded for record in packet.message.authorities)


def gives(name, kind, only_answers=False, alive=True):
    """Selects responses with a record of that name and type; `kind` None accepts any type. With `alive` False it selects
    goodbyes instead of live records."""
    def check(packet):
        if not packet.message.is_response:
            return False
        records = packet.message.answers if only_answers else packet.message.records
        return any(record.name.folded == name.folded and kind in (None, record.type) and (record.ttl > 0) == alive
                   for record in records)
    return check


def record_in(packet, name, kind):
    """Returns the packet's first record with that name and type, from all sections, or None."""
    matching = (record for record in packet.message.records + packet.message.authorities
                if record.name.folded == name.folded and record.type == kind)
    return next(matching, None)
