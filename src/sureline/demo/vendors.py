"""The invented shops: what they sell, how they print, and in which market.

Every name here is made up. `listed` says whether the shop is in the policy's vendor list: a new
shop is not, although its receipts are as good as any.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The printed words of one market; a `{rate}` in `tax` becomes the tax rate."""

    subtotal: str
    total: str
    tax: str
    cash: str
    change: str
    date: str
    thanks: str
    count: str
    discount: str
    ordered: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """One shop; `share` weighs how often it appears within its market.

    `date_style` is a strftime pattern (`reiwa` prints the Japanese era). `tax_included` says that
    prices contain the tax. The others are shares of its receipts, in [0, 1]: `savings` boast of a
    second total below the real one, `footer` have the name at the bottom only, `ordered` show the
    day of the order above the day of sale, `discount` take something off, `cash` are paid so.
    """

    name: str
    market: str
    currency: str
    symbol: str
    address: str
    date_style: str
    tax_rate: Decimal
    items: tuple[tuple[str, int, int], ...]
    share: int = 10
    tax_included: bool = True
    savings: float = 0.0
    footer: float = 0.0
    ordered: float = 0.0
    discount: float = 0.03
    cash: float = 0.6
    total_word: str | None = None
    listed: bool = True


WORDING = {
    "gb": Wording(
        subtotal="SUBTOTAL", total="TOTAL", tax="VAT {rate}%", cash="CASH", change="CHANGE",
        date="Date:", thanks="Thank you for your visit", count="ITEMS",
        discount="LOYALTY DISCOUNT", ordered="Ordered:",
    ),
    "us": Wording(
        subtotal="SUBTOTAL", total="TOTAL", tax="SALES TAX {rate}%", cash="CASH",
        change="CHANGE", date="Date:", thanks="Have a great day", count="ITEMS SOLD",
        discount="COUPON", ordered="Ordered:",
    ),
    "de": Wording(
        subtotal="Zwischensumme", total="SUMME", tax="MwSt {rate}%", cash="Bar",
        change="Rückgeld", date="Datum:", thanks="Vielen Dank für Ihren Einkauf", count="Artikel",
        discount="Rabatt", ordered="Bestellt:",
    ),
    "fr": Wording(
        subtotal="Sous-total", total="TOTAL TTC", tax="TVA {rate}%", cash="Espèces",
        change="Rendu", date="Date :", thanks="Merci de votre visite", count="Articles",
        discount="Remise", ordered="Commandé :",
    ),
    "jp": Wording(
        subtotal="小計", total="合計", tax="消費税 {rate}%", cash="お預り", change="お釣り",
        date="日付:", thanks="ご来店ありがとうございます", count="点数",
        discount="値引", ordered="注文日:",
    ),
}  # fmt: skip

_GROCERY = (
    ("Oat bread", 180, 420), ("Red apples", 120, 390), ("Hard cheese", 310, 980),
    ("Tomato soup", 140, 320), ("Ground coffee", 420, 1190), ("Rice 1kg", 190, 460),
    ("Olive oil", 590, 1490), ("Dish soap", 150, 380), ("Dark chocolate", 160, 450),
)  # fmt: skip
_TOOLS = (
    ("Wood screws", 240, 690), ("Claw hammer", 990, 2490), ("Masking tape", 310, 640),
    ("Wall paint 5l", 2190, 5490), ("Drill bit set", 1490, 3990), ("Work gloves", 490, 1290),
    ("Sandpaper", 280, 590), ("LED bulb", 390, 990),
)  # fmt: skip
_CAFE = (
    ("Flat white", 290, 460), ("Scone", 240, 390), ("Lunch bowl", 890, 1490),
    ("Lemonade", 280, 420), ("Carrot cake", 340, 520), ("Pot of tea", 260, 390),
)  # fmt: skip
_PAPER = (
    ("Notebook A5", 290, 890), ("Gel pens", 350, 790), ("Paperback", 690, 1490),
    ("City map", 490, 990), ("Envelopes", 190, 420), ("Ink black", 990, 2490),
)  # fmt: skip
_BACKEREI = (
    ("Roggenbrot", 290, 560), ("Brezel", 80, 160), ("Apfelkuchen", 240, 420),
    ("Filterkaffee", 190, 320), ("Käsebrötchen", 220, 390), ("Butter", 190, 320),
)  # fmt: skip
_TECHNIK = (
    ("USB-Kabel", 690, 1990), ("Batterien AA", 390, 990), ("Tastatur", 2490, 7990),
    ("Druckerpapier", 490, 890), ("Steckdosenleiste", 990, 2490), ("Glühbirne", 290, 790),
)  # fmt: skip
_EPICERIE = (
    ("Baguette", 95, 160), ("Fromage de chèvre", 320, 790), ("Jus de pomme", 210, 390),
    ("Confiture", 290, 560), ("Café moulu", 420, 990), ("Savon", 190, 420),
)  # fmt: skip
_KISSA = (
    ("ブレンドコーヒー", 380, 620), ("たまごサンド", 520, 880), ("抹茶ケーキ", 450, 780),
    ("ナポリタン", 780, 1280), ("クリームソーダ", 520, 780), ("トースト", 280, 460),
)  # fmt: skip

