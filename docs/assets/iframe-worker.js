// A browser starts no worker on a page that was opened as a file. The search of the site then runs in a hidden frame
// instead, which looks like a worker to the rest of the page.
(() => {
  if (location.protocol !== "file:") return;

  const run = (page, url) =>
    new Promise((done, failed) => {
      const script = page.createElement("script");
      script.src = url;
      script.onload = done;
      script.onerror = failed;
      page.head.append(script);
    });

  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><title>search</title>";
      this.ready = new Promise((done) => {
        frame.onload = () => {
          const inside = frame.contentWindow;
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          inside.importScripts = async (...urls) => {
            for (const each of urls) await run(frame.contentDocument, each);
          };
          run(frame.contentDocument, new URL(url, location.href)).then(() => done(inside));
        };
      });
      document.body.append(frame);
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
  };

  window.Worker = window.IFrameWorker;
})();
