// Requests to the service. A status of 0 means that no answer came: the network is away.

export const PATIENCE = 20000;

export class Api {
  constructor(root, csrf, language) {
    this.root = root;
    this.csrf = csrf;
    this.language = language;
  }

  get(path) {
    return this.#ask(path, { method: "GET" });
  }

  post(path, body, keepalive = false) {
    const headers = { "content-type": "application/json", "x-csrf-token": this.csrf };
    return this.#ask(path, { method: "POST", headers, body: JSON.stringify(body), keepalive });
  }

  async #ask(path, options) {
    try {
      const signal = AbortSignal.timeout(PATIENCE);
      const headers = { ...options.headers, "accept-language": this.language };
      const response = await fetch(this.root + path, { ...options, headers, signal, credentials: "same-origin" });
      const pause = Number(response.headers.get("retry-after")) || 0;
      return { status: response.status, body: await response.json(), pause };
    } catch {
      return { status: 0, body: null, pause: 0 };
    }
  }
}

export function pauseAfter(failures) {
  const seconds = Math.min(30, 2 ** Math.min(failures, 5) / 2);
  return 1000 * seconds * (0.8 + 0.4 * Math.random());
}
