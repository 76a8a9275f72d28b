"use strict";
// The interactive parts of the book's pages: dark or light mode, copying code, the position in the sidebar, and the search.
// The pages also work without scripts: they have their text, their code, the mode of the reader's system, and the menu.

(() => {
  const root = document.documentElement;

  // The mode is the reader's choice, or else the system's. Browsers may refuse storage to pages that are opened as files.
  const stored = {
    get: () => { try { return localStorage.getItem("staircase-mode"); } catch { return null; } },
    set: mode => { try { localStorage.setItem("staircase-mode", mode); } catch { /* holds for this page */ } },
  };
  const isDark = () => root.classList.contains("dark-mode") ||
    (!root.classList.contains("light-mode") && matchMedia("(prefers-color-scheme: dark)").matches);
  function show(mode) {
    root.classList.toggle("dark-mode", mode === "dark");
    root.classList.toggle("light-mode", mode === "light");
  }
  show(stored.get());

  function initMode() {
    const button = document.querySelector("button.mode");
    const tell = () => button.setAttribute("aria-pressed", String(isDark()));
    button.addEventListener("click", () => {
      const mode = isDark() ? "light" : "dark";
      show(mode);
      stored.set(mode);
      tell();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
    button.hidden = false;
    tell();
  }

  function initSidebar() {
    const sidebar = document.getElementById("sidebar");
    const here = sidebar.querySelector("[aria-current]");
    const reveal = () => { if (here) sidebar.scrollTop = here.offsetTop - sidebar.clientHeight / 3; };
    reveal();
    sidebar.addEventListener("toggle", reveal);
    // The list of sections is folded if the page shows it above the text.
    const contents = document.querySelector("nav.contents details");
    if (contents && matchMedia("(max-width: 40rem)").matches) contents.open = false;
  }

  // The code that a listing shows in its present view, without line numbers and without the removed lines of a diff.
  function textOf(listing) {
    if (listing.matches(".fragment")) {
      return [...listing.children].map(line => line.textContent + "\n").join("");
    }
    const old = listing.closest(".piece")?.querySelector("input[value=old]:checked");
    return [...listing.children].filter(row => row.localName !== (old ? "ins" : "del"))
      .map(row => row.textContent).join("");
  }

  function initCopy() {
    if (!navigator.clipboard) return;
    for (const listing of document.querySelectorAll("div.fragment, .piece pre.diff")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(textOf(listing));
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      });
      const holder = listing.closest(".piece")?.querySelector(".bar");
      if (holder) holder.append(button);
      else {
        const around = document.createElement("div");
        around.className = "listing";
        listing.replaceWith(around);
        around.append(listing, button);
      }
    }
  }

  // Elements that scroll horizontally have to be reachable with the keyboard.
  function initScrollers() {
    for (const box of document.querySelectorAll("div.fragment, pre.fragment, .figures, .table, .MathJax_SVG_Display"))
      if (box.scrollWidth > box.clientWidth + 1 && !box.hasAttribute("tabindex")) {
        box.tabIndex = 0;
        box.setAttribute("role", "group");
        box.setAttribute("aria-label", "Scrolls sideways");
      }
  }

  // --- The search: docs/book/search.py makes the index, and lunr searches it.

  const folder = document.currentScript.src.replace(/[^/]*$/, "");
  let index, sections;
  const load = file => new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = folder + file;
    script.onload = done;
    script.onerror = () => failed(new Error(`${file} is not there`));
    document.head.append(script);
  });
  let loading;
  function loadIndex() {
    loading ??= load("lunr.min.js").then(() => load("search.js")).then(() => {
      const data = JSON.parse(window.staircaseSearch);
      sections = data.sections;
      index = lunr.Index.load(data.index);
    });
    return loading;
  }

  const wordsOf = text => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

  // Sections that contain all words; otherwise with the last word as a prefix; otherwise with any word. At most two sections per page.
  function find(text) {
    const words = wordsOf(text).filter(word => lunr.stopWordFilter(word));
    if (!words.length) return [];
    const { REQUIRED, OPTIONAL } = lunr.Query.presence;
    const ask = (presence, unfinished) => index.query(query => words.forEach((word, n) => {
      const isLast = unfinished && n === words.length - 1;
      query.term(lunr.tokenizer(word), isLast ? { presence, usePipeline: false, wildcard: lunr.Query.wildcard.TRAILING } : { presence });
    }));
    for (const how of [[REQUIRED, false], [REQUIRED, true], [OPTIONAL, true]]) {
      const hits = ask(...how);
      if (hits.length) {
        const seen = {};
        return hits.filter(hit => {
          const page = sections[hit.ref][0].split("#")[0];
          seen[page] = (seen[page] ?? 0) + 1;
          return seen[page] <= (page === "glossary.html" ? 3 : 2);
        });
      }
    }
    return [];
  }

  // A few words around the first occurrence of one of the searched words.
  function excerpt(text, words) {
    const low = text.toLowerCase();
    const stems = words.map(word => word.length > 5 ? word.slice(0, -2) : word);
    const at = Math.max(0, Math.min(...stems.map(stem => low.indexOf(stem)).filter(place => place >= 0), text.length));
    const begin = at >= text.length ? 0 : Math.max(0, text.lastIndexOf(" ", Math.max(0, at - 50)) + 1);
    const part = document.createElement("p");
    if (begin) part.append("… ");
    const escaped = stems.map(stem => stem.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    for (const piece of text.slice(begin, begin + 170).split(new RegExp(`((?:${escaped.join("|")})[\\p{L}\\p{N}]*)`, "giu"))) {
      if (stems.some(stem => piece.toLowerCase().startsWith(stem))) {
        const mark = document.createElement("mark");
        mark.textContent = piece;
        part.append(mark);
      } else part.append(piece);
    }
    part.append(" …");
    return part;
  }

  function initSearch() {
    const form = document.querySelector("form.search");
    const field = form.querySelector("input");
    const found = document.getElementById("found");
    form.hidden = false;
    const close = () => { found.hidden = true; };

    async function answer() {
      const text = field.value.trim();
      if (!text) return close();
      if (!index) {
        found.textContent = "Loading the index …";
        found.hidden = false;
        try {
          await loadIndex();
        } catch (error) {
          found.textContent = `The search does not work: ${error.message}.`;
          return;
        }
        if (field.value.trim() !== text) return;
      }
      const hits = find(text);
      const head = document.createElement("p");
      head.className = "count";
      head.textContent = hits.length ? `${hits.length > 20 ? `The first 20 of ${hits.length}` : hits.length} place${hits.length === 1 ? "" : "s"}` : `Nothing says “${text}”.`;
      const list = document.createElement("ol");
      for (const hit of hits.slice(0, 20)) {
        const [link, title, section, words] = sections[hit.ref];
        const item = document.createElement("li");
        const a = document.createElement("a");
        a.href = folder + link;
        a.innerHTML = "<b></b><span></span>";
        a.firstChild.textContent = title;
        a.lastChild.textContent = section;
        item.append(a, excerpt(words, wordsOf(text)));
        list.append(item);
      }
      found.replaceChildren(head, list);
      found.hidden = false;
    }

    let timer;
    field.addEventListener("focus", () => loadIndex().catch(() => {}), { once: true });
    field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(answer, 120); });
    field.addEventListener("click", () => { if (field.value.trim() && found.firstChild) found.hidden = false; });
    form.addEventListener("submit", event => {
      event.preventDefault();
      clearTimeout(timer);
      answer().then(() => found.querySelector("a")?.focus());
    });
    form.addEventListener("keydown", event => {
      const links = [...found.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement);
      if (event.key === "Escape") { close(); field.focus(); }
      else if (event.key === "ArrowDown" && links.length) links[Math.min(at + 1, links.length - 1)].focus();
      else if (event.key === "ArrowUp" && at >= 0) (at ? links[at - 1] : field).focus();
      else return;
      event.preventDefault();
    });
    document.addEventListener("click", event => { if (!form.contains(event.target)) close(); });
    document.addEventListener("keydown", event => {
      if (event.key === "/" && !event.target.closest("input, textarea, select")) {
        event.preventDefault();
        field.focus();
      }
    });
  }

  document.addEventListener("DOMContentLoaded", () => {
    initMode();
    initSidebar();
    initCopy();
    initSearch();
    initScrollers();
  });
})();
