// The rater's items: those around the one that is shown, with their images, so that the network may be away for a while.

import { pauseAfter } from "./api.js";

export class Items {
  constructor(api, first, ahead, pendingOf) {
    this.api = api;
    this.ahead = ahead;
    this.pendingOf = pendingOf;
    this.known = new Map();
    this.images = new Map();
    this.loading = null;
    this.take(first);
  }

  take(told) {
    this.total = told.total;
    for (const item of told.items) {
      const held = this.known.get(item.number);
      if (held && held.assignment === item.assignment) continue;
      item.saved = structuredClone(item.answers);
      for (const [question, entry] of this.pendingOf(item.assignment)) {
        item.answers[question] = { value: entry.value, comment: entry.comment };
      }
      this.known.set(item.number, item);
    }
  }

  at(number) {
    return this.known.get(number);
  }

  of(assignment) {
    return [...this.known.values()].find((item) => item.assignment === assignment);
  }

  // Load items and images around a number; false when that did not work.
  async prepare(number) {
    if (this.loading) await this.loading;
    const missing = this.#missing(number);
    if (missing) {
      this.loading = this.#fetch(missing);
      const came = await this.loading;
      this.loading = null;
      if (!came) return false;
    }
    for (let near = number; near <= Math.min(number + this.ahead, this.total); near += 1) this.image(this.at(near));
    this.#forget(number);
    return true;
  }

  // The image element of an item, loaded once and kept, so that showing it again needs no network.
  image(item) {
    if (!item?.image) return null;
    if (!this.images.has(item.assignment)) this.images.set(item.assignment, picture(item.image));
    return this.images.get(item.assignment);
  }

  #missing(number) {
    const last = Math.min(number + this.ahead, this.total);
    let start = number;
    while (start <= last && this.known.has(start)) start += 1;
    return start > last ? null : { start, count: last - start + 1 };
  }

  async #fetch({ start, count }) {
    const { status, body } = await this.api.get(`/api/items?start=${start}&count=${count}`);
    if (status === 200) this.take(body);
    return status === 200;
  }

  #forget(number) {
    for (const [place, item] of this.known) {
      if (Math.abs(place - number) > this.ahead + 2) this.images.delete(item.assignment);
    }
  }
}

function picture({ url, width, height, alt }) {
  const image = new Image(width, height);
  let failures = 0;
  image.alt = alt;
  image.decoding = "async";
  image.addEventListener("error", () => {
    failures += 1;
    setTimeout(() => { image.src = url; }, pauseAfter(failures));
  });
  image.src = url;
  return image;
}
