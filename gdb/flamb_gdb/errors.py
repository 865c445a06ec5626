"""The errors of the adapter."""


class Refusal(Exception):
    """An error for the user: whose fault, what happened, what to do next."""

    def __init__(self, fault: int, message: str, next_action: str = ""):
        super().__init__(message)
        self.fault = fault
        self.next_action = next_action
