"""Find URLs in a text and judge their hosts; nothing is ever fetched or resolved."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from sureline.core.checks.scripts import is_invisible, mixed_script_words

# A scheme with an authority, or what browsers and renderers complete to one.
_URL = re.compile(
    r"(?:\b[a-zA-Z][a-zA-Z0-9+.-]{0,30}:[/\\]{2,3}|(?<=[(\"'=<\s])//|\bwww\.)[^\s<>\"'`{}|]*"
)
_START = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?[/\\]{2,3}")
# Browsers read a backslash as a slash.
_END = re.compile(r"[/?#\\]")
_LABEL = re.compile(r"(?!-)[^\W_](?:[\w-]{0,61}[^\W_])?")
_IPV4 = re.compile(r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.|$)){4}")
_IPV6 = re.compile(r"\[[0-9a-f:.]{2,45}\]")
_TRAILING = ".,;:!?)]*_~”’»"


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlHost:
    """A URL's host in lower case, or the reason why it is malformed."""

    url: str
    host: str
    fault: str | None


def url_hosts(text: str) -> Iterator[UrlHost]:
    """Yield every URL of a text with its host."""
    for found in _URL.finditer(text):
        url = found.group().rstrip(_TRAILING)
        yield _host_of(url)


def is_under(host: str, domain: str) -> bool:
    """Tell whether `host` is `domain` or one of its subdomains."""
    plain = normal_host(domain)
    return host == plain or host.endswith(f".{plain}")


def normal_host(host: str) -> str:
    """Write a host in lower case, without widths, a final dot, and with Punycode decoded."""
    folded = unicodedata.normalize("NFKC", host).casefold().replace("\u3002", ".")
    return ".".join(map(_decoded, folded.removesuffix(".").split(".")))


def _host_of(url: str) -> UrlHost:
    start = _START.match(url)
    rest = url[start.end() :] if start else url
    authority = _END.split(rest, maxsplit=1)[0]
    where, _, address = authority.rpartition("@")
    if where or "%" in address or "\\" in url:
        host = normal_host(address.partition(":")[0])
        return UrlHost(url=url, host=host, fault="a form that hides its host")
    name, port = authority, ""
    if not authority.endswith("]"):
        head, colon, tail = authority.rpartition(":")
        name, port = (head, tail) if colon else (authority, "")
    host = normal_host(name)
    return UrlHost(url=url, host=host, fault=_fault(name, host, port))


def _fault(name: str, host: str, port: str) -> str | None:
    """Say what is wrong with a host, or None."""
    if not host:
        return "no host"
    if port and not (port.isascii() and port.isdecimal() and int(port[:6]) <= 65535):
        return "a port that is none"
    if _IPV6.fullmatch(host):
        return None
    labels = host.split(".")
    if len(host) > 253 or not all(map(_LABEL.fullmatch, labels)):
        return "a host that is none"
    if labels[-1].isdecimal() or labels[-1].startswith("0x"):
        return None if _IPV4.fullmatch(host) else "a number for a host"
    if any(map(is_invisible, name)) or mixed_script_words(host):
        return "look-alike letters in the host"
    return None


def _decoded(label: str) -> str:
    """Decode a Punycode label (RFC 3492); what cannot be decoded stays as it is."""
    if not label.startswith("xn--") or len(label) > 63:
        return label
    try:
        return label[4:].encode("ascii").decode("punycode").casefold()
    except (UnicodeError, ValueError):
        return label
