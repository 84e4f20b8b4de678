// How long items are looked at: only while the page is in view.

export class Clock {
  constructor(seconds, shown) {
    this.total = seconds;
    this.shown = shown;
    this.item = null;
    this.since = 0;
    document.addEventListener("visibilitychange", () => this.#settle());
    setInterval(() => this.#settle(), 5000);
    shown(this.total);
  }

  watch(item) {
    this.#settle();
    this.item = item;
    this.since = performance.now();
  }

  // Seconds that an item has been looked at, now and before.
  of(item) {
    this.#settle();
    return Math.round(item.seconds * 10) / 10;
  }

  #settle() {
    const now = performance.now();
    if (this.item && !this.hidden) {
      const passed = (now - this.since) / 1000;
      this.item.seconds += passed;
      this.total += passed;
      this.shown(this.total);
    }
    this.since = now;
    this.hidden = document.visibilityState === "hidden";
  }
}