VENDORS = (
    Vendor(
        name="Harrow Lane Grocers", market="gb", currency="GBP", symbol="£",
        address="14 Harrow Lane, Westbury", date_style="%d/%m/%Y", tax_rate=Decimal(20),
        items=_GROCERY, share=22, discount=0.15,
    ),
    Vendor(
        name="Pinefold Stationers", market="gb", currency="GBP", symbol="£",
        address="3 Arcade Row, Northwick", date_style="%d %b %Y", tax_rate=Decimal(20),
        items=_PAPER, share=16, ordered=0.05,
    ),
    Vendor(
        name="Quillby Hardware", market="us", currency="USD", symbol="$",
        address="880 Foundry Rd, Elmsport", date_style="%m/%d/%Y", tax_rate=Decimal("8.5"),
        items=_TOOLS, share=16, tax_included=False, discount=0.15,
    ),
    Vendor(
        name="Moss and Ember Coffee", market="us", currency="USD", symbol="$",
        address="27 Pier St, Elmsport", date_style="%b %d, %Y", tax_rate=Decimal("8.5"),
        items=_CAFE, share=18, tax_included=False, ordered=0.01,
    ),
    Vendor(
        name="Tallow Bridge Market", market="gb", currency="GBP", symbol="£",
        address="Tallow Bridge, Eastmere", date_style="%Y-%m-%d", tax_rate=Decimal(20),
        items=_GROCERY, share=16,
    ),
    Vendor(
        name="Copper Kettle Tearoom", market="gb", currency="GBP", symbol="£",
        address="1 Mill Yard, Westbury", date_style="%d/%m/%y", tax_rate=Decimal(20),
        items=_CAFE, share=8, footer=0.5,
    ),
    Vendor(
        name="Brindle Discount Store", market="gb", currency="GBP", symbol="£",
        address="Unit 6, Ringway Park", date_style="%d/%m/%Y", tax_rate=Decimal(20),
        items=_GROCERY, share=6, savings=0.35,
    ),
    Vendor(
        name="Lakehead Outfitters", market="us", currency="CAD", symbol="$",
        address="410 Portage Ave, Tamarack", date_style="%d/%m/%Y", tax_rate=Decimal(13),
        items=_TOOLS, share=2, tax_included=False,
    ),
    Vendor(
        name="Fennel and Rye", market="gb", currency="GBP", symbol="£",
        address="9 Canal Walk, Northwick", date_style="%d/%m/%y", tax_rate=Decimal(20),
        items=_CAFE, share=8, listed=False,
    ),
    Vendor(
        name="Cinder Alley Deli", market="us", currency="USD", symbol="$",
        address="5 Cinder Alley, Tamarack", date_style="%m/%d/%y", tax_rate=Decimal("8.5"),
        items=_CAFE, share=5, tax_included=False, listed=False,
    ),
    Vendor(
        name="Bäckerei Lindhagen", market="de", currency="EUR", symbol="€",
        address="Marktgasse 8, Oberfelden", date_style="%d.%m.%Y", tax_rate=Decimal(7),
        items=_BACKEREI, share=14, discount=0.08,
    ),
    Vendor(
        name="Technikmarkt Vossberg", market="de", currency="EUR", symbol="€",
        address="Industriestr. 41, Neuhafen", date_style="%d.%m.%Y", tax_rate=Decimal(19),
        items=_TECHNIK, share=12,
    ),
    Vendor(
        name="Getränke Ahlmann", market="de", currency="EUR", symbol="€",
        address="Am Speicher 2, Neuhafen", date_style="%d.%m.%y", tax_rate=Decimal(19),
        items=_BACKEREI, share=2, total_word="Zu zahlen",
    ),
    Vendor(
        name="Épicerie Sorbelle", market="fr", currency="EUR", symbol="€",
        address="12 rue des Tilleuls, Valmont", date_style="%d/%m/%Y", tax_rate=Decimal("5.5"),
        items=_EPICERIE, share=12,
    ),
    Vendor(
        name="Librairie du Vieux Quai", market="fr", currency="EUR", symbol="€",
        address="5 quai Haut, Valmont", date_style="%d/%m/%Y", tax_rate=Decimal(20),
        items=_PAPER, share=8,
    ),
    Vendor(
        name="喫茶青梅堂", market="jp", currency="JPY", symbol="¥", address="青葉町2-4-1",
        date_style="%Y年%m月%d日", tax_rate=Decimal(10), items=_KISSA, share=12,
    ),
    Vendor(
        name="森野文具店", market="jp", currency="JPY", symbol="¥", address="駅前通り1-7",
        date_style="reiwa", tax_rate=Decimal(10), items=_KISSA, share=5,
    ),
)  # fmt: skip

MARKET_SHARES = {"gb": 54, "us": 24, "de": 12, "fr": 5, "jp": 5}
"""Percent of receipts by market: some slices get plenty of labels, others not enough."""
