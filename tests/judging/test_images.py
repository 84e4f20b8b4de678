"""Images: the bytes that are sent, what is known of them, and every file that is refused."""

import base64
import hashlib
import io
import struct
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image
from tests.judging.corpora import picture

from voirdire.corpus.pictures import Broken, look_at, resized
from voirdire.errors import InputError, UsageError
from voirdire.judging.images import ImageStore
from voirdire.texts import text

KINDS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
LIMIT = 10**6


def put(folder, data, name="a.png"):
    (folder / name).write_bytes(data)
    return folder / name


def refused(store, path, key, **fields):
    with pytest.raises(InputError) as error:
        store.check({path: "tea"})
    assert error.value.key == f"material.{key}"
    assert error.value.fields["item"] == "tea"
    assert error.value.fields["file"] == str(path)
    assert {name: error.value.fields[name] for name in fields} == fields
    assert all(text(error.value.key, lang, **error.value.fields) for lang in ("en", "zh"))


def opened(data):
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        return image.copy()


@pytest.mark.parametrize("kind", KINDS)
def test_sent_byte_for_byte(tmp_path, kind):
    """The name says png; the bytes decide, and arrive unchanged."""
    data = picture(1, (24, 16), kind)
    path = put(tmp_path, data)
    store = ImageStore(tmp_path)
    facts = store.facts(path)
    digest = hashlib.sha256(data).hexdigest()
    assert base64.b64decode(store.encoded(path).base64) == data
    assert store.encoded(path).media_type == facts.media_type == KINDS[kind]
    assert (facts.sha256, facts.sent_sha256, store.sha256(path)) == (digest, digest, digest)
    assert (facts.width, facts.height, facts.sent_width, facts.sent_height) == (24, 16, 24, 16)
    assert (facts.n_bytes, facts.sent_bytes) == (len(data), len(data))


def test_a_jpeg_with_more_pictures_behind_it_is_a_jpeg(tmp_path):
    """Telephones write such files (MPO); the first picture is what is shown."""
    out = io.BytesIO()
    first, second = opened(picture(1)), opened(picture(2))
    first.save(out, "MPO", save_all=True, append_images=[second])
    store = ImageStore(tmp_path)
    path = put(tmp_path, out.getvalue(), "phone.jpg")
    assert store.facts(path).media_type == "image/jpeg"
    assert base64.b64decode(store.encoded(path).base64) == out.getvalue()


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_a_moving_image(tmp_path, kind):
    out = io.BytesIO()
    frames = [opened(picture(seed)) for seed in range(3)]
    frames[0].save(out, kind, save_all=True, append_images=frames[1:], duration=50)
    refused(ImageStore(tmp_path), put(tmp_path, out.getvalue()), "image_moving", count=3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [0.3, 0.6, 0.95])
def test_a_file_that_is_cut_off(tmp_path, kind, part):
    whole = picture(1, (200, 150), kind)
    refused(ImageStore(tmp_path), put(tmp_path, whole[: int(len(whole) * part)]), "image_broken")


