"use strict";
// The figure of a warp's request: choose size, stride and first element, then a lane, and see its bytes, its sector and its banks.
// docs/draw/warp.py follows the same rules and computes the table for readers without scripts.

(() => {
  const LANES = 32, SECTOR = 32, BANKS = 32, BANK = 4;

  function cost(stride, size, first) {
    const lanes = Array.from({ length: LANES }, (_, lane) => {
      const begin = (first + lane * stride) * size;
      const words = Array.from({ length: size / BANK }, (__, word) => begin / BANK + word);
      return { begin, sector: Math.floor(begin / SECTOR), words };
    });
    const together = LANES * BANK / size;  // elements of 8 bytes are served by half warps
    let wavefronts = 0;
    const ofBank = Array(BANKS).fill(0);
    for (let at = 0; at < LANES; at += together) {
      const words = new Set(lanes.slice(at, at + together).flatMap(lane => lane.words));
      const now = Array(BANKS).fill(0);
      words.forEach(word => { ++now[word % BANKS]; });
      wavefronts += Math.max(...now);
      now.forEach((count, bank) => { ofBank[bank] = Math.max(ofBank[bank], count); });
    }
    return { lanes, sectors: new Set(lanes.map(lane => lane.sector)), wavefronts, ofBank };
  }

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  const figure = document.getElementById("warp");
  const number = (label, name, from, to, value) => make("label", {}, label, " ",
    make("input", { type: "range", name, min: from, max: to, value }), " ", make("output", {}, String(value)));
  const size = make("select", { name: "size" }, make("option", { value: 4 }, "4 bytes"), make("option", { value: 8, selected: "" }, "8 bytes"));
  const form = make("form", { class: "choose", "aria-label": "The request" }, make("label", {}, "elements of ", size),
    number("stride", "stride", 1, 33, 8), number("first element", "first", 0, 15, 0));
  const said = make("p", { class: "said", role: "status" });
  const lanes = make("div", { class: "cells half", role: "group", "aria-label": "Lanes" });
  const sectors = make("div", { class: "cells", role: "img" });
  const banks = make("div", { class: "cells half", role: "img" });
  const one = make("p", { class: "said", role: "status" });
  const title = text => make("p", { class: "what" }, text);
  figure.prepend(form, said, title("Lanes: choose one"), lanes, one, title("Global memory: one cell for each sector of 32 bytes"), sectors,
    title("Shared memory: one cell for each bank, with the number of words that it delivers one after the other"), banks);
  let picked = 0;
  for (let lane = 0; lane < LANES; ++lane) {
    const button = make("button", { type: "button" }, String(lane));
    button.addEventListener("click", () => { picked = lane; draw(); });
    lanes.append(button);
  }

  function draw() {
    const [stride, bytes, first] = ["stride", "size", "first"].map(name => Number(form.elements[name].value));
    form.querySelectorAll("output").forEach(output => { output.value = output.parentElement.querySelector("input").value; });
    const { lanes: of, sectors: moved, wavefronts, ofBank } = cost(stride, bytes, first);
    const least = LANES * bytes / SECTOR;
    said.textContent = `${moved.size} sectors per request; the minimum is ${least}, so ${Math.round(100 * least / moved.size)} % of the transferred bytes are used. ` +
      `${wavefronts} ${wavefronts === 1 ? "wavefront" : "wavefronts"} per request from shared memory; the minimum is ${bytes / BANK}.`;
    const { begin, sector, words } = of[picked];
    one.textContent = `Lane ${picked} accesses bytes ${begin} to ${begin + bytes - 1}: sector ${sector}, ` +
      `${words.length > 1 ? "banks" : "bank"} ${words.map(word => word % BANKS).join(" and ")}.`;
    [...lanes.children].forEach((button, lane) => {
      button.setAttribute("aria-pressed", String(lane === picked));
      button.classList.toggle("same", lane !== picked && of[lane].sector === sector);
    });
    const last = Math.max(...moved);
    sectors.replaceChildren(...Array.from({ length: last + 1 }, (_, n) =>
      make("span", { class: n === sector ? "here" : moved.has(n) ? "moved" : "" })));
    sectors.setAttribute("aria-label", `${moved.size} of the sectors 0 to ${last} are transferred`);
    banks.replaceChildren(...ofBank.map((count, bank) =>
      make("span", { class: words.some(word => word % BANKS === bank) ? "here" : count ? "moved" : "" }, count ? String(count) : "")));
    banks.setAttribute("aria-label", `The busiest bank delivers ${Math.max(...ofBank)} words, ${ofBank.filter(count => !count).length} deliver none`);
  }

  form.addEventListener("input", draw);
  draw();
  window.staircaseWarp = (stride, bytes, first) => {
    const { sectors: moved, wavefronts } = cost(stride, bytes, first);
    return [moved.size, wavefronts];
  };
})();
