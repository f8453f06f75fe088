"""Checks the links of the built site: python docs/site/links.py FOLDER [--online]

Every link to a page, a picture, a script or a place on a page must lead somewhere in the folder; with --online addresses are asked too.
"""

import sys
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What rustdoc and pkgdown make they check themselves; what the theme brings is no page.
ELSEWHERE = ("rust", "r", "_static")


class Page(HTMLParser):
    """The links of a page, and the places on it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.places.add(value)
            if name in ("href", "src") and value and not (tag == "link" and ("rel", "canonical") in attrs):
                self.links.append(value)


def wrong(folder: Path) -> tuple[list[str], set[str], int]:
    """What leads nowhere, the addresses elsewhere, and how many links were looked at."""
    files = [path for path in folder.rglob("*.html") if path.relative_to(folder).parts[0] not in ELSEWHERE]
    pages = {path: Page(path.read_text("utf-8")) for path in files}
    bad, outside, count = [], set(), 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("data", "mailto", "javascript"):
                continue
            if parts.scheme or parts.netloc:
                outside.add(link.split("#")[0])
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                bad.append(f"{path.relative_to(folder)}: there is no {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                bad.append(f"{path.relative_to(folder)}: there is no place {link}")
    return bad, outside, count


def unreachable(address: str) -> str | None:
    try:
        request = urllib.request.Request(address, headers={"User-Agent": "bestset documentation"})
        urllib.request.urlopen(request, timeout=20).close()
    except Exception as error:
        return f"{address}: {error}"
    return None


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    bad, outside, count = wrong(folder)
    if "--online" in sys.argv:
        bad += [problem for address in sorted(outside) if (problem := unreachable(address))]
    print(f"{count} links within the site, {len(outside)} addresses elsewhere, {len(bad)} wrong")
    sys.exit("\n".join(bad) or 0)


if __name__ == "__main__":
    main()
