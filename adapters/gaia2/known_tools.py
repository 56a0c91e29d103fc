"""What is known of ARE's own tools without ARE: for runs of others, whose files say only a part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.gaia2.kinds import ARE_APPS, kind_of, kind_of_call

__all__ = ["APP_NAMES", "READING", "kind_in_a_file"]

APP_NAMES = {
    "EmailClientV2": "Emails",
    "EmailClientApp": "Emails",
    "CabApp": "Cabs",
    "CalendarApp": "Calendar",
    "ContactsApp": "Contacts",
    "ShoppingApp": "Shopping",
    "ApartmentListingApp": "RentAFlat",
    "CityApp": "City",
    "SandboxLocalFileSystem": "Files",
    "MessagingAppV2": "Messages",
}
"""Apps by class: agents, and so cards, know them by name."""
SAME_TOOLS = {**APP_NAMES, "Chats": "Messages"}
READING = {
    "Contacts": "get_contacts get_contact get_current_user_details search_contacts",
    "Emails": "list_emails get_email_by_id get_email_by_index search_emails",
    "Calendar": "get_calendar_event get_calendar_events_from_to read_today_calendar_events"
    " get_all_tags get_calendar_events_by_tag search_events",
    "Messages": "get_user_id get_user_name_from_id lookup_user_id get_existing_conversation_ids"
    " list_recent_conversations list_conversations_by_participant read_conversation search"
    " regex_search",
    "Cabs": "get_quotation list_rides get_current_ride_status get_ride get_ride_history"
    " get_ride_history_length",
    "Shopping": "list_all_products get_product_details search_product list_cart"
    " get_discount_code_info get_all_discount_codes list_orders get_order_details",
    "RentAFlat": "list_all_apartments get_apartment_details list_saved_apartments"
    " search_apartments",
    "City": "get_crime_rate get_api_call_count get_api_call_limit",
    "Files": "cat ls exists display info tree read_document",
    "VirtualFileSystem": "cat ls exists info tree",
    "ReminderApp": "get_due_reminders get_all_reminders",
    "SystemApp": "get_current_time wait_for_notification",
}
"""The tools that only read, by app. A test compares them with what ARE itself says."""
OPERATIONS = {"READ": "read", "WRITE": "write"}


def kind_in_a_file(function: str, arguments: Mapping[str, Any], operation: str = "") -> str:
    """Return the kind of a call `App.function`, the app by class or by name, in an imported run.

    `operation`: what the file says, READ, WRITE or nothing. It decides for tools that are not
    known, if they are named accordingly; without it an unknown tool writes.
    """
    app, _, tool = function.partition(".")
    app = SAME_TOOLS.get(app, app)
    known = tool in READING.get(app, "").split()
    tag = "read" if known else OPERATIONS.get(operation)
    return kind_of_call(*kind_of(app, tool, tag, ARE_APPS if known else ""), arguments)
