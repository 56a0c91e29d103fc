"""`contramem bank`: look into a bank, search it as a task would, switch cards, freeze it."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from injectors.apps import apps_in
from injectors.bank import FUNCTIONS, Bank
from injectors.bank_files import BankFolder, load_bank
from injectors.cards import FunctionCard
from injectors.edits import activate, deactivate
from injectors.retrieve import Bm25Retriever, Query, Ranked
from injectors.signature import runtime_signature
from runtime.contracts import Json
from runtime.errors import UnknownName
from runtime.report.visible import as_it_is, visible
from scripts.tables import print_table

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="Look into a bank of cards, search it, switch cards on and off, freeze it.",
)

BankPath = Annotated[Path, typer.Argument(metavar="BANK", help="Folder of the bank.")]
CardId = Annotated[str, typer.Argument(metavar="CARD", help="Id of the card, as `show` lists it.")]
Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Noted in the bank's history.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def show(bank: BankPath, as_json: AsJson = False) -> None:
    """Show a bank's hash, whether it is frozen, and its cards."""
    found = load_bank(bank)
    skills = found.counts()
    functions = skills.pop(FUNCTIONS)
    if as_json:
        _print_json(
            {
                "hash": found.hash,
                "frozen": found.frozen,
                "function_cards": functions,
                "skill_cards": dict(skills),
            }
        )
        return
    console = Console()
    state = "frozen" if found.frozen else "open for edits"
    for line in (f"{bank}: {found.benchmark}, {state}", found.about, f"hash {found.hash}"):
        if line:
            console.print(as_it_is(line), soft_wrap=True)
    print_table(_cards(found))


@app.command()
def search(
    bank: BankPath,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A task's instruction.")],
    *,
    apps: Annotated[
        list[str] | None,
        typer.Option(
            "--app", metavar="NAME", help="An app the task names (default: detected); repeatable."
        ),
    ] = None,
    ability: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Search this skill set (and `global`) only."),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="Cards of each kind to show.")
    ] = 10,
    as_json: AsJson = False,
) -> None:
    """Show which cards a task with this text would get, with the parts of each score.

    Exits with 1 if no card shares a term with the text: such a task gets no memory.
    """
    found = load_bank(bank)
    known = {card.app.lower() for card in found.functions}
    chosen = [_known("app of the bank", item, known) for item in apps or ()]
    named = tuple(chosen) or apps_in(text, found.benchmark, known)
    if ability is not None:
        ability = _known("skill set", ability, found.counts().keys() - {FUNCTIONS})
    signature = runtime_signature(text, named)
    query = Query(instruction=text, apps=named, signature=signature, ability=ability)
    retriever = Bm25Retriever(found)
    skills, functions = retriever.skills(query, limit), retriever.functions(query, limit)
    if as_json:
        _print_json(
            {
                "apps": list(named),
                "signature": signature,
                "skills": [item.model_dump(mode="json") for item in skills],
                "functions": [item.model_dump(mode="json") for item in functions],
            }
        )
    else:
        console = Console()
        console.print(f"apps {', '.join(named) or 'none'}; signature {signature}", highlight=False)
        for title, ranked in (("Skill Cards", skills), ("Function Cards", functions)):
            if ranked:
                print_table(_ranking(title, ranked, found))
            else:
                console.print(f"No {title[:-1]} shares a term with the text.", highlight=False)
    if not skills and not functions:
        raise typer.Exit(1)


@app.command("activate")
def activate_card(bank: BankPath, card: CardId, reason: Reason = "") -> None:
    """Deliver a card again that was switched off."""
    folder = BankFolder(bank)
    folder.commit(activate(folder.bank, card, reason=reason))
    print(f"{card} is active. The bank's hash is now {folder.bank.hash}.")


@app.command("deactivate")
def deactivate_card(bank: BankPath, card: CardId, reason: Reason = "") -> None:
    """Keep a card but never deliver it."""
    folder = BankFolder(bank)
    folder.commit(deactivate(folder.bank, card, reason=reason))
    print(f"{card} is inactive. The bank's hash is now {folder.bank.hash}.")


@app.command()
def freeze(bank: BankPath) -> None:
    """Bind a bank to its content hash, for evaluation. It refuses edits from then on."""
    print(f"{bank} is frozen as {BankFolder(bank).freeze().hash}.")


def _known(what: str, name: str, known: Collection[str]) -> str:
    """Return the spelling that the bank has. Raises `UnknownName`."""
    for each in known:
        if each.lower() == name.lower():
            return each
    raise UnknownName(what, name, known)


def _cards(bank: Bank) -> Table:
    table = _table("set")
    table.add_column("card", no_wrap=True)  # its whole id: `deactivate` takes it
    table.add_column("active")
    table.add_column("what it says", overflow="fold")
    for card_id, placed in sorted(bank.cards.items(), key=lambda item: (item[1].place, item[0])):
        active = "yes" if bank.active(card_id) else "no"
        table.add_row(placed.place, card_id, active, as_it_is(_says(bank, card_id)))
    return table


def _ranking(title: str, ranked: tuple[Ranked, ...], bank: Bank) -> Table:
    table = _table("#", title=title, title_justify="left", title_style="bold")
    table.add_column("card", no_wrap=True)
    for name in ("score", "bm25", "app", "hint"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("shared terms, what it says", overflow="fold")
    for place, item in enumerate(ranked, start=1):
        table.add_row(
            str(place),
            item.card_id,
            f"{item.score:.2f}",
            f"{item.bm25:.2f}",
            f"{item.app_bonus:+.2f}",
            f"{item.signature_hint:+.2f}",
            Text.assemble(f"{' '.join(item.shared_terms)}: ", (_says(bank, item.card_id), "dim")),
        )
    return table


def _table(*columns: str, **settings: Any) -> Table:  # noqa: ANN401 - rich's
    return Table(*columns, box=SIMPLE_HEAD, padding=0, show_edge=False, **settings)


def _says(bank: Bank, card_id: str) -> str:
    card = bank.card(card_id)
    return visible(card.what_it_does if isinstance(card, FunctionCard) else card.title)


def _print_json(value: Json) -> None:
    print(json.dumps(value))
