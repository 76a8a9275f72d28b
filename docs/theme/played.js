"use strict";
// Interactive figures: the tile of a thread, a ring of buffers, a scan. docs/draw/played.py follows the same rules and computes the tables
// for readers without scripts.

(() => {
  if (window.staircasePlayed) return;

  const rules = {
    tile(side) {
      const registers = { 2: 32, 4: 74, 6: 144, 8: 230, 10: 254 }[side];
      return [registers, Math.min(64, Math.floor(65536 / (Math.ceil(registers / 8) * 8 * 256)) * 8), 2 * side];
    },
    ring(buffers, ...takes) {
      const lanes = [[], [], []];
      for (let n = 0; n < 8; ++n) {
        let free = n >= buffers ? lanes[2][n - buffers][1] : 0;
        lanes.forEach((lane, i) => {
          const begin = Math.max(free, lane.length ? lane[lane.length - 1][1] : 0);
          free = begin + takes[i];
          lane.push([begin, free]);
        });
      }
      return lanes;
    },
    scan: step => Array.from({ length: 16 }, (_, lane) => [Math.max(0, lane + 1 - 2 ** step), lane]),
  };

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  // A form with sliders above their figure. A slider is (label, from, to, value, step); `draw` draws the figure for the sliders' values.
  function play(name, title, sliders, parts, draw) {
    const figure = document.getElementById(`play_${name}`);
    if (!figure) return;
    const inputs = sliders.map(([, min, max, value, step = 1]) => make("input", { type: "range", min, max, step, value }));
    const outputs = inputs.map(() => make("output"));
    const form = make("form", { class: "choose", "aria-label": title },
      ...sliders.map(([label], i) => make("label", {}, label, " ", inputs[i], " ", outputs[i])));
    const said = make("p", { class: "said", role: "status" });
    figure.prepend(form, said, ...parts);
    const update = () => {
      const values = inputs.map(input => Number(input.value));
      outputs.forEach((output, i) => { output.value = values[i]; });
      said.textContent = draw(...values);
    };
    form.addEventListener("input", update);
    update();
  }

  const cells = (...names) => make("div", { class: ["cells", ...names].join(" "), role: "img" });

  const warps = cells("sixteen");
  play("tile", "The tile of a thread", [["sums per thread and side", 2, 10, 8, 2]],
    [make("p", { class: "what" }, "One cell for each warp that an SM can hold"), warps], side => {
      const [registers, held, intensity] = rules.tile(side);
      warps.replaceChildren(...Array.from({ length: 64 }, (_, n) => make("span", { class: n < held ? "moved" : "" })));
      warps.setAttribute("aria-label", `${held} of 64 warps`);
      return `${side} × ${side} sums: ${registers} registers per thread${side === 10 ? ", nearly the maximum, and values spill" : ""}. ` +
        `An SM holds ${held} of 64 warps. A multiply-add needs ${Number((2 / side).toPrecision(2))} loads from shared memory, ` +
        `and the arithmetic intensity is ${intensity} operations per byte from global memory.`;
    });

  const lanes = make("div", { class: "lanes", role: "img" });
  play("ring", "The ring", [["buffers", 1, 4, 2], ["copy in", 1, 9, 4], ["work", 1, 9, 6], ["copy out", 1, 9, 4]], [lanes],
    (buffers, ...takes) => {
      const spans = rules.ring(buffers, ...takes), end = spans[2][7][1];
      const sum = 8 * takes.reduce((a, b) => a + b), busy = 8 * Math.max(...takes);
      lanes.replaceChildren(...spans.map((lane, i) => make("div", {}, make("b", {}, ["in", "work", "out"][i]), make("div", {},
        ...lane.map(([from, to], n) => make("span", {
          class: `buffer${n % buffers}`, style: `left:${100 * from / end}%;width:${100 * (to - from) / end}%` }, String(n)))))));
      lanes.setAttribute("aria-label", `The times at which eight slices are copied in, processed and copied out; the last one ends at ${end}`);
      return `Eight slices take ${end}. One after the other they would take ${sum}, and the slowest of the three units is busy for ${busy}.`;
    });

  const row = cells("half");
  play("scan", "The scan", [["step", 0, 4, 1]], [make("p", { class: "what" }, "One cell for each lane, with the lanes whose values its sum includes"), row],
    step => {
      const now = rules.scan(step), distance = 2 ** (step - 1);
      row.replaceChildren(...now.map(([first, last]) => make("span", { class: first === 0 ? "moved" : "" }, first === last ? `${last}` : `${first}–${last}`)));
      row.setAttribute("aria-label", `Lanes 0 to ${Math.min(16, 2 ** step) - 1} are done`);
      return step === 0 ? "Before the first step each lane has its own value." :
        `Step ${step}: each lane from ${distance} on adds the value of the lane ${distance} to its left; ${16 - distance} additions, ${Math.min(16, 2 ** step)} lanes are done.`;
    });

  window.staircasePlayed = rules;
})();
