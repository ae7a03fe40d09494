// A mission's page follows what happens: asks for the part that moves, while it is in sight.
"use strict";
{
  const moves = document.getElementById("moves");
  const moved = document.getElementById("moved");
  const said = document.getElementById("live");
  const EVERY = 5_000;
  const all = new URLSearchParams(location.search).has("all") ? "?all=1" : "";
  let last = null; // the part as it was asked for last

  const part = async () => {
    try {
      const answer = await fetch(moves.dataset.from + all, {
        redirect: "error",
        headers: { "hx-request": "true" },
      });
      return answer.ok ? await answer.text() : null;
    } catch {
      return null; // the next try comes by itself
    }
  };
  const state = () => moves.querySelector(".head .state")?.textContent ?? "";
  const isWritten = () =>
    [...moves.querySelectorAll("input:not([type=hidden]), textarea")].some((one) => one.value !== one.defaultValue);
  const put = (text) => {
    const names = () => [...moves.querySelectorAll("details")];
    const open = names().filter((one) => one.open).map((one) => one.firstElementChild.textContent);
    const before = state();
    moves.innerHTML = text; // Our own server's part of this page, escaped there.
    for (const one of names()) one.open = open.includes(one.firstElementChild.textContent);
    if (state() !== before) said.textContent = `The mission is ${state()} now.`;
  };
  const look = async () => {
    if (document.visibilityState !== "visible") return;
    const text = await part();
    if (text === null || text === last) return;
    if (last === null) {
      last = text; // as the page came
      return;
    }
    // Nothing moves under somebody's finger, and nothing that was typed is lost.
    if (moves.contains(document.activeElement) || isWritten()) {
      moved.hidden = false;
      return;
    }
    last = text;
    put(text);
  };
  look();
  setInterval(look, EVERY);
  document.addEventListener("visibilitychange", look);
}
