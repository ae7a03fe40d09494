// Counts what waits again every few seconds, while the page is in sight.
"use strict";
{
  const counts = document.getElementById("counts");
  const EVERY = 10_000;
  const ask = async () => {
    if (document.visibilityState !== "visible" || counts.contains(document.activeElement))
      return;
    try {
      const answer = await fetch("/counts", { redirect: "error" });
      if (answer.ok) counts.innerHTML = await answer.text(); // our own page's part, escaped there
    } catch {
      // the next try comes by itself
    }
  };
  setInterval(ask, EVERY);
}
