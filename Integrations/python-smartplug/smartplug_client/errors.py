"""Errors that callers handle. Each text is a sentence for the user."""


class PlugError(Exception):
    """The plug did not do what was requested."""


class Goodbye(PlugError):
    """The plug ended the connection and sent a reason.

    `reason` is the name of the protocol's GoodbyeReason in lower case, such as "not_paired" or "wrong_code".
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class WrongPlug(PlugError):
    """The plug that answered is not the paired plug: its key or its id differs."""


class NotThePlug(PlugError):
    """The plug that answered does not know the setup code."""


class AlreadyPaired(PlugError):
    """A plug claims the id of a paired plug, and has a different key."""


class CommandRefused(PlugError):
    """The plug refused a command or a request.

    `code` is the name of the protocol's RefusalCode in lower case, such as "protection_tripped".
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


class CommandUnanswered(PlugError):
    """No answer arrived in time. The plug has executed the command before its deadline, or does not execute it at all."""


class NoLog(PlugError):
    """The firmware of this plug does not send its log."""


class MalformedMessage(PlugError):
    """The plug violated the protocol. The connection cannot be used any longer."""
