"""Letters that pass for Latin ones: of other scripts, and rare ones of the Latin script.

A selection from the confusables of Unicode Technical Standard 39: what a whole name can be written
in. Signs that look alike within ASCII (I and l, 0 and O) are left apart: people see those daily.
"""

from __future__ import annotations

from collections.abc import Mapping

_BY_LATIN = {
    # Cyrillic, Greek, Armenian, phonetic and small capital letters
    "a": "\u0430\u03b1\u0251\u1d00",
    "b": "\u044c\u0184",
    "c": "\u0441\u03f2\u1d04\u2ca5",
    "d": "\u0501",
    "e": "\u0435\u212e",
    "g": "\u0581\u0261\u018d",
    "h": "\u04bb\u0570",
    "i": "\u0456\u03b9\u0131\u0269\u04cf",
    "j": "\u0458\u03f3\u0575",
    "k": "\u043a\u03ba\u1d0b\u0138",
    "n": "\u0578\u057c\u03b7",
    "o": "\u043e\u03bf\u0585\u1d0f\u2c9f\u03c3",
    "p": "\u0440\u03c1\u2ca3\u03f1",
    "q": "\u051b\u0566",
    "r": "\u0433\u1d26\u2c85",
    "s": "\u0455\ua731\u01bd",
    "t": "\u03c4\u1d1b\u0442",
    "u": "\u03c5\u057d\u1d1c\u028b",
    "v": "\u03bd\u0475\u1d20",
    "w": "\u051d\u0461\u1d21\u026f",
    "x": "\u0445\u03c7",
    "y": "\u0443\u03b3\u04af\u0263",
    "z": "\u1d22",
    # the same and Cherokee and Lisu, which have the shapes of capitals
    "A": "\u0410\u0391\u13aa\ua4ee",
    "B": "\u0412\u0392\u13f4\ua4d0",
    "C": "\u0421\u03f9\u13df\ua4da\u2ca4",
    "D": "\u13a0\ua4d3",
    "E": "\u0415\u0395\u13ac\ua4f0",
    "F": "\u03dc\ua4dd",
    "G": "\u050c\u13c0\ua4d6",
    "H": "\u041d\u0397\u13bb\ua4e7\u2c8e",
    "I": "\u0406\u0399\u04c0\ua4f2\u2c92",
    "J": "\u0408\u037f\u13ab\ua4d9",
    "K": "\u041a\u039a\u13e6\ua4d7\u2c94",
    "L": "\u13de\ua4e1\u2cd0",
    "M": "\u041c\u039c\u13b7\ua4df\u2c98",
    "N": "\u039d\ua4e0\u2c9a",
    "O": "\u041e\u039f\u0555\ua4f3\u2c9e",
    "P": "\u0420\u03a1\u13e2\ua4d1\u2ca2",
    "R": "\u13a1\u13d2\ua4e3",
    "S": "\u0405\u054f\u13da\ua4e2",
    "T": "\u0422\u03a4\u13a2\ua4d4\u2ca6",
    "U": "\u054d\ua4f4",
    "V": "\u0474\u13d9\ua4e6",
    "W": "\u051c\u13b3\u13d4\ua4ea",
    "X": "\u0425\u03a7\ua4eb\u2cac",
    "Y": "\u0423\u03a5\u13bd\ua4ec\u04ae\u2ca8",
    "Z": "\u0396\u13c3\ua4dc",
}

LOOK_ALIKES: Mapping[int, str] = {
    ord(other): latin for latin, others in _BY_LATIN.items() for other in others
}
"""By code point, for `str.translate`."""
