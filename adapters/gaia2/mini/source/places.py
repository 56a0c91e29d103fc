"""Shops, flats, cabs and files of the small world."""

from __future__ import annotations

from typing import Any, NamedTuple

from adapters.gaia2.mini.source.basics import State, ident, stamp


class Variant(NamedTuple):
    """One item of a product."""

    product: str
    options: tuple[tuple[str, str], ...]
    price: float
    available: bool = True

    @property
    def item_id(self) -> str:
        """Its id."""
        return ident("item", f"{self.product}:{self.options}")


def _variants(product: str, option: str, prices: dict[str, float]) -> tuple[Variant, ...]:
    return tuple(Variant(product, ((option, value),), price) for value, price in prices.items())


BOTTLE = _variants(
    "Glacier Blue Water Bottle", "color", {"black": 19.5, "white": 19.5, "red": 22.0}
)
LAMP = _variants("Arc Desk Lamp", "finish", {"brass": 64.0, "graphite": 59.0, "white": 55.0})
PRODUCTS: tuple[tuple[Variant, ...], ...] = (
    BOTTLE,
    LAMP,
    _variants("Cutting Mat", "size", {"A3": 14.0, "A2": 23.0}),
    _variants("Fineliner Set", "tips", {"4": 9.9, "8": 17.5}),
    _variants("Foam Board", "thickness", {"3 mm": 3.2, "5 mm": 3.9}),
    _variants("Garden Gloves", "size", {"S": 11.0, "M": 11.0, "L": 11.0}),
    _variants("Hanging Shelf", "wood", {"oak": 72.0, "ash": 68.0}),
    _variants("Linen Notebook", "ruling", {"plain": 12.0, "dotted": 12.0, "lined": 12.0}),
    _variants("Plan Tube", "length", {"60 cm": 18.0, "90 cm": 21.0}),
    _variants("Reading Chair", "fabric", {"wool": 310.0, "linen": 295.0}),
    _variants("Scale Ruler", "length", {"15 cm": 7.5, "30 cm": 9.5}),
    _variants("Tracing Paper Roll", "width", {"33 cm": 8.0, "66 cm": 13.0}),
)
OLD_ORDER = ident("order", "shelf")


def _item(variant: Variant) -> State:
    return {
        "price": variant.price,
        "available": variant.available,
        "item_id": variant.item_id,
        "options": dict(variant.options),
    }


def shopping() -> State:
    """Return the state of the Shopping app: a catalogue of two pages and one running order."""
    products = {}
    for variants in PRODUCTS:
        name = variants[0].product
        product_id = ident("product", name)
        items = {variant.item_id: _item(variant) for variant in variants}
        products[product_id] = {"name": name, "product_id": product_id, "variants": items}
    shelf = PRODUCTS[6][0]
    order = {
        "order_status": "processed",
        "order_date": "2024-11-02T10:00:00+00:00",
        "order_total": shelf.price,
        "order_id": OLD_ORDER,
        "order_items": {shelf.item_id: {**_item(shelf), "quantity": 1}},
    }
    return {"products": products, "cart": {}, "discount_codes": {}, "orders": {OLD_ORDER: order}}


class Flat(NamedTuple):
    """One flat on offer."""

    name: str
    city: str
    price: float
    bedrooms: int
    pets: str
    saved: bool = False

    @property
    def apartment_id(self) -> str:
        """Its id."""
        return ident("flat", self.name)


FLATS: tuple[Flat, ...] = (
    Flat("Cedar Court", "Porto", 1180.0, 2, "Dogs allowed", saved=True),
    Flat("Tide House", "Porto", 990.0, 2, "No pets", saved=True),
    Flat("Lantern Row", "Porto", 1090.0, 2, "Dogs allowed", saved=True),
    Flat("Mill Lofts", "Porto", 870.0, 2, "Dogs allowed"),
    Flat("Juniper Yard", "Braga", 940.0, 1, "Dogs allowed", saved=True),
    Flat("Anchor Mews", "Porto", 1320.0, 3, "Dogs allowed", saved=True),
    Flat("Kestrel Point", "Lisbon", 1450.0, 2, "Cats allowed"),
    Flat("Saffron Terrace", "Lisbon", 1240.0, 1, "No pets"),
    Flat("Olive Steps", "Lisbon", 1010.0, 2, "Cats allowed", saved=True),
    Flat("Weaver Lane", "Braga", 760.0, 2, "No pets"),
    Flat("Pepper Wharf", "Porto", 1525.0, 3, "No pets"),
    Flat("Quarry Gate", "Aveiro", 820.0, 2, "Dogs allowed"),
)


def apartments() -> State:
    """Return the state of the RentAFlat app."""
    listed = {
        flat.apartment_id: {
            "name": flat.name,
            "location": flat.city,
            "zip_code": f"4{int(flat.apartment_id[:4], 16) % 1000:03d}",
            "price": flat.price,
            "bedrooms": flat.bedrooms,
            "bathrooms": 1,
            "property_type": "Apartment",
            "square_footage": 400 + 250 * flat.bedrooms,
            "furnished_status": "Unfurnished",
            "floor_level": "Upper floors",
            "pet_policy": flat.pets,
            "lease_term": "1 year",
            "apartment_id": flat.apartment_id,
            "amenities": ["Balcony"],
            "saved": flat.saved,
        }
        for flat in FLATS
    }
    return {
        "apartments": listed,
        "saved_apartments": [flat.apartment_id for flat in FLATS if flat.saved],
    }


STUDIO = "Studio, 8 Cais da Ribeira"
BANK = "Harbour Bank, 40 Avenida do Porto"
HOME = "37 Rua Nova, Porto"


def cabs() -> State:
    """Return the state of the Cabs app: rides of the past weeks and three kinds of car."""
    rides = [
        {
            "ride_id": ident("ride", str(days)),
            "status": "COMPLETED",
            "service_type": service,
            "start_location": start,
            "end_location": end,
            "price": price,
            "duration": 14.0,
            "time_stamp": stamp(-days, 17),
            "distance_km": 7.5,
            "delay": 4.0,
            "delay_history": [],
        }
        for days, service, start, end, price in (
            (25, "Default", STUDIO, HOME, 7.5),
            (18, "Premium", HOME, BANK, 15.0),
            (11, "Default", STUDIO, HOME, 7.9),
            (4, "Van", HOME, STUDIO, 11.3),
        )
    ]

    def service(seats: int, price: float, delay: int) -> dict[str, Any]:
        return {
            "nb_seats": seats,
            "price_per_km": price,
            "base_delay_min": delay,
            "max_distance_km": 25,
        }

    return {
        "ride_history": rides,
        "quotation_history": [],
        "d_service_config": {
            "Default": service(4, 1.0, 5),
            "Premium": service(4, 2.0, 3),
            "Van": service(6, 1.5, 7),
        },
    }


NEWEST_PLAN = "/Documents/House/boiler_plan_v3.pdf"


def files() -> State:
    """Return the state of the Files app: names only, the files are empty."""

    def folder(name: str, *children: State) -> State:
        return {"name": name, "type": "directory", "children": list(children)}

    def file(name: str) -> State:
        return {"name": name, "type": "file"}

    house = folder(
        "House",
        *(file(f"boiler_plan_v{version}.pdf") for version in (1, 2, 3)),
        file("lease.pdf"),
    )
    work = folder("Work", file("harbour_model.txt"), file("yearbook_draft.txt"))
    downloads = folder("Downloads", file("boiler_plan_old.pdf"), file("tickets.pdf"))
    return {"files": folder("", folder("Documents", house, work), downloads), "tmpdir": ""}
