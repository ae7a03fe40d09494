// Counts that move: one stream for all tabs of a browser, and asking now and then where there is
// none. The tab that holds the lock reads the stream and tells the others.
"use strict";
{
  const counts = document.getElementById("counts");
  const tabs = document.getElementById("tabs");
  const EVERY = 10_000; // between two questions without a stream, and two counts of the tabs
  const AGAIN = 60_000; // before a stream that was refused is tried again
  const LOCK = "sureline.live";
  const channel = new BroadcastChannel(LOCK);
  let source = null;
  let heard = 0; // when this tab last heard of the counts
  let last = null; // what it heard
  let counted = -EVERY; // when the tabs were last counted
  let waits = false;

  const put = (element, text) => {
    // Our own server's part of this page, escaped there. Nothing moves under somebody's finger.
    if (!element.contains(document.activeElement)) element.innerHTML = text;
  };
  const part = async (address) => {
    try {
      const answer = await fetch(address, { redirect: "error" });
      return answer.ok ? await answer.text() : null;
    } catch {
      return null; // the next try comes by itself
    }
  };

  const countTabs = async () => {
    if (waits) return;
    waits = true;
    await new Promise((done) => setTimeout(done, Math.max(0, counted + EVERY - performance.now())));
    waits = false;
    if (document.visibilityState !== "visible") return;
    counted = performance.now();
    const text = await part(tabs.dataset.from);
    if (text !== null) put(tabs, text);
  };
  const hear = (text) => {
    heard = performance.now();
    if (text === last) return;
    last = text;
    put(counts, text);
    countTabs();
  };

  const stop = () => {
    if (source) source.close();
    source = null;
  };
  // Resolves when the stream is over for good; a connection that breaks is opened again by itself.
  const stream = () =>
    new Promise((done) => {
      source = new EventSource("/events");
      source.addEventListener("counts", (event) => {
        hear(event.data);
        channel.postMessage(event.data);
      });
      source.addEventListener("end", () => {
        stop();
        done();
      });
      source.addEventListener("error", () => {
        if (source && source.readyState === EventSource.CLOSED) done();
      });
    });
  const pause = () => new Promise((done) => setTimeout(done, AGAIN));

  channel.addEventListener("message", (event) => hear(event.data));
  if (navigator.locks) {
    navigator.locks.request(LOCK, async () => {
      for (;;) {
        await stream();
        await pause();
      }
    });
  } else {
    // Without TLS there are no locks: then each tab that is in sight has a stream of its own.
    const look = () => {
      stop();
      if (document.visibilityState === "visible") stream();
    };
    document.addEventListener("visibilitychange", look);
    look();
  }
  window.addEventListener("pagehide", stop);

  setInterval(async () => {
    if (source && source.readyState === EventSource.OPEN) {
      if (last !== null) channel.postMessage(last); // all is well, other tabs need not ask
      return;
    }
    if (document.visibilityState !== "visible") return;
    if (performance.now() - heard < 2 * EVERY) return; // another tab has a stream and tells
    const text = await part("/counts");
    if (text !== null) hear(text);
  }, EVERY);
  countTabs();
}
