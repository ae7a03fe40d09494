// Holds on to an item while somebody works on it, says when that failed, gives it back when they
// leave it untouched, and counts the seconds in which the page was in sight.
"use strict";
{
  const form = document.getElementById("verdict");
  const live = document.getElementById("live");
  const STEP = 1000;
  const READ = 10; // seconds in sight after which a claim that nobody asked for is held on to
  let seconds = 0;
  let since = 0; // seconds since the claim was last renewed
  let active = false; // something was pressed or moved since then
  let held = form && form.dataset.mine !== undefined;
  let lost = false;
  let begun = false; // the page has held on to it
  let sent = false; // a form goes: the server does what is to be done
  let left = false; // it was given back

  // Whoever pressed Claim keeps the item, and whoever typed; both are known in this tab.
  const claimed = form && `sureline.draft.${form.dataset.draft}.claimed`;
  const isTouched = () =>
    sessionStorage.getItem(claimed) !== null ||
    [...form.querySelectorAll("[data-was], #comment, #own")].some(
      (input) => input.value !== (input.dataset.was ?? ""),
    );

  const complain = (words) => {
    lost = true;
    const line = document.createElement("p");
    line.className = "problem";
    line.setAttribute("role", "alert");
    line.textContent = words;
    document.getElementById("main").prepend(line);
  };

  const hold = async () => {
    since = 0;
    active = false;
    begun = true;
    const body = new URLSearchParams({ csrf: form.elements.csrf.value });
    try {
      const answer = await fetch(form.dataset.hold, { method: "POST", body, redirect: "manual" });
      if (answer.ok) {
        if (!held) live.textContent = "The item is claimed by you.";
        held = true;
      } else if (answer.type === "opaqueredirect") {
        complain("You are signed out. What you typed is kept in this tab; sign in again.");
      } else {
        complain(`${await answer.text()}. What you typed is kept in this tab.`);
      }
    } catch {
      live.textContent = "The server cannot be reached.";
    }
  };

  const leave = () => {
    if (!held || lost || sent || isTouched()) return;
    const { csrf } = form.elements;
    const body = new URLSearchParams({ csrf: csrf.value, in: form.elements.in.value });
    left = navigator.sendBeacon(form.dataset.leave, body);
  };

  // Forms that lead elsewhere give the item in front back, unless somebody has begun with it.
  const tell = (event) => {
    const going = event.target;
    if (going.method === "dialog" || event.defaultPrevented) return;
    sent = true;
    const { leaving, keep } = going.elements;
    if (!leaving || !isTouched()) return;
    if (keep) keep.value = "1";
    else leaving.value = "";
  };

  if (form) {
    for (const name of ["keydown", "pointerdown", "wheel"])
      document.addEventListener(
        name,
        () => {
          active = true;
          if (held && !begun && !lost) hold();
        },
        { passive: true },
      );
    form.addEventListener("input", () => {
      if (!held && !begun) hold();
    });
    form.addEventListener("submit", (event) => {
      if (form.elements.seconds) form.elements.seconds.value = String(seconds);
      const act = event.submitter && event.submitter.value;
      if (act === "claim") sessionStorage.setItem(claimed, "1");
      if (act === "release") sessionStorage.removeItem(claimed);
    });
    document.addEventListener("submit", tell);
    window.addEventListener("pagehide", leave);
    window.addEventListener("pageshow", () => {
      sent = false;
      if (left && held) hold();
      left = false;
    });
    setInterval(() => {
      if (document.visibilityState !== "visible") return;
      seconds += 1;
      since += 1;
      if (!held || lost) return;
      if (!begun && seconds >= READ) hold();
      else if (begun && active && since >= Number(form.dataset.lease) / 3) hold();
    }, STEP);
  }
}
