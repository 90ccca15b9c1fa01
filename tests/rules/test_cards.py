"""Rules 1.1 and 1.2: card ids, text and values."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gin_env.rules.cards import RANKS, SUITS, VALUES, as_cards, card_text, cards_of, checked_cards, mask_of, parse_cards

HANDS = st.lists(st.integers(0, 51), unique=True)


def test_1_1_ids_and_text() -> None:
    assert (RANKS, SUITS) == ("A23456789TJQK", "SHDC")
    for suit in range(4):
        for rank in range(13):
            text = "A23456789TJQK"[rank] + "SHDC"[suit]
            assert card_text(13 * suit + rank) == text
            assert parse_cards(text) == (13 * suit + rank,)
    assert parse_cards("AS TH QC") == (0, 22, 50)


def test_1_2_values() -> None:
    assert VALUES == (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)


@given(HANDS)
def test_text_and_back(cards: list[int]) -> None:
    text = card_text(cards)
    assert parse_cards(text) == parse_cards(text.lower()) == parse_cards(text.replace(" ", ",")) == tuple(cards)
    assert parse_cards(text.replace("T", "10")) == tuple(cards)


@given(HANDS)
def test_mask_and_back(cards: list[int]) -> None:
    assert mask_of(cards) == sum(2**card for card in cards)
    assert cards_of(mask_of(cards)) == tuple(sorted(cards))


def test_parse_keeps_the_order_and_takes_any_separator() -> None:
    assert parse_cards("kc, 10H  as\n2d") == (51, 22, 0, 27)
    assert parse_cards(" ") == ()


@pytest.mark.parametrize("word", ["1S", "11S", "S", "A", "ASS", "AX", "SA", "100H", "0H", "A♠", "-", "?"])
def test_parse_names_the_word_that_is_no_card(word: str) -> None:
    with pytest.raises(ValueError, match="is no card") as error:
        parse_cards(f"2S {word} 3S")
    assert repr(word.upper()) in str(error.value)
    assert RANKS in str(error.value)


@pytest.mark.parametrize("text", ["AS 2S AS", "TH 10H", "as AS"])
def test_parse_names_the_card_that_stands_twice(text: str) -> None:
    card = "TH" if "TH" in text else "AS"
    with pytest.raises(ValueError, match=f"{card} stands twice"):
        parse_cards(text)


@pytest.mark.parametrize("text", [None, 5, b"AS", ["AS"]])
def test_parse_takes_text_only(text: Any) -> None:
    with pytest.raises(TypeError) as error:
        parse_cards(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize("card", [-1, 52, 1.0, True, "AS", None, np.float64(3), np.bool_(True), 2**64])
def test_ids_name_the_one_that_is_no_card(card: Any) -> None:
    for convert in (checked_cards, as_cards, card_text):
        with pytest.raises(ValueError, match="is no card id") as error:
            convert([3, card])
        assert repr(card) in str(error.value)


def test_ids_name_the_card_that_stands_twice() -> None:
    with pytest.raises(ValueError, match="TH stands twice"):
        checked_cards([22, 3, 22])


def test_ids_may_be_numpy_integers_or_any_iterable() -> None:
    ids = np.array([51, 0], np.int8)
    assert checked_cards(ids) == as_cards(iter([51, 0])) == as_cards("KC AS") == (51, 0)
    assert all(type(card) is int for card in checked_cards(ids))
    assert card_text(ids) == "KC AS"
    assert card_text(ids[0]) == "KC"
