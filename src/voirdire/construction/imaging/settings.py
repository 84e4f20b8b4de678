"""``[images]`` of ``build.toml``: which model draws, under which parameters, from which sentence.

::

    [images]
    provider = "gemini"                     # gemini, openai, compatible, folder
    model = "gemini-3-pro-image-preview"
    aspect_ratio = "1:1"
    size = "1K"                             # 1K, 2K, 4K, auto; for openai and compatible also 1024x1024, ...
    template.en = "A photograph of {realisation}, eye level, soft daylight."
    language = "en"                         # of the template, where it has several
    price = 0.134                           # US dollars for an image, for the budget
    parameters = { quality = "high" }       # whatever else is sent, as the provider calls it

Everything here is the same for all images of a regime. Of the table of concepts only ``{realisation}`` may differ
between the members of a pair; ``{concept}`` and ``{category}`` are shared by them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isclose, sqrt
from pathlib import Path
from typing import Any

from voirdire.annotation.study_entries import Entries, shown
from voirdire.annotation.study_writing import comment_lines, commented, string
from voirdire.construction.build_file import BuildFile
from voirdire.construction.concepts import ConceptItem
from voirdire.corpus.shown import UNKNOWN_LANGUAGE
from voirdire.errors import InputError, UsageError
from voirdire.texts import LANGUAGES, text

PROVIDERS = ("gemini", "openai", "compatible", "folder")
CATALOGUED: Mapping[str, str] = {"gemini": "google", "openai": "openai", "compatible": "compatible"}
"""The provider of the catalogue, with its address and the names of its keys."""

FIELDS = ("realisation", "concept", "category")
GENERATED = "generated"
TEXT = "text"
"""The name that stands for no images at all: the realisations in words are what is rated."""

AUTO = "auto"
"""The size of models that take none."""
DEFAULT_MODEL = "gemini-3-pro-image-preview"
EXAMPLE = '[images] template.en = "A photograph of {realisation}, eye level, soft daylight, plain background."'
GEMINI_SIZES, PIXEL_SIZES = "1K, 2K, 4K, auto", "1K, 1024x1024, 1536x1024"
RESERVED = ("model", "prompt", "n", "contents", "stream")
REGIME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?")
_FIELD = re.compile(r"\{([^{}]*)\}")
_RATIO = re.compile(r"([1-9]\d?):([1-9]\d?)")
_THOUSANDS = re.compile(r"(0\.5|[1248])K")
_PIXELS = re.compile(r"([1-9]\d{1,4})x([1-9]\d{1,4})")


@dataclass(frozen=True, slots=True)
class Frame:
    """The form that images are asked for.

    ratio : width by height; pixels : width and height where both were named, else None
    side : square root of the pixels of an image that has as many as were asked for; None where the model decides
    """

    ratio: float
    side: float | None
    pixels: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ImageSettings:
    """How the images of a regime are made.

    provider : of PROVIDERS; model : as the provider calls it, empty for a folder
    template, language : the sentence with ``{realisation}``, and its language
    parameters : sent besides, as the provider calls them; base_url : instead of the provider's own
    price : US dollars for an image, or None; source : the folder of photographs
    """

    provider: str = "gemini"
    model: str = DEFAULT_MODEL
    aspect_ratio: str = "1:1"
    size: str = "1K"
    template: str = ""
    language: str = UNKNOWN_LANGUAGE
    regime: str = GENERATED
    parameters: Mapping[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    price: float | None = None
    source: Path | None = None

    @property
    def maker(self) -> str:
        """Who makes the images, as it stands in the ledger: ``gemini/gemini-3-pro-image-preview``, ``folder``."""
        return self.provider if self.provider == "folder" else f"{self.provider}/{self.model}"

    @property
    def frame(self) -> Frame | None:
        """The form that was asked for; None for photographs, which have their own."""
        if self.provider == "folder":
            return None
        if found := _PIXELS.fullmatch(self.size):
            width, height = int(found[1]), int(found[2])
            return Frame(width / height, sqrt(width * height), (width, height))
        side = None if self.size == AUTO else 1024 * float(self.size.removesuffix("K"))
        return Frame(ratio_of(self.aspect_ratio), side)

    def sent(self) -> dict[str, Any]:
        """The parameters of every request, in the words of the wire format."""
        own = dict(self.parameters)
        if self.provider != "gemini":
            return {"size": self.size, **own}
        config = {"responseModalities": ["IMAGE"], **own.pop("generationConfig", {})}
        size = {} if self.size == AUTO else {"imageSize": self.size}
        config["imageConfig"] = {"aspectRatio": self.aspect_ratio, **size}
        return {"generationConfig": config, **own}


def read_settings(build: BuildFile) -> ImageSettings:
    """The settings that ``build.toml`` gives for generated images. Raises InputError for what cannot stand there."""
    entries = build.section("images")
    usual = ImageSettings()
    template, language = _template(entries, build)
    settings = ImageSettings(
        provider=entries.choice("provider", PROVIDERS[:3], usual.provider) or usual.provider,
        model=entries.text("model", usual.model),
        aspect_ratio=entries.text("aspect_ratio", usual.aspect_ratio),
        size=entries.text("size", usual.size),
        template=template,
        language=language,
        parameters=_parameters(entries),
        price=entries.number("price"),
    )
    entries.close()
    return settings


def overruled(settings: ImageSettings, **given: Any) -> ImageSettings:
    """Settings with what the command line says instead; None is not said.

    >>> made = overruled(ImageSettings(), provider="openai", model="gpt-image-1", size=None)
    >>> made.maker, made.size
    ('openai/gpt-image-1', '1K')
    """
    said = {name: value for name, value in given.items() if value is not None}
    if said.get("provider", settings.provider) != settings.provider and "model" not in said:
        said["model"] = ""
    return replace(settings, **said)


def check_settings(settings: ImageSettings, file: str) -> ImageSettings:
    """Settings that can be used, with a size that the provider knows.

    Raises UsageError and InputError for a provider, a model, a form, a price or a template that cannot be.
    """
    if settings.provider not in PROVIDERS:
        raise UsageError("build_images.provider", value=settings.provider, known=", ".join(PROVIDERS))
    if not REGIME.fullmatch(settings.regime):
        raise UsageError("build_images.regime", value=settings.regime)
    if settings.regime.casefold() == TEXT:
        raise UsageError("regimes.text_reserved", value=settings.regime)
    if settings.price is not None and not settings.price >= 0:
        raise UsageError("build_images.price", value=settings.price)
    if settings.provider == "folder":
        return settings
    if not settings.model:
        raise UsageError("build_images.model", provider=settings.provider)
    for name in RESERVED:
        if name in settings.parameters:
            raise InputError("build_images.parameter", file=file, value=name)
    _check_template(settings.template, file)
    return replace(settings, size=_size(settings))


def ratio_of(aspect_ratio: str) -> float:
    """Width by height. Raises UsageError for what is not two whole numbers with a colon.

    >>> ratio_of("16:9")
    1.7777777777777777
    """
    found = _RATIO.fullmatch(aspect_ratio)
    if found is None:
        raise UsageError("build_images.aspect_ratio", value=aspect_ratio)
    return int(found[1]) / int(found[2])


def worded(template: str, item: ConceptItem) -> str:
    """What is asked for an item. Braces in the table of concepts are text.

    >>> worded("A photograph of {realisation}.", ConceptItem("tea-us", "tea", "food", "us", "iced {tea}"))
    'A photograph of iced {tea}.'
    """
    own = {"realisation": item.realisation, "concept": item.concept, "category": item.category}
    return _FIELD.sub(lambda found: own[found[1]], template)


def images_lines(language: str, lang: str) -> Iterator[str]:
    """``[images]`` of a build.toml to begin with: a template in a language that the catalogue has, else in English.

    lang : of the comment
    """
    own = language if language in LANGUAGES else "en"
    yield ""
    yield from comment_lines(text("build_images.begin.comment", lang))
    yield from ("[images]", f"template.{own} = {string(text('build_images.begin.template', own))}")
    usual = ImageSettings()
    form = (f"aspect_ratio = {string(usual.aspect_ratio)}", f"size = {string(usual.size)}")
    yield from commented((f"model = {string(usual.model)}", *form, "price = 0.134"))


def _check_template(template: str, file: str) -> None:
    if not template:
        raise InputError("build_images.template_missing", file=file, known=EXAMPLE)
    for name in _FIELD.findall(template):
        if name not in FIELDS:
            raise InputError("build_images.template_field", file=file, value=name, known=", ".join(FIELDS))
    if "{realisation}" not in template or re.search(r"[{}]", _FIELD.sub("", template)):
        raise InputError("build_images.template_realisation", file=file, value=template)


def _size(settings: ImageSettings) -> str:
    """The size in the provider's words: 1K becomes 1024x1024 and the like where pixels are named."""
    ratio, size = ratio_of(settings.aspect_ratio), settings.size
    named = _PIXELS.fullmatch(size)
    if settings.provider == "gemini":
        if size != AUTO and not _THOUSANDS.fullmatch(size):
            raise UsageError("build_images.size", provider=settings.provider, value=size, known=GEMINI_SIZES)
        return size
    if named is None and _THOUSANDS.fullmatch(size):
        short = round(1024 * float(size.removesuffix("K")))
        return f"{round(short * max(1.0, ratio))}x{round(short * max(1.0, 1 / ratio))}"
    if named is None:
        raise UsageError("build_images.size", provider=settings.provider, value=size, known=PIXEL_SIZES)
    if not isclose(int(named[1]) / int(named[2]), ratio, rel_tol=0.01):
        raise UsageError("build_images.size_ratio", value=size, ratio=settings.aspect_ratio)
    return size


def _template(entries: Entries, build: BuildFile) -> tuple[str, str]:
    texts = entries.texts("template")
    language = entries.text("language")
    if language and language not in texts:
        raise InputError(
            "build_images.template_language", file=build.file, value=language, known=", ".join(texts) or "-"
        )
    if not texts:
        return "", UNKNOWN_LANGUAGE
    first = language or next((code for code in build.languages if code in texts), next(iter(texts)))
    return texts[first], first


def _parameters(entries: Entries) -> Mapping[str, Any]:
    value = entries.table["parameters"] if entries.has("parameters") else {}
    if not isinstance(value, Mapping):
        known = '{ quality = "high" }'
        raise entries.where.error("kind", entry="parameters", value=shown(value), known=known)
    return dict(value)
