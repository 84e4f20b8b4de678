"""Reading a page the way a browser does, with the standard library."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "img", "link", "hr", "input", "rect", "line", "path", "use"}


@dataclass
class Element:
    tag: str
    attrs: dict[str, str | None]
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def all(self, *tags):
        for child in self.children:
            if not tags or child.tag in tags:
                yield child
            yield from child.all(*tags)

    @property
    def text(self):
        return "".join([*self.texts, *(child.text for child in self.children)])


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = self.here = Element("#root", {})
        self.unclosed = []

    def handle_starttag(self, tag, attrs):
        element = Element(tag, dict(attrs), self.here)
        self.here.children.append(element)
        if tag not in VOID:
            self.here = element

    def handle_startendtag(self, tag, attrs):
        self.here.children.append(Element(tag, dict(attrs), self.here))

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if self.here.tag != tag:
            self.unclosed.append((self.here.tag, tag))
            return
        self.here = self.here.parent

    def handle_data(self, data):
        self.here.texts.append(data)


def parse(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.unclosed, f"tags closed out of order: {reader.unclosed[:3]}"
    assert reader.here is reader.root, f"not closed: {reader.here.tag}"
    return reader.root