def test_a_png_without_its_end(tmp_path):
    refused(ImageStore(tmp_path), put(tmp_path, picture(1)[:-12]), "image_broken")


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
@example(place=-1, bit=0)
@example(place=-9, bit=3)
def test_any_flipped_bit_of_a_png_is_found(place, bit):
    data = bytearray(picture(1))
    data[place % len(data)] ^= 1 << bit
    with pytest.raises(Broken) as error:
        look_at(bytes(data), LIMIT)
    assert error.value.why in ("image_broken", "image_kind", "image_large")


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF\x10\0\0\0WEBP"]),
)
def test_any_bytes_are_refused_in_words(noise, head):
    """Whatever Pillow makes of garbage, it becomes one of our errors (or, very rarely, an image)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = look_at(head + noise, LIMIT).media_type
        except Broken as fault:
            found = fault.why
    assert found in {*KINDS.values(), "image_kind", "image_broken", "image_large", "image_moving"}


@pytest.mark.parametrize(
    "data", [b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", picture(1, kind="BMP"), picture(1, kind="TIFF")]
)
def test_another_kind(tmp_path, data):
    refused(ImageStore(tmp_path), put(tmp_path, data), "image_kind")


def test_too_many_bytes(tmp_path):
    data = picture(1)
    refused(
        ImageStore(tmp_path, max_bytes=len(data) - 1),
        put(tmp_path, data),
        "image_heavy",
        count=len(data),
        limit=len(data) - 1,
    )
    assert ImageStore(tmp_path, max_bytes=len(data)).facts(tmp_path / "a.png").n_bytes == len(data)


def claimed(width, height):
    """A png of a few bytes whose header claims many pixels, with check sums that hold."""

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes(1000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize(("width", "height"), [(8000, 7000), (10_000, 10_000), (60_000, 60_000), (2**30, 2**30)])
def test_a_decompression_bomb(tmp_path, width, height):
    """Refused by the header; nothing of that size is decoded."""
    refused(ImageStore(tmp_path), put(tmp_path, claimed(width, height)), "image_large")


def test_pixels_at_the_limit(tmp_path):
    path = put(tmp_path, picture(1, (20, 10)))
    assert ImageStore(tmp_path, max_pixels=200).facts(path).width == 20
    refused(ImageStore(tmp_path, max_pixels=199), path, "image_large", width=20, height=10, limit=199)


def test_outside_the_folder(tmp_path):
    inner = tmp_path / "c"
    inner.mkdir()
    outer = put(tmp_path, picture(1))
    (inner / "link.png").symlink_to(outer)
    refused(ImageStore(inner), outer, "image_stray")
    refused(ImageStore(inner), inner / "link.png", "image_stray")
    refused(ImageStore(inner), inner / ".." / "a.png", "image_stray")
    assert ImageStore(inner, also=[tmp_path]).facts(outer).width == 24


def test_a_file_that_is_gone(tmp_path):
    refused(ImageStore(tmp_path), tmp_path / "none.png", "image_unreadable")
    (tmp_path / "folder.png").mkdir()
    refused(ImageStore(tmp_path), tmp_path / "folder.png", "image_unreadable")


def test_the_first_bad_image_in_order(tmp_path):
    """Whatever thread finds it: errors do not depend on chance."""
    paths = {put(tmp_path, picture(k) if k % 7 else b"bad", f"{k:02}.png"): f"i{k}" for k in range(1, 40)}
    for _ in range(5):
        with pytest.raises(InputError) as error:
            ImageStore(tmp_path).check(paths)
        assert error.value.fields["item"] == "i7"


def test_every_file_is_read_once_by_check(tmp_path, monkeypatch):
    paths = [put(tmp_path, picture(k), f"{k}.png") for k in range(6)]
    store, seen, done = ImageStore(tmp_path), [], []
    read = store._read
    monkeypatch.setattr(store, "_read", lambda path: seen.append(path) or read(path))
    store.check([*paths, *paths], done.append)
    store.check(paths, done.append)
    assert (sorted(seen), done) == (sorted(paths), [1, 2, 3, 4, 5, 6])
    assert [store.facts(path).width for path in paths] == [24] * 6
    assert len(seen) == 6


def test_encoded_once_while_it_is_kept(tmp_path, monkeypatch):
    path, store = put(tmp_path, picture(1)), ImageStore(tmp_path)
    first = store.encoded(path)
    monkeypatch.setattr(store, "_read", lambda path: pytest.fail("read again"))
    assert all(store.encoded(path) is first for _ in range(5))


def test_the_least_recently_used_goes_first(tmp_path):
    paths = [put(tmp_path, picture(k), f"{k}.png") for k in range(4)]
    size = max(len(ImageStore(tmp_path).encoded(path).base64) for path in paths)
    store = ImageStore(tmp_path, cache_bytes=3 * size)
    first, second, third = (store.encoded(path) for path in paths[:3])
    assert store.encoded(paths[0]) is first
    store.encoded(paths[3])
    assert store.encoded(paths[0]) is first
    assert store.encoded(paths[2]) is third
    again = store.encoded(paths[1])
    assert again is not second
    assert again == second


@given(sizes=st.lists(st.integers(1, 60), min_size=1, max_size=30), budget=st.integers(0, 20_000))
def test_the_cache_never_holds_more_than_it_may(tmp_path_factory, sizes, budget):
    folder = tmp_path_factory.mktemp("c")
    store = ImageStore(folder, cache_bytes=budget)
    for side in sizes:
        path = folder / f"{side}.png"
        if not path.exists():
            path.write_bytes(picture(side, (side, side)))
        assert base64.b64decode(store.encoded(path).base64) == path.read_bytes()
        assert store.cached_bytes == sum(len(one.base64) for one in store._cache.values()) <= budget


def test_a_file_that_changed_since_it_was_checked(tmp_path):
    path = put(tmp_path, picture(1))
    store = ImageStore(tmp_path)
    store.check([path])
    put(tmp_path, picture(2))
    with pytest.raises(InputError) as error:
        store.encoded(path)
    assert error.value.key == "material.image_changed"


@pytest.mark.parametrize(
    ("kind", "media"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/png"), ("GIF", "image/png")]
)
def test_a_resize_is_in_the_facts(tmp_path, kind, media):
    data = picture(1, (100, 50), kind)
    path = put(tmp_path, data)
    store = ImageStore(tmp_path, resize=40)
    facts, sent = store.facts(path), base64.b64decode(store.encoded(path).base64)
    assert (facts.width, facts.height, facts.sent_width, facts.sent_height) == (100, 50, 40, 20)
    assert opened(sent).size == (40, 20)
    assert facts.sha256 == hashlib.sha256(data).hexdigest()
    assert facts.sent_sha256 == hashlib.sha256(sent).hexdigest() != facts.sha256
    assert (facts.n_bytes, facts.sent_bytes) == (len(data), len(sent))
    assert store.encoded(path).media_type == facts.media_type == media


def test_a_resize_is_the_same_every_time(tmp_path):
    path = put(tmp_path, picture(1, (100, 50), "JPEG"))
    kept, never = ImageStore(tmp_path, resize=40), ImageStore(tmp_path, resize=40, cache_bytes=0)
    assert kept.encoded(path) == never.encoded(path) == never.encoded(path)
    assert kept.facts(path) == never.facts(path)


def test_small_images_are_not_touched_by_a_resize(tmp_path):
    data = picture(1, (40, 30), "WEBP")
    path = put(tmp_path, data)
    store = ImageStore(tmp_path, resize=40)
    assert base64.b64decode(store.encoded(path).base64) == data
    assert store.facts(path).media_type == "image/webp"


def test_a_resize_that_leaves_nothing(tmp_path):
    with pytest.raises(UsageError) as error:
        ImageStore(tmp_path, resize=0)
    assert error.value.key == "material.resize_small"
    assert text(error.value.key, "zh", **error.value.fields)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("1", "RGB"), ("L", "L"), ("LA", "LA"), ("P", "RGB"), ("RGB", "RGB"), ("RGBA", "RGBA"), ("I;16", "L")],
)
def test_every_kind_of_png_can_be_resized(mode, expected):
    grey = np.tile(np.linspace(0, 255, 64, dtype=np.uint8), (32, 1))
    image = Image.fromarray(grey.astype(np.uint16) * 257) if mode == "I;16" else Image.fromarray(grey).convert(mode)
    out = io.BytesIO()
    image.save(out, "PNG")
    small = opened(resized(out.getvalue(), 32, LIMIT).data)
    assert (small.mode, small.size) == (expected, (32, 16))
    assert abs(np.asarray(small.convert("L"), dtype=float).mean() - grey.mean()) < 3


def test_a_resize_turns_the_picture_upright_and_keeps_its_colours():
    exif = Image.Exif()
    exif[0x0112] = 6
    out = io.BytesIO()
    opened(picture(1, (80, 40))).save(out, "JPEG", exif=exif, icc_profile=b"profile")
    small = opened(resized(out.getvalue(), 20, LIMIT).data)
    assert small.size == (10, 20)
    assert small.info["icc_profile"] == b"profile"
    assert 0x0112 not in small.getexif()


def test_cmyk():
    out = io.BytesIO()
    opened(picture(1, (80, 40))).convert("CMYK").save(out, "JPEG")
    assert opened(resized(out.getvalue(), 20, LIMIT).data).mode == "RGB"


@pytest.mark.slow
def test_a_whole_corpus_of_images_is_checked_quickly_in_flat_memory(tmp_path):
    """626 images of 163 kB, as in the paper's corpus: seconds, and no more memory than the cache."""
    import time
    import tracemalloc

    rng = np.random.default_rng(0)
    for k in range(626):
        pixels = rng.integers(0, 255, (233, 233, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{k}.png", compress_level=0)
    paths = sorted(tmp_path.iterdir())
    store = ImageStore(tmp_path)
    tracemalloc.start()
    began = time.process_time()
    store.check(paths)
    checked = time.process_time() - began
    for path in paths:
        store.encoded(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert checked < 5
    assert peak < 28 * 2**20
    assert 23 * 2**20 < store.cached_bytes <= 24 * 2**20
    store.forget()
    assert store.cached_bytes == 0
    assert base64.b64decode(store.encoded(paths[0]).base64) == paths[0].read_bytes()
