// Select items of the list: the one in focus, those like it, or all; the buttons say how many.
"use strict";
{
  const boxes = [...document.querySelectorAll("input[form=picked]")];
  let last = null; // the row that was selected last
  const rowOf = (element) => element && element.closest("[data-row]");
  const boxIn = (row) => row && row.querySelector("input[form=picked]");
  const count = () => {
    const chosen = boxes.filter((one) => one.checked).length;
    for (const word of document.querySelectorAll("[data-count]")) {
      word.textContent = chosen ? `${chosen} selected` : "selected";
      word.closest("button").disabled = !chosen;
    }
  };
  const set = (some, on) => {
    for (const one of some) one.checked = on;
    count();
  };
  const toggle = (some) => {
    if (some.length) set(some, !some.every((one) => one.checked));
  };
  const here = () => {
    const row = rowOf(document.activeElement);
    return boxIn(row) ? row : last;
  };
  const picks = {
    one: () => {
      const row = rowOf(document.activeElement);
      if (!boxIn(row)) return;
      last = row;
      toggle([boxIn(row)]);
    },
    all: () => toggle(boxes),
    same: () => {
      const row = here();
      if (row) toggle(boxes.filter((one) => rowOf(one).dataset.same === row.dataset.same));
    },
  };
  for (const button of document.querySelectorAll("[data-pick]")) {
    button.hidden = !button.classList.contains("scripted");
    button.addEventListener("click", picks[button.dataset.pick]);
  }
  for (const one of boxes)
    one.addEventListener("change", () => {
      last = rowOf(one);
      count();
    });
  window.addEventListener("pageshow", count);
  if (boxes.length) count();
}
