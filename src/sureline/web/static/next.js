// Asks for the next item in the answer to a verdict, which saves a way there and back; such a page
// gets the item's own address, so that a reload looks at it and sends nothing again. Says how long
// what was just decided can be taken back, and forgets its draft, which was kept until now.
"use strict";
{
  const at = document.getElementById("main").dataset.at;
  if (at) history.replaceState(null, "", at);
  for (const form of document.forms)
    form.addEventListener("submit", () => {
      if (form.elements.direct) form.elements.direct.value = "1";
    });
  const before = document.querySelector("[data-before]");
  if (before) {
    before.hidden = false;
    before.addEventListener("click", () => history.back());
  }

  const done = document.querySelector("[data-done]");
  if (done)
    for (const name of Object.keys(sessionStorage))
      if (name.startsWith(`sureline.draft.${done.dataset.done}`)) sessionStorage.removeItem(name);

  const left = document.querySelector("[data-left]");
  if (left) {
    const ends = performance.now() + 1000 * Number(left.dataset.left);
    const tick = () => {
      const seconds = Math.ceil((ends - performance.now()) / 1000);
      if (seconds > 0) {
        left.textContent = `${seconds}\u00a0s`;
        return;
      }
      clearInterval(timer);
      left.closest(".undo").textContent = "It is final.";
    };
    const timer = setInterval(tick, 1000);
  }
}
