"""What each AppWorld API does to the world: the reviewed rule, its exceptions, the reasons.

Standard library only: the parent builds its catalogue with it, and the world process refuses
writes of a read-only world by it.
"""

from __future__ import annotations

__all__ = ["kind_of"]

FINISH = {"supervisor.complete_task": "ends the task: changes the active task's record only"}
SESSION = {
    "login": "opens a session and gives a token; changes no record",
    "logout": "forgets a token; changes no record",
}
POSTS_THAT_READ = {
    "splitwise.show_person_balance": "a look-up that takes its question in the body",
    "splitwise.show_people_balance": "a look-up that takes its question in the body",
}
GETS_THAT_WRITE = {
    "download_": "creates a file in file_system and counts the download",
}


def kind_of(function: str, method: str) -> tuple[str, str]:
    """Return (READ | WRITE | FINISH, reason) for `app.api` and its HTTP method."""
    short = function.partition(".")[2]
    if function in FINISH:
        return "FINISH", FINISH[function]
    if short in SESSION:
        return "READ", SESSION[short]
    if function in POSTS_THAT_READ:
        return "READ", POSTS_THAT_READ[function]
    if method == "GET":
        for prefix, reason in GETS_THAT_WRITE.items():
            if short.startswith(prefix):
                return "WRITE", reason
        return "READ", "GET"
    return "WRITE", f"{method} changes records"
