"""The table as plain text, from one seat."""

from __future__ import annotations

from gin_env.rules.cards import card_text
from gin_env.rules.melds import best_melds, deadwood
from gin_env.rules.view import View


def table(view: View, names: tuple[str, str], laid_down: tuple[int, ...] | None = None) -> str:
    """Draw what a seat may know.

    Args:
        view: the seat's view.
        names: the seat's name and the opponent's.
        laid_down: the opponent's cards, where the end of the hand has put them on the table.

    Returns:
        Lines of text, closed by a line break.
    """
    me, opponent = names
    max_run = 4 if view.data["public"]["rules"]["meld_limit"][0] else None
    known = f", holds {card_text(view.known[1])}" if view.known[1] else ""
    hidden = 10 + (view.to_act == 1 and view.phase in ("discard", "last_out"))
    theirs = f"{hidden} cards{known}" if laid_down is None else _melded(laid_down, max_run)
    upcard = "none" if view.upcard is None else card_text(view.upcard)
    recent = " ".join(card_text(card) + ("'" if by else "") for card, by in view.recent) or "none"
    if view.outcome is None:
        turn = f"{me if view.to_act == 0 else opponent} to act: {view.phase}"
    else:
        mine, others = view.scores
        turn = f"over: {view.outcome}, {me} {mine}, {opponent} {others}"
    return (
        f"{opponent:10} {theirs}\n"
        f"{'upcard':10} {upcard}   stock {view.stock}   turn {view.turns + 1}\n"
        f"{'discards':10} {recent}   (newest first, ' by {opponent})\n"
        f"{me:10} {_melded(view.hand, max_run)}\n"
        f"{turn}\n"
    )


def _melded(hand: tuple[int, ...], max_run: int | None) -> str:
    """A hand with its melds in brackets and its deadwood."""
    melds, leftover = best_melds(hand, max_run)
    parts = [f"[{card_text(meld)}]" for meld in melds]
    if leftover:
        parts.append(card_text(sorted(leftover, key=lambda card: (card % 13, card))))
    return f"{' '.join(parts)}   deadwood {deadwood(hand, max_run)}"
