"""Default: move one alarm by some minutes and leave everything else about it as it is."""

from __future__ import annotations

from datetime import datetime, timedelta

from adapters.appworld.mini.people import JULIAN, MARA, Person
from adapters.appworld.mini.phone import ALARMS
from adapters.appworld.mini.task import (
    Check,
    MiniTask,
    Mistake,
    code,
    only_changed,
    right_answer,
)

_SOLUTION = """
from datetime import datetime, timedelta

token = login("phone")
alarms = pages(apis.phone.show_alarms, access_token=token)
(alarm,) = [row for row in alarms if row["label"] == label]
time = (datetime.strptime(alarm["time"], "%H:%M") + timedelta(minutes=minutes)).strftime("%H:%M")
apis.phone.update_alarm(alarm_id=alarm["alarm_id"], time=time, access_token=token)
apis.supervisor.complete_task()
"""
_NEW_ALARM = """
token = login("phone")
found = [row for row in apis.phone.show_alarms(access_token=token) if row["label"] == label]
if not found:
    apis.phone.create_alarm(
        time="17:45", label=label, repeat_days=["tuesday", "thursday"], access_token=token
    )
apis.supervisor.complete_task()
"""
_LABEL_CONTAINS = """
from datetime import datetime, timedelta

token = login("phone")
alarms = pages(apis.phone.show_alarms, access_token=token)
alarm = [row for row in alarms if label in row["label"]][0]
time = (datetime.strptime(alarm["time"], "%H:%M") + timedelta(minutes=minutes)).strftime("%H:%M")
apis.phone.update_alarm(alarm_id=alarm["alarm_id"], time=time, access_token=token)
apis.supervisor.complete_task()
"""
_COLLATERAL = """
token = login("phone")
other = apis.phone.show_alarms(access_token=token)[1]
apis.phone.update_alarm(alarm_id=other["alarm_id"], snooze_minutes=25, access_token=token)
"""
_CHECKS = (
    right_answer(asked=False),
    only_changed("phone.Alarm"),
    Check(
        "assert exactly one alarm changed, and none was added or removed.",
        """
        added, updated, removed = models.changed_records("phone.Alarm")
        test.case([len(added), len(updated), len(removed)], "==", [0, 1, 0])
        """,
    ),
    Check(
        "assert it is the right alarm, with the new time.",
        """
        (alarm,) = models.changed_records("phone.Alarm")[1]
        test.case(
            [alarm.user.phone_number, alarm.label, alarm.time],
            "==",
            [main_user.phone_number, public_data.label, public_data.time],
        )
        """,
    ),
    Check(
        "assert nothing but the time of an alarm changed.",
        """
        (alarm,) = models.changed_records("phone.Alarm")[1]
        test.case(models.changed_field_names("phone.Alarm", alarm.id), "==", {"time"})
        """,
    ),
)


def _moved(host: Person, label: str, minutes: int) -> dict[str, str]:
    (alarm,) = [alarm for alarm in ALARMS[host] if alarm.label == label]
    time = datetime.strptime(alarm.time, "%H:%M") + timedelta(minutes=minutes)
    return {"label": label, "time": f"{time:%H:%M}"}


TASKS = (
    MiniTask(
        id="a86b03e_1",
        dataset="mini_train",
        signature="default",
        supervisor=MARA,
        instruction='My "Gym" alarm should ring 25 minutes earlier. Keep its other settings as '
        "they are.",
        apps=("phone",),
        checks=_CHECKS,
        solution=code(_SOLUTION, label="Gym", minutes=-25),
        mistake=Mistake(
            "not found on the first page, so made anew", (code(_NEW_ALARM, label="Gym"),)
        ),
        collateral=code(_COLLATERAL),
        public_data=_moved(MARA, "Gym", -25),
    ),
    MiniTask(
        id="a86b03e_2",
        dataset="mini_train",
        signature="default",
        supervisor=JULIAN,
        instruction='Let my "Run" alarm ring 40 minutes later, without changing anything else '
        "about it.",
        apps=("phone",),
        checks=_CHECKS,
        solution=code(_SOLUTION, label="Run", minutes=40),
        mistake=Mistake(
            "first record whose name contains the word",
            (code(_LABEL_CONTAINS, label="Run", minutes=40),),
        ),
        collateral=code(_COLLATERAL),
        public_data=_moved(JULIAN, "Run", 40),
    ),
)
