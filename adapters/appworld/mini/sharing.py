"""Splitwise groups with their expenses, and a small Amazon shop."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from adapters.appworld.mini.money import card
from adapters.appworld.mini.people import (
    CALEB,
    HOSTS,
    INES,
    JULIAN,
    MARA,
    NORA_VALE,
    NORA_WHITLOCK,
    PRIYA,
    SAM,
    THEO_BRANDT,
    THEO_LINDQVIST,
    Person,
)
from adapters.appworld.mini.records import add_records

_GROUPS = (
    ("Flat upstairs", (MARA, NORA_VALE, THEO_BRANDT, INES)),
    ("Offsite", (NORA_WHITLOCK, MARA, SAM, CALEB)),
    ("Ferry weekend", (JULIAN, THEO_BRANDT, PRIYA, SAM)),
    ("Pottery studio", (NORA_VALE, JULIAN, THEO_LINDQVIST)),
)
_COSTS = ("electricity", "cleaning", "dinner", "tickets", "paint", "taxi", "snacks")
_PRODUCTS = (
    ("mug", "Speckled mug", 11.5),
    ("mug", "Tall mug", 13.25),
    ("lamp", "Hallway lamp", 31.4),
    ("lamp", "Reading lamp", 44.9),
    ("cushion", "Linen cushion", 18.6),
    ("cushion", "Velvet cushion", 23.15),
    ("notebook", "Dotted notebook", 7.8),
    ("notebook", "Pocket notebook", 5.35),
    ("drill", "Cordless drill", 89.0),
    ("shelf bracket", "Steel bracket", 6.4),
    ("shower curtain", "Striped shower curtain", 21.5),
    ("headlamp", "Trail headlamp", 27.95),
)


def add_groups(models: Any, users: dict[Person, Any]) -> None:
    """Store the groups; each member pays in turn and all others owe an equal share."""
    splitwise = models.splitwise
    for number, (name, members) in enumerate(_GROUPS):
        made = datetime(2023, 2, 3, 20, 0) + timedelta(days=number)
        group = splitwise.Group.create_save(
            user_id=users[members[0]].id,
            name=name,
            created_at=made,
            invitation_code=f"join{number}",
        )
        for person in members:
            splitwise.GroupMember.create_save(group_id=group.id, user_id=users[person].id)
        for n, cost in enumerate(_COSTS):
            payer = users[members[n % len(members)]]
            debtors = [users[person].id for person in members if users[person].id != payer.id]
            share = 4 + (n * 31 + number * 7) % 23 + 0.25 * number
            at = made + timedelta(days=9 * n + 1)
            expense = splitwise.Expense.create_save(
                user_id=payer.id,
                group_id=group.id,
                payer_id=payer.id,
                debtor_ids=debtors,
                description=cost,
                amount=share * (len(debtors) + 1),
                created_at=at,
            )
            add_records(
                splitwise.ExpenseShare,
                (
                    {
                        "expense_id": expense.id,
                        "debtor_id": debtor,
                        "share_amount": share,
                        "created_at": at,
                    }
                    for debtor in debtors
                ),
            )


def add_shop(models: Any, users: dict[Person, Any]) -> None:
    """Store products, and cards and wish lists for the hosts."""
    amazon = models.amazon
    seller = amazon.Seller.create_save(name="Corner Goods")
    products = [
        amazon.Product.create_save(
            product_type=kind,
            name=name,
            description=f"{name}, from a small workshop.",
            seller_id=seller.id,
            price=price,
            delivery_days=2 + n % 4,
            inventory_quantity=12 + n,
            weight=0.5,
            length=8,
            width=6,
            height=4,
        )
        for n, (kind, name, price) in enumerate(_PRODUCTS)
    ]
    for n, host in enumerate(HOSTS):
        amazon.PaymentCard.create_save(user_id=users[host].id, **card(host))
        for product in products[n::3]:
            amazon.WishListEntry.create_save(user_id=users[host].id, product_id=product.id)
