"""`contramem bank`: look into a bank, search it as a task would, switch cards, freeze it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from injectors.apps import apps_in
from injectors.bank import FUNCTIONS, Bank
from injectors.bank_files import BankFolder, load_bank
from injectors.cards import FunctionCard
from injectors.edits import activate, deactivate
from injectors.retrieve import Bm25Retriever, Query, Ranked
from injectors.signature import runtime_signature
from runtime.contracts import Json

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="Look into a bank of cards, search it, switch cards on and off, freeze it.",
)

BankPath = Annotated[Path, typer.Argument(metavar="BANK", help="Folder of the bank.")]
CardId = Annotated[str, typer.Argument(metavar="CARD", help="Id of the card, as `show` lists it.")]
Reason = Annotated[str, typer.Option("--reason", help="Noted in the bank's history.")]
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
    console.print(f"[bold]{bank}[/bold]: {found.benchmark}, {state}", highlight=False)
    if found.about:
        console.print(found.about, markup=False, highlight=False)
    console.print(f"hash {found.hash}", highlight=False)
    console.print(_cards(found))


@app.command()
def search(
    bank: BankPath,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A task's instruction.")],
    *,
    apps: Annotated[
        list[str] | None,
        typer.Option("--app", help="An app the task names; again for more. Default: detected."),
    ] = None,
    ability: Annotated[
        str | None, typer.Option(help="Search this skill set (and `global`) only.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Cards of each kind to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show which cards a task with this text would get, with the parts of each score.

    Exits with 1 if no card shares a term with the text: such a task gets no memory.
    """
    found = load_bank(bank)
    known = {card.app for card in found.functions}
    named = tuple(item.lower() for item in apps or ()) or apps_in(text, found.benchmark, known)
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
        console.print(_ranking("Skill Cards", skills, found))
        console.print(_ranking("Function Cards", functions, found))
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


def _cards(bank: Bank) -> Table:
    table = Table("set")
    table.add_column("card", overflow="fold")
    table.add_column("what it says")
    table.add_column("active")
    for card_id, placed in sorted(bank.cards.items(), key=lambda item: (item[1].place, item[0])):
        active = "yes" if bank.active(card_id) else "no"
        table.add_row(placed.place, card_id, _says(bank, card_id), active)
    return table


def _ranking(title: str, ranked: tuple[Ranked, ...], bank: Bank) -> Table:
    table = Table("#", title=title)
    table.add_column("card", overflow="fold")  # its whole id: `deactivate` takes it
    for name in ("score", "bm25", "app", "hint", "shared terms"):
        table.add_column(name)
    for place, item in enumerate(ranked, start=1):
        table.add_row(
            str(place),
            f"{item.card_id}\n[dim]{_says(bank, item.card_id)}[/dim]",
            f"{item.score:.2f}",
            f"{item.bm25:.2f}",
            f"{item.app_bonus:+.2f}",
            f"{item.signature_hint:+.2f}",
            " ".join(item.shared_terms),
        )
    return table


def _says(bank: Bank, card_id: str) -> str:
    card = bank.card(card_id)
    text = card.what_it_does if isinstance(card, FunctionCard) else card.title
    return text.replace("[", r"\[")


def _print_json(value: Json) -> None:
    print(json.dumps(value, ensure_ascii=False))
