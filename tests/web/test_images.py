"""Images of items: who gets them, and by which addresses."""

from __future__ import annotations

import re

import pytest
from tests.web.corpora import build
from tests.web.running import InProcess

from voirdire.annotation.batches import create_batch
from voirdire.annotation.nouns import BatchSpec


@pytest.fixture
def us(here, client):
    """A rater of the pool us, who has joined."""
    client.join(here.link("us"))
    client.session()
    return client


def test_images_have_addresses_that_tell_nothing(us, inside):
    urls = {item["image"]["url"] for item in us.items()}
    assert len(urls) == 12
    assert all(re.fullmatch(r"/images/[0-9a-f]{24}", url) for url in urls)


def test_another_database_gives_other_addresses(us, corpus, tmp_path):
    with InProcess(corpus, f"sqlite:///{tmp_path / 'other.sqlite'}") as other:
        visitor = other.here.visitor()
        visitor.join(other.here.link("us"))
        assert not {item["image"]["url"] for item in visitor.items()} & {item["image"]["url"] for item in us.items()}


def test_an_image_comes_with_its_own_type_and_its_own_bytes(us, inside):
    shown = inside.service.shown
    files = {inside.service.image_key(name): shown.image(name).read_bytes() for name in shown.items}
    for item in us.items():
        told = us.http.get(item["image"]["url"])
        assert told.status_code == 200
        assert told.headers["content-type"] == "image/png"
        assert told.headers["x-content-type-options"] == "nosniff"
        assert told.content == files[item["image"]["url"].rsplit("/", 1)[1]]


def test_the_type_follows_the_bytes_and_not_the_name(tmp_path):
    corpus = build(tmp_path / "jpeg")
    from PIL import Image

    for file in (corpus / "images").glob("*.png"):
        Image.open(file).convert("RGB").save(file, "JPEG")
    with InProcess(corpus, f"sqlite:///{tmp_path / 'jpeg.sqlite'}") as running:
        visitor = running.here.visitor()
        visitor.join(running.here.link("us"))
        assert visitor.http.get(visitor.items()[0]["image"]["url"]).headers["content-type"] == "image/jpeg"


def test_images_are_kept_by_the_browser_alone_and_asked_for_again_by_their_mark(us):
    url = us.items()[0]["image"]["url"]
    told = us.http.get(url)
    assert told.headers["cache-control"] == "private, max-age=3600"
    again = us.http.get(url, headers={"if-none-match": told.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert us.http.get(url, headers={"if-none-match": '"other"'}).status_code == 200


def test_without_a_session_there_is_no_image(here, us):
    url = us.items()[0]["image"]["url"]
    assert here.visitor().http.get(url).status_code == 401


@pytest.mark.parametrize(
    "key", ["0" * 24, "bowl-us", "..%2f..%2fitems.csv", "%2e%2e/items.csv", "bowl-us.png", "%00", "x" * 3000]
)
def test_names_and_paths_lead_nowhere(us, key):
    assert us.http.get(f"/images/{key}").status_code == 404


def test_an_image_of_an_item_outside_the_batch_is_not_shown(here, inside, us):
    first = inside.service.shown.items["bowl-us"].id
    spec = BatchSpec("small", inside.service.study, (first,))
    here.batch = create_batch(here.database, spec, 0.0).id
    other = here.visitor()
    other.join(here.link("us"))
    assert other.http.get(f"/images/{inside.service.image_key('bowl-us')}").status_code == 200
    assert other.http.get(f"/images/{inside.service.image_key('bowl-cn')}").status_code == 404
    assert us.http.get(f"/images/{inside.service.image_key('bowl-cn')}").status_code == 200


def test_a_file_that_is_no_image_any_more_is_not_sent(us, inside):
    item = us.items()[0]
    key = item["image"]["url"].rsplit("/", 1)[1]
    name = inside.service.item_of_image(key)
    inside.service.shown.image(name).write_text("<script>alert(1)</script>", encoding="utf-8")
    assert us.http.get(item["image"]["url"]).status_code == 404
    assert us.http.get("/rate").status_code == 200


def test_a_file_that_is_gone_is_not_found(us, inside):
    item = us.items()[0]
    inside.service.shown.image(inside.service.item_of_image(item["image"]["url"].rsplit("/", 1)[1])).unlink()
    assert us.http.get(item["image"]["url"]).status_code == 404
