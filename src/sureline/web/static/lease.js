// Holds on to an item while somebody works on it, says when that failed, and counts the seconds
// in which the page was in sight.
"use strict";
{
  const form = document.getElementById("verdict");
  const live = document.getElementById("live");
  const STEP = 1000;
  let seconds = 0;
  let since = 0; // seconds since the claim was last renewed
  let active = false; // something was pressed or moved since then
  let held = form && form.dataset.mine !== undefined;
  let lost = false;
  let begun = held;

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

  if (form) {
    for (const name of ["keydown", "pointerdown", "wheel"])
      document.addEventListener(name, () => (active = true), { passive: true });
    form.addEventListener("input", () => {
      if (begun) return;
      begun = true;
      hold();
    });
    form.addEventListener("submit", () => (form.elements.seconds.value = String(seconds)));
    setInterval(() => {
      if (document.visibilityState !== "visible") return;
      seconds += 1;
      since += 1;
      if (held && !lost && active && since >= Number(form.dataset.lease) / 3) hold();
    }, STEP);
  }
}
