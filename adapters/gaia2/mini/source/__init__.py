"""Makes the bundled scenarios: plain data in, the JSON files of `scenarios/` and `checks/` out.

`python -m adapters.gaia2.mini.source.write` writes them again after a change; a test holds the two
together. All scenarios share one small world (people, mail, diary, talk, places). A scenario is a
graph of steps: what the user and the environment do, what the agent should do (the oracle), and
the scripted checks of its soft arguments. Each brings a plausible mistake and a write too many,
which tests play before ARE's judge.
"""
