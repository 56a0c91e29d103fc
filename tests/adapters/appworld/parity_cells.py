"""Cells as agents write them: each has to look the same in the split and in one process."""

from appworld_cells import LOG_IN

CELLS = {
    "no output": LOG_IN,
    "printed dict": "print(apis.supervisor.show_profile())",
    "printed list": 'print(apis.api_docs.show_api_descriptions(app_name="venmo")[:3])',
    "several prints": 'print({"a": ["é", 1.5, None, True], "b": "🙂"}); print("tail", 1, [2])',
    "refused by the API": 'print(1); apis.venmo.login(username=me["email"], password="nope")',
    "missing argument": "apis.venmo.create_transaction(amount=5, access_token=venmo)",
    "wrong type": (
        'apis.venmo.create_transaction(receiver_email=friend, amount="lots", access_token=venmo)'
    ),
    "unknown argument": "print(apis.supervisor.show_profile(colour=3))",
    "unknown API": "apis.venmo.pay_now(x=1)",
    "unknown app": "apis.paypal.pay()",
    "syntax error": "x = (1,\nprint(x",
    "indentation error": "if True:\nprint(1)   ",
    "unsafe import": 'import subprocess\nsubprocess.run("ls")',
    "unsafe function": 'import os\nos.listdir(".")',
    "unsafe builtin": 'exec("x = 1")',
    "exception": 'def half(x):\n    return x / 0\nprint("a")\nhalf(3)',
    "chained exception": (
        'try:\n    {}["k"]\nexcept KeyError as error:\n    raise ValueError("bad") from error'
    ),
    "exception in the handler": "try:\n    1 / 0\nfinally:\n    [][3]",
    "own exception class": 'class Odd(Exception): pass\nraise Odd("mine", 2)',
    "key error": 'raise KeyError("a b")',
    "assertion": 'assert 1 == 2, "no"',
    "system exit": 'raise SystemExit("bye")',
    "exit": "exit()",
    "time": "print(DateTime.now(), datetime.datetime.now(), datetime.date.today())",
    "pendulum": (
        "import pendulum\n"
        'print(pendulum.now().subtract(months=1).start_of("month").to_date_string())\n'
        'print(pendulum.parse("2023-05-18").format("dddd, MMMM Do YYYY"))\n'
        'print(pendulum.now().in_timezone("Europe/Paris"), pendulum.now().diff_for_humans())'
    ),
    "zones": (
        'print(datetime.datetime(2023, 7, 1, tzinfo=pendulum.timezone("America/New_York")))\n'
        'print(pendulum.now().in_timezone("Asia/Kolkata").isoformat())'
    ),
    "module that is not allowed": "from zoneinfo import ZoneInfo",
    "strptime": 'print(datetime.datetime.strptime("18 May 2023", "%d %B %Y"))',
    "yaml": 'import yaml\nprint(yaml.safe_load("a: [1, {b: 2}]"), yaml.dump({"x": [1, "é"]}))',
    "csv": 'import csv\nprint([row for row in csv.reader(["a,b", \'1,"2,3"\'])])',
    "module that is not allowed, later": "import json\nimport io",
    "numbers": (
        "import statistics, decimal, fractions, math\n"
        "print(statistics.mean([1, 2, 4]), decimal.Decimal('1.10') + 1, fractions.Fraction(3, 9))\n"
        "print(math.isclose(0.1 + 0.2, 0.3), round(2.675, 2), 10**30)"
    ),
    "collections": (
        "from collections import Counter, defaultdict\nimport itertools, functools, heapq\n"
        'print(Counter("banana").most_common(2), list(itertools.accumulate([1, 2, 3])))\n'
        "print(functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]), heapq.nlargest(2, [5, 1, 9]))"
    ),
    "regular expression": (
        'import re\nprint(re.findall(r"(\\w+)@(\\w+)", "x@y z@w"), re.sub("a", "b", "aaa"))'
    ),
    "dataclass": (
        "from dataclasses import dataclass, asdict\n@dataclass\nclass Row:\n    name: str\n"
        '    n: int = 1\nprint(Row("x"), asdict(Row("y", 2)))'
    ),
    "rarer modules": (
        "import uuid, calendar, textwrap, difflib, bisect, array, copy, unittest.mock\n"
        'print(calendar.month_name[3], textwrap.shorten("one two", 5), len(str(uuid.uuid4())))\n'
        'print(difflib.get_close_matches("aple", ["apple"]), bisect.bisect([1, 3], 2))'
    ),
    "paging": (
        "count = page = 0\nwhile True:\n    rows = apis.spotify.show_song_library(\n"
        "        access_token=songs, page_index=page, page_limit=1\n    )\n"
        "    if not rows or page == 5:\n        break\n    count += len(rows)\n    page += 1\n"
        "print(count, page)"
    ),
    "long output": 'for i in range(3000): print(i, "x" * 50)',
    "positional argument": 'apis.venmo.show_transactions("a")',
    "no token": "apis.venmo.show_transactions()",
    "bad token": 'apis.venmo.show_transactions(access_token="nonsense")',
    "token of another app": "apis.venmo.show_transactions(access_token=songs)",
    "unknown id": "apis.venmo.show_transaction(transaction_id=99999, access_token=venmo)",
    "huge id": "apis.venmo.show_transaction(transaction_id=10**30, access_token=venmo)",
    "empty id": 'apis.simple_note.show_note(note_id="", access_token=notes)',
    "slash in an id": 'apis.simple_note.show_note(note_id="a/b", access_token=notes)',
    "deletion of an empty id": 'apis.simple_note.delete_note(note_id="", access_token=notes)',
    "not serialisable": (
        "apis.venmo.create_transaction(\n    receiver_email=friend, amount=5,"
        " description=DateTime.now(), access_token=venmo\n)"
    ),
    "a set": "apis.simple_note.create_note(title={1}, content={2}, access_token=notes)",
    "none": (
        "print(apis.spotify.search_songs(query=None, access_token=songs, page_limit=1)[0]['title'])"
    ),
    "list argument": (
        'print(apis.amazon.search_products(product_type="mug", page_limit=2, color=["a"]))'
    ),
    "dict argument": 'print(apis.spotify.search_songs(query={"a": 1}, access_token=songs))',
    "not a number": (
        "apis.venmo.create_transaction(\n"
        '    receiver_email=friend, amount=float("nan"), access_token=venmo\n)'
    ),
    "booleans": (
        "print(apis.spotify.search_songs("
        'query="a", access_token=songs, page_limit=True, min_like_count=0)[:1])'
    ),
    "requester": 'print(requester.get("/supervisor/profile"))\nprint(requester.get("/nothing/x"))',
    "requester without a slash": 'print(requester.get("supervisor/profile"))',
    "requester with a slash at the end": 'print(requester.get("/supervisor/profile/"))',
    "requester with a query": 'print(requester.get("/spotify/songs?query=love&page_limit=1"))',
    "requester, wrong method": 'print(requester.post("/supervisor/profile", data={}))',
    "requester, unknown API": 'print(requester.get("/venmo/nothing"))',
    "requester, data that is no mapping": 'print(requester.get("/supervisor/profile", data=[1]))',
    "input": 'input("x")',
    "empty": "",
    "blank": "\n  \n",
    "comment": "# nothing",
    "expression": "1 + 1",
    "last name": "me",
    "API docs": (
        'print(apis.api_docs.show_api_doc(app_name="spotify", api_name="show_song_library"))\n'
        "print(apis.api_docs.show_app_descriptions())"
    ),
    "names of APIs": "print(type(apis).__name__, apis.venmo.show_transactions.__name__)",
    "generator": (
        "print(list(song['title'] for song in\n"
        "    apis.spotify.show_song_library(access_token=songs, page_limit=3)))"
    ),
    "comprehension": (
        "print({page: len(apis.spotify.show_song_library(access_token=songs, page_index=page))\n"
        "    for page in range(3)})"
    ),
    "function of an earlier cell": 'print(len(log_in("venmo")) > 20)',
    "thread": (
        'threading = __import__("threading")\nfound = []\n'
        "thread = threading.Thread("
        "target=lambda: found.append(apis.supervisor.show_profile()['email']))\n"
        "thread.start(); thread.join()\nprint(found)"
    ),
    "standard error": 'import sys\nprint("aside", file=sys.stderr)\nprint("said")',
    "warning": 'import warnings\nwarnings.warn("careful")\nprint(1)',
    "magic": "%timeit 1",
    "write": (
        "print(apis.venmo.create_transaction(\n"
        '    receiver_email=friend, amount=0.25, description="rent “share” 🙂",'
        " access_token=venmo\n))"
    ),
    "read after write": (
        "print(apis.venmo.show_transactions(access_token=venmo, sort_by='-created_at'))"
    ),
    "too large a write": (
        "apis.venmo.create_transaction(receiver_email=friend, amount=10**7, access_token=venmo)"
    ),
    "write, change, delete": (
        'note = apis.simple_note.create_note(title="t", content="c", access_token=notes)\n'
        'note_id = note["note_id"]\n'
        'print(apis.simple_note.update_note(note_id=note_id, title="u", access_token=notes))\n'
        "print(apis.simple_note.show_note(note_id=note_id, access_token=notes))\n"
        "print(apis.simple_note.delete_note(note_id=note_id, access_token=notes))"
    ),
    "files": (
        'print(apis.file_system.create_file(\n    file_path="~/a.txt", content="x\\ny",'
        " overwrite=True, access_token=files\n))\n"
        'print(apis.file_system.show_file(file_path="~/a.txt", access_token=files))'
    ),
    "logout": "print(apis.todoist.logout(access_token=todo))",
    "after logout": "apis.todoist.show_projects(access_token=todo)",
    "finish": "print(apis.supervisor.complete_task())",
}
