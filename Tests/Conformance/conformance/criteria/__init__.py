"""One module per subject, one function per criterion. The order here is the order of the table.

In titles and reasons, "it" is the target.
"""

from conformance.criterion import criterion

from conformance.criteria import (  # noqa: F401
    probing, tiebreaks, denials, announcing, packets, answering, timing, known_answers, unicast, negative, conflicts, names,
    services, resilience, goodbye, links,
    addressing_claiming, addressing_choice, addressing_use, addressing_denials, addressing_defence, addressing_links,
    addressing_dhcp, addressing_leases, addressing_routable, addressing_ipv6,
    sleep_registration, sleep_refusals, sleep_answers, sleep_waking, sleep_release)


def table():
    return dict(criterion.criteria)
