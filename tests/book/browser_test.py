"""Tests the book in a browser: browser_test.py HTML_DIRECTORY. Prints TAP.

Every page is opened in one headless Chromium, at the widths of a desktop and of a phone. Several tabs share the pages:
while one tab waits, another one works. These tabs are in the background, where the browser draws nothing, because most
checks depend only on the layout. Checks that need frames or keys use a tab in the foreground, with its own profile.
"""

import base64
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import tap
from draw import played, warp

HTML = pathlib.Path(sys.argv[1]).resolve()
WIDTHS = {"desktop": (1440, 1000), "phone": (390, 844)}
WITH_FORMULAS, WITHOUT = "local_volatility.html", "how_to_read.html"  # the pages into which errors are seeded
TABS, PAGES_AT_ONCE = 3, 8  # the number of background tabs, and the most pages that one of them claims at a time
LEAST_CONTRAST = 4.5  # WCAG 2, level AA
PATIENCE = 180  # the time limit in seconds for an answer of the browser

SYSTEM = {"light": False, "dark": True}
# Search queries, and pages that must be among the first ten results.
QUERIES = {"tensor": ("ata_09_tensor_core", "cholesky_08_tensor_cores", "glossary"), "tiling": ("transformations", "ata_04_tiled"),
           "roofline": ("measuring", "glossary"), "shared memory": ("glossary", "how_a_gpu_runs_a_program"), "shared mem": ("glossary",),
           "cudaMemcpyAsync": ("matmul_05_pinned",), "bernstein": ("slicing_a_loop",), "multiply_tiles": ("ata_07_register_tiled",)}
NOTHING = "xylophone"

CHECKS = (ERRORS, MATHS, WIDE, ALTERNATIVE, CROWDED, PALE, TOGGLE, ORDER, NAMED, SEARCH, WOVEN, KEYS, MENU, UNSCRIPTED, PAPER, WARP,
          PLAYED, FOUND) = (
    "no page has a script error or a failed request", "every formula is typeset",
    "no page scrolls sideways", "every image has an alternative text",
    "words in diagrams do not overlap and are at least 9.4 pixels large",
    "the contrast of text is at least 4.5 in light and in dark mode",
    "the dark mode can be switched on and off",
    "clicks on «next» lead from the first page to the last",
    "elements have the names, roles and order that screen readers need", "the search finds the expected pages",
    "a part of a diff shows the code before, the code after, and both", "a page can be operated with keys only",
    "the menu of a phone leads to every page", "pages show all their text without scripts",
    "a printed page has all text and no frame, and slides take ten pages",
    "the interactive figure of a warp computes the numbers of its table",
    "the other interactive figures compute the numbers of their tables",
    "seeded faults are found")

# Changes that must make a page fail a check.
FAULTS = [
    (ERRORS, "<script>console.error('planted')</script>"), (ERRORS, "<script>planted()</script>"),
    (ERRORS, "<img src='planted.png' alt='planted'>"), (MATHS, r"<p>\(\planted\)</p>"),
    (MATHS, r"<p>\(planted</p>"), (WIDE, "<p style='min-width: 3000px'>planted</p>"),
    (WIDE, "<div class='figures' tabindex='0' role='group' aria-label='planted'><p style='width: 3000px'>planted</p></div>"),
    (ALTERNATIVE, "<img src='staircase.svg'>"), (PALE, "<p style='color: #888'>planted</p>"), *((NAMED, planted) for planted in (
        "<p id='content'>planted</p>", "<a href='index.html'></a>", "<button></button>", "<input>", "<h5>planted</h5>",
        "<nav>planted</nav>", "<nav aria-label='The book'>planted</nav>", "<p tabindex='3'>planted</p>", "<ul><p>planted</p></ul>",
        "<div aria-labelledby='nowhere'>planted</div>", "<div role='planted'>planted</div>",
        "<div style='overflow-x: auto; width: 9em'><p style='width: 99em'>planted</p></div>", "<main>planted</main>",
        "<p aria-hidden='true'><a href='index.html'>planted</a></p>")),
    *((CROWDED, f"<figure class='diagram'><svg viewBox='0 0 99 99' width='99'>{words}</svg></figure>") for words in (
        "<text y='50'>planted</text><text y='52'>planted</text>", "<text x='80' y='50'>planted</text>",
        "<text y='50' style='font-size: 9px'>planted</text>"))]

# JavaScript functions that the checks below call. They are defined in every page before the page's own scripts run.
HELPERS = r"""
window.book = (() => {
const quoted = "script, style, noscript, pre, code, .fragment, .diff, .MathJax_SVG";

function textNodes(root) {
  const nodes = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode())
    if (walker.currentNode.data.trim()) nodes.push(walker.currentNode);
  return nodes;
}

function nameOf(element) {
  const classes = element.getAttribute("class");
  const words = element.textContent.trim().replace(/\s+/g, " ").slice(0, 50);
  return `<${element.localName}${element.id ? " #" + element.id : ""}${classes ? " ." + classes : ""}> ${words}`;
}

// Whether the element cannot widen the page: it scrolls by itself, or is clipped, as the text of a formula for screen
// readers is.
function takesNoRoom(element, page) {
  for (let at = element; at && at !== page; at = at.parentElement) {
    const style = getComputedStyle(at);
    if (["auto", "scroll"].includes(style.overflowX) || at.localName === "svg" || style.clip !== "auto") return true;
  }
  return false;
}

function tooWide(width) {
  const content = document.querySelector("main");
  const problems = [];
  for (const [name, scroller] of [["page", document.scrollingElement], ["content", content]]) {
    if (!scroller) continue;
    const room = Math.min(width, scroller.clientWidth);
    if (scroller.scrollWidth > room) problems.push(`the ${name} is ${scroller.scrollWidth} px wide, not ${room}`);
  }
  // What sticks out on the left cannot be scrolled to.
  const left = content ? content.getBoundingClientRect().left : 0;
  const culprits = [...(content || document.body).querySelectorAll("*")].filter(element => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && (box.right > width + 1 || box.left < left - 1) && element.checkVisibility() &&
      !takesNoRoom(element, content);
  });
  // On a desktop, tables of times need no scrolling.
  const tables = width < 1000 ? [] : [...document.querySelectorAll(".figures:not(.map, .wide)")].filter(table => table.scrollWidth > table.clientWidth + 1);
  return problems.concat(culprits.slice(0, 3).map(nameOf), tables.map(table => `a table of times is cut off: ${nameOf(table)}`));
}

function isFaulty(node) {
  return Boolean(node) && typeof node === "object" &&
    (node.type === "merror" || node.mathcolor === "red" || (node.data || []).some(isFaulty));
}

async function untypeset() {
  const areFormulas = /\\[(\[]/.test(document.body.textContent) ||
    document.querySelector('script[type^="math/tex"]');
  if (areFormulas && window.MathJax) await new Promise(done => MathJax.Hub.Queue(done));
  const problems = [];
  const all = areFormulas && window.MathJax ? MathJax.Hub.getAllJax() : [];
  const written = document.querySelectorAll('script[type^="math/tex"]').length;
  if (all.length !== written) problems.push(`${written - all.length} of ${written} formulas are not typeset`);
  problems.push(...all.filter(jax => isFaulty(jax.root)).map(jax => `the formula ${jax.originalText} has an error`));
  for (const drawing of document.querySelectorAll(".MathJax_SVG"))
    if (drawing.checkVisibility() && !drawing.getBoundingClientRect().width) problems.push("a formula is empty");
  for (const node of textNodes(document.body))
    if (/\\[a-zA-Z()\[\]{}$]/.test(node.data) && !node.parentElement.closest(quoted))
      problems.push(`the page shows TeX: ${node.data.trim().slice(0, 60)}`);
  return problems;
}

function withoutAlternative() {
  const images = [...document.querySelectorAll("img, area, input[type=image]")];
  const drawings = [...document.querySelectorAll("object, iframe.dot, svg[role=img], [role=figure]")];
  return images.filter(image => image.checkVisibility() && !(image.alt || "").trim())
    .concat(drawings.filter(drawing => !drawing.closest("[aria-hidden=true]") &&
      !(drawing.getAttribute("aria-label") || drawing.textContent).trim()))
    .map(image => `${nameOf(image)} ${image.getAttribute("src") || ""}`);
}

// Words in diagrams that overlap other words, leave the drawing, or are too small to read.
function crowded() {
  const problems = [];
  for (const drawing of document.querySelectorAll(".diagram svg")) {
    if (!drawing.checkVisibility()) continue;
    const room = drawing.getBoundingClientRect();
    const words = [...drawing.querySelectorAll("text")].map(text => ({ text, box: text.getBoundingClientRect() }));
    for (const [i, { text, box }] of words.entries()) {
      const size = parseFloat(getComputedStyle(text).fontSize) * room.width / drawing.viewBox.baseVal.width;
      if (size < 9.4) problems.push(`the words are only ${size.toFixed(1)} px large: ${nameOf(text)}`);
      if (box.left < room.left - 1 || box.right > room.right + 1)
        problems.push(`the words leave the drawing: ${nameOf(text)}`);
      for (const other of words.slice(0, i))
        if (Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 1 &&
            Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top) > 3)
          problems.push(`${nameOf(text)} overlaps ${nameOf(other.text)}`);
    }
  }
  return problems;
}

function parsed(color) {
  const numbers = color.match(/[\d.]+/g).map(Number);
  return { rgb: numbers.slice(0, 3), alpha: numbers.length > 3 ? numbers[3] : 1 };
}

function over(top, below) {
  return top.rgb.map((value, i) => top.alpha * value + (1 - top.alpha) * below[i]);
}

function background(element, known = new Map()) {
  if (!element) return [255, 255, 255];
  if (!known.has(element)) {
    const own = parsed(getComputedStyle(element).backgroundColor);
    known.set(element, own.alpha === 1 ? own.rgb : over(own, background(element.parentElement, known)));
  }
  return known.get(element);
}

function luminance(rgb) {
  const [r, g, b] = rgb.map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(element, known) {
  const style = getComputedStyle(element);
  const behind = background(element, known);
  const text = over(parsed(element.closest("svg") ? style.fill : style.color), behind);
  const [dark, light] = [luminance(text), luminance(behind)].sort((a, b) => a - b);
  return { ratio: (light + 0.05) / (dark + 0.05), text, behind };
}

// Text that is too pale, one example for a pair of colours.
function pale(least) {
  const found = new Map(), known = new Map();
  for (const element of new Set(textNodes(document.body)
      .map(node => node.parentElement))) {
    if (element.closest("script, style, noscript") || !element.checkVisibility({ visibilityProperty: true }))
      continue;
    const { ratio, text, behind } = contrast(element, known);
    const pair = `${text.map(Math.round)} on ${behind.map(Math.round)}`;
    if (ratio < least && !found.has(pair)) found.set(pair, `${ratio.toFixed(2)}: ${pair}, ${nameOf(element)}`);
  }
  return [...found.values()];
}

// As the page opens, light, and dark; each change of the mode has the browser style all anew.
function paleInBothModes(least) {
  const problems = pageIsDark() ? ["the page opens in dark mode"] : pale(least).map(text => `light: ${text}`);
  const atOnce = document.head.appendChild(document.createElement("style"));
  atOnce.textContent = "* { transition: none !important; }";
  document.documentElement.classList.add("dark-mode");
  problems.push(...pale(least).map(text => `dark: ${text}`));
  document.documentElement.classList.remove("dark-mode");
  atOnce.remove();
  return problems;
}

function pageIsDark() {
  return luminance(background(document.body)) < 0.2;
}

// What axe calls serious, as far as pages like these can have it.
function unnamed() {
  const problems = [];
  const say = (what, element) => problems.push(`${what}: ${nameOf(element)}`);
  const seen = selector => [...document.querySelectorAll(selector)].filter(element => element.checkVisibility({ visibilityProperty: true }));
  const nameFor = element => (element.getAttribute("aria-label") || element.labels?.[0]?.textContent || element.title ||
    element.textContent || "").trim();
  for (const element of seen("a[href], button, input, select, textarea, summary, [role=region], [role=group], nav, svg[role=img], fieldset"))
    if (!element.closest("[aria-hidden=true]") && !nameFor(element)) say("there is no name", element);
  const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
  for (const id of new Set(ids.filter((id, n) => ids.indexOf(id) < n))) problems.push(`two elements have the id ${id}`);
  for (const attribute of ["aria-labelledby", "aria-controls", "aria-describedby", "for", "popovertarget"])
    for (const element of document.querySelectorAll(`[${attribute}]`))
      if (!document.getElementById(element.getAttribute(attribute))) say(`${attribute} leads nowhere`, element);
  for (const [selector, count] of [["h1", 1], ["main", 1], ["title", 1], ["body > header", 1], ["body > footer", 1]])
    if (document.querySelectorAll(selector === "title" ? "head > title" : selector).length !== count)
      problems.push(`the page does not have exactly one ${selector}`);
  if (!document.documentElement.lang) problems.push("the page has no language");
  let level = 0;
  for (const heading of seen("main :is(h1, h2, h3, h4, h5, h6)")) {
    if (+heading.localName[1] > level + 1) say(`the heading after level ${level} skips a level`, heading);
    level = +heading.localName[1];
  }
  const landmarks = seen("nav, [role=search]").map(element => element.getAttribute("aria-label") || element.localName);
  for (const label of new Set(landmarks.filter((label, n) => landmarks.indexOf(label) < n)))
    problems.push(`two landmarks have the name ${label}`);
  for (const element of seen("nav")) if (!element.hasAttribute("aria-label")) say("the navigation has no label", element);
  for (const element of document.querySelectorAll("[tabindex]"))
    if (element.tabIndex > 0) say("tabindex changes the order of keys", element);
  for (const list of document.querySelectorAll("ul, ol"))
    for (const child of list.children)
      if (!["li", "script", "template"].includes(child.localName)) say("a child of a list is not an item", child);
  for (const item of document.querySelectorAll("li"))
    if (!item.parentElement.matches("ul, ol, menu")) say("an item is in no list", item);
  const roles = ["button", "group", "img", "region", "search", "status", "presentation", "none", "list", "math", "figure", "note", "textbox"];
  for (const element of document.querySelectorAll("[role]"))
    if (!roles.includes(element.getAttribute("role"))) say("the role is unknown", element);
  for (const hidden of document.querySelectorAll("[aria-hidden=true]"))
    for (const element of hidden.querySelectorAll("a[href], button, input, [tabindex='0']"))
      if (element.checkVisibility()) say("a hidden element can have the focus", element);
  for (const element of seen("main *")) {
    const style = getComputedStyle(element);
    const scrolls = ["auto", "scroll"].includes(style.overflowX) && element.scrollWidth > element.clientWidth + 1 ||
      ["auto", "scroll"].includes(style.overflowY) && element.scrollHeight > element.clientHeight + 1;
    if (scrolls && element.tabIndex < 0 && !element.querySelector("a[href], button, input, [tabindex='0']"))
      say("the element cannot be scrolled with keys", element);
  }
  return problems;
}

// The button is there once the page's script has run.
function toggle() {
  const button = document.querySelector("button.mode");
  if (!button || button.hidden || !isOnTop(button)) return "the button for dark mode is not visible";
  const before = button.getAttribute("aria-pressed");
  button.click();
  return button.getAttribute("aria-pressed") === before ? "aria-pressed of the button does not change" : "";
}

async function found(text) {
  const field = document.querySelector(".search input");
  field.focus();
  field.value = text;
  document.getElementById("found").replaceChildren();
  field.dispatchEvent(new Event("input"));
  for (let frame = 0; frame < 7200 && !document.querySelector("#found .count"); ++frame) await new Promise(requestAnimationFrame);
  return { count: document.querySelector("#found .count")?.textContent ?? "no answer",
    links: [...document.querySelectorAll("#found a")].map(link => link.getAttribute("href").replace(/^.*\//, "")),
    marked: document.querySelectorAll("#found mark").length };
}

// The lines that a piece shows, by what is chosen.
function shown(piece) {
  return [...piece.querySelectorAll("pre > *")].filter(row => row.checkVisibility()).map(row => row.localName).sort().join(" ");
}

function pieces() {
  const problems = [];
  for (const piece of document.querySelectorAll(".piece:has(input)")) {
    for (const [value, without] of [["diff", null], ["old", "ins"], ["new", "del"]]) {
      piece.querySelector(`input[value=${value}]`).click();
      const wanted = [...piece.querySelectorAll("pre > *")].map(row => row.localName).filter(name => name !== without).sort().join(" ");
      if (shown(piece) !== wanted) problems.push(`${piece.id} shows ${shown(piece)} for ${value}`);
    }
    piece.querySelector("input[value=diff]").click();
  }
  return problems;
}

function isOnTop(element) {
  element.scrollIntoView({ block: "center" });
  const box = element.getBoundingClientRect();
  const found = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  return element.contains(found);
}

function goOn() {
  const next = document.querySelector("a[rel=next]");
  if (!next) return "the end";
  if (!isOnTop(next)) return "something covers the link to the next page";
  next.click();
  return "";
}

return { tooWide, untypeset, withoutAlternative, crowded, paleInBothModes, pageIsDark, toggle, goOn, unnamed, found, pieces };
})();
"""


class Browser:
    """A headless Chromium, driven over a pipe by the DevTools protocol."""

    def __init__(self, program, profile):
        # The browser reads from file descriptor 3 and writes to file descriptor 4.
        command = ["sh", "-c", 'exec "$@" 3<&0 4>&1 0</dev/null 1>&2', "sh", program, "--headless=new",
                   "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run",
                   "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
                   "--disable-background-networking", "--disable-component-update",
                   "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "about:blank"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.numbers, self.writing, self.heard = itertools.count(1), threading.Lock(), {}
        self.listener = threading.Thread(target=self.listen, daemon=True)
        self.listener.start()
        self.call("Browser.getVersion")

    def listen(self):
        """Passes each message to the queue of its tab, and an empty message to all queues at the end."""
        received = b""
        while more := os.read(self.process.stdout.fileno(), 1 << 16):
            *messages, received = (received + more).split(b"\0")
            for message in map(json.loads, messages):
                self.messages(message.get("sessionId")).put(message)
        for messages in list(self.heard.values()):
            messages.put({})

    def messages(self, session):
        """The queue of the messages from a tab, or from the browser itself."""
        return self.heard.setdefault(session, queue.SimpleQueue())

    def receive(self, session):
        """The next message from a tab, or from the browser itself."""
        try:
            message = self.messages(session).get(timeout=PATIENCE)
        except queue.Empty:
            message = {}
        if not message:
            self.messages(session).put({})
            raise ConnectionError("the browser does not answer any more")
        return message

    def call(self, method, session=None, events=None, **parameters):
        """The result of a command; earlier events are stored in `events`."""
        message = {"id": next(self.numbers), "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        with self.writing:
            self.process.stdin.write(json.dumps(message).encode() + b"\0")
            self.process.stdin.flush()
        while (answer := self.receive(session)).get("id") != message["id"]:
            if events is not None:
                events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def stop(self):
        """Asks the browser to end, and kills it if it does not."""
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.listener.join(10)
        self.process.stdout.close()


class Tab:
    """A tab in the background, or in the foreground of a window with its own profile."""

    def __init__(self, browser, foreground=False):
        self.browser, self.session, self.events, self.kind = browser, None, [], None
        where = {"browserContextId": browser.call("Target.createBrowserContext")["browserContextId"]} if foreground else {"background": True}
        tab = self.call("Target.createTarget", url="about:blank", **where)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=HELPERS)

    def call(self, method, **parameters):
        """The result of a command."""
        return self.browser.call(method, self.session, self.events, **parameters)

    def evaluate(self, expression):
        """The value of a script; if it is a promise, the method waits for its result."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {text_of(result['exceptionDetails'])}")
        return result["result"].get("value")

    def wait_for_load(self):
        """Waits until the page and all its parts are loaded."""
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.browser.receive(self.session))

    def resize(self, kind):
        """Gives the window the size of a desktop or a phone, if it has another size."""
        if kind != self.kind:
            width, height = WIDTHS[kind]
            self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=kind == "phone")
            self.evaluate("document.hidden || new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
            self.kind = kind

    def open(self, name):
        """Loads a page of the book."""
        self.events.clear()
        self.call("Page.navigate", url=(HTML / name).as_uri())
        self.wait_for_load()

    def open_next(self):
        """Clicks on the link to the next page and waits for it; returns whether there is such a link."""
        self.events.clear()
        answer = self.evaluate("book.goOn()")
        if answer == "the end":
            return False
        if answer:
            raise RuntimeError(answer)
        self.wait_for_load()
        return True

    def complaints(self):
        """Yields the problems of the page since it was opened: exceptions, console errors, failed requests."""
        for event in self.events:
            method, about = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                yield text_of(about["exceptionDetails"])
            elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "assert"):
                yield "console: " + " ".join(str(word.get("value", word.get("description")))
                                             for word in about["args"])
            elif method == "Log.entryAdded" and about["entry"]["level"] == "error":
                yield f"{about['entry']['text']} {about['entry'].get('url', '')}"
            elif method == "Network.loadingFailed" and not about.get("canceled"):
                yield f"a request failed: {about['errorText']}"


def text_of(exception):
    """The first line of the browser's description of an exception."""
    return exception.get("exception", {}).get("description", exception["text"]).splitlines()[0]


class Visit:
    """A walk through pages that collects problems, by check."""

    def __init__(self, browser):
        self.browser = browser  # a tab of the browser
        self.problems = collections.defaultdict(list)

    def inspect(self, kind, wanted=CHECKS):
        """Runs the wanted checks on the open page at one width; returns the page's name."""
        self.browser.resize(kind)
        width, _ = WIDTHS[kind]
        checks = {MATHS: "book.untypeset()", WIDE: f"book.tooWide({width})", CROWDED: "book.crowded()"}
        if kind == "desktop":
            checks |= {NAMED: "book.unnamed()", WOVEN: "book.pieces()", ALTERNATIVE: "book.withoutAlternative()", PALE: f"book.paleInBothModes({LEAST_CONTRAST})"}
        asked = [check for check in checks if check in wanted]
        *found, inner, uri = self.browser.evaluate(f"""(async () => [
          {''.join(f'await {checks[check]}, ' for check in asked)} innerWidth, document.documentURI])()""")
        name = uri.rpartition("/")[2].partition("#")[0]
        if inner != width and WIDE in wanted and not found[asked.index(WIDE)]:
            found[asked.index(WIDE)] = [f"the page is laid out {inner} px wide"]
        for check, problems in [*zip(asked, found), (ERRORS, self.browser.complaints())]:
            self.problems[check] += [f"{name}, {width} px: {problem}" for problem in problems]
        return name

    def walk(self, pages, goal):
        """Follows «next» through some pages up to a goal; the desktop and the phone alternate in opening a page."""
        kinds = list(WIDTHS)
        self.browser.resize(kinds[0])
        self.browser.open(pages[0])
        for wanted, following in zip(pages, [*pages[1:], goal]):
            names = {self.inspect(kind) for kind in kinds}
            if names != {wanted}:
                self.problems[ORDER].append(f"«next» leads to {sorted(names)}, not to {wanted}")
                return
            if self.browser.open_next() != bool(following):
                self.problems[ORDER].append(f"«next» {'ends' if following else 'does not end'} at {wanted}")
                return
            kinds.reverse()
        if goal and (found := self.browser.evaluate("document.documentURI").rpartition("/")[2]) != goal:
            self.problems[ORDER].append(f"«next» leads from {pages[-1]} to {found}, not to {goal}")

    def open_all(self, names):
        """Opens pages that «next» does not reach, once for all widths."""
        for name in names:
            self.browser.open(name)
            for kind in WIDTHS:
                self.inspect(kind)

    def plant(self, check, fault, directory):
        """Seeds an error into a copy of a page, and reports a problem if the check does not find the error."""
        text = (HTML / (WITH_FORMULAS if check == MATHS else WITHOUT)).read_text().replace("<head>", f'<head><base href="{HTML.as_uri()}/">')
        page = pathlib.Path(directory, f"planted_{FAULTS.index((check, fault))}.html")
        page.write_text(text.replace("<article>", f"<article>{fault}", 1))
        found = Visit(self.browser)
        self.browser.resize("desktop")
        self.browser.open(page)
        found.inspect("desktop", (check,))
        if not found.problems[check]:
            self.problems[FOUND].append(f"the check '{check}' accepts {fault}")

    def toggle(self, kind):
        """Switches to dark mode and back, and opens a page in between."""
        for name, dark in (("index.html", True), ("how_to_read.html", False)):
            self.browser.open(name)
            if self.browser.evaluate("book.pageIsDark()") == dark:
                self.problems[TOGGLE].append(f"{kind}: {name} opens in {'dark' if dark else 'light'} mode")
            problem = self.browser.evaluate("book.toggle()")
            if problem:
                self.problems[TOGGLE].append(f"{kind}: {name}: {problem}")
            elif self.browser.evaluate("book.pageIsDark()") != dark:
                self.problems[TOGGLE].append(f"{kind}: {name} does not switch to {'dark' if dark else 'light'} mode")

    def search(self):
        """Searches for the queries from a page that was opened as a file."""
        self.browser.open("index.html")
        for text, wanted in QUERIES.items():
            answer = self.browser.evaluate(f"book.found({json.dumps(text)})")
            first = [link.partition(".html")[0] for link in answer["links"][:10]]
            missed = [page for page in wanted if page not in first]
            if missed or not answer["marked"]:
                self.problems[SEARCH].append(f"the search for '{text}' does not find {missed}, but {first}")
            for link in answer["links"]:
                page, _, anchor = link.partition("#")
                if anchor and f'id="{anchor}"' not in (HTML / page).read_text():
                    self.problems[SEARCH].append(f"the search for '{text}' leads to the missing anchor {link}")
        if (answer := self.browser.evaluate(f"book.found('{NOTHING}')"))["links"]:
            self.problems[SEARCH].append(f"the search for '{NOTHING}' finds {answer['links']}")

    def press(self, key, code=0, text=""):
        """Presses a key."""
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key if len(key) > 1 else "", text=text if kind == "keyDown" else "",
                              windowsVirtualKeyCode=code)
        self.browser.evaluate("new Promise(drawn => setTimeout(drawn, 250))")

    def use_keys(self):
        """Operates a page with keys only."""
        browser, name = self.browser, "ata_04_tiled.html"

        def expect(what, script):
            if not browser.evaluate(script):
                self.problems[KEYS].append(f"{name}: {what}")
        browser.open(name)
        self.press(" ", 32, " ")
        expect("Space does not scroll", "scrollY > 300")
        browser.open(name)
        self.press("ArrowDown", 40)
        expect("ArrowDown does not scroll", "scrollY > 10")
        browser.open(name)
        self.press("Tab", 9)
        expect("the first key does not lead to the link past the frame", "document.activeElement.className === 'skip'")
        self.press("Enter", 13, "\r")
        expect("that link does not lead to the text", "document.activeElement.id === 'content' && location.hash === '#content'")
        self.press("/", 191, "/")
        expect("/ does not lead to the search", "document.activeElement.name === 'q'")
        browser.evaluate("book.found('tensor core')")
        self.press("ArrowDown", 40)
        expect("ArrowDown does not lead to the results of the search", "document.activeElement.closest('#found') !== null")
        self.press("Escape", 27)
        expect("Escape does not end the search", "document.getElementById('found').hidden && document.activeElement.name === 'q'")
        self.press("Tab", 9)
        expect("Tab does not lead from the search to the switch for dark mode",
               "document.activeElement.className === 'mode'")
        dark = browser.evaluate("book.pageIsDark()")
        self.press(" ", 32, " ")
        expect("Space does not switch the mode", f"book.pageIsDark() !== {json.dumps(dark)}")
        self.press(" ", 32, " ")
        browser.evaluate("document.querySelector('.piece input').focus()")
        self.press("ArrowRight", 39)
        expect("ArrowRight does not switch the diff", "document.querySelector('.piece input[value=old]').checked")
        browser.evaluate("document.querySelector('.piece pre').focus()")
        expect("a diff cannot have the focus", "document.activeElement.localName === 'pre'")

    def open_menu(self, pages):
        """Opens the menu on a phone and checks that it links to all pages."""
        self.browser.open("index.html")
        if self.browser.evaluate("document.getElementById('sidebar').checkVisibility()"):
            self.problems[MENU].append("the menu is open before the button is pressed")
        self.browser.evaluate("document.querySelector('button.menu').click()")
        answer = self.browser.evaluate("""(() => {
          const menu = document.getElementById("sidebar");
          menu.querySelectorAll("details").forEach(part => { part.open = true; });
          const links = [...menu.querySelectorAll("a")].filter(link => link.checkVisibility());
          return { links: links.map(link => link.getAttribute("href")), low: links.filter(link => link.getBoundingClientRect().height < 24).length,
            wide: menu.getBoundingClientRect().right > innerWidth };
        })()""")
        missing = set(pages).difference(answer["links"], {path.name for path in HTML.glob("*_source.html")})
        missing = {name for name in missing if 'rel="next"' in (HTML / name).read_text()}
        # The page of a machine links to the pages of its workloads.
        for link in filter(re.compile("results_").match, answer["links"]):
            missing.difference_update(re.findall(r'href="(results_\w+\.html)"', (HTML / link).read_text()))
        if missing or answer["low"] or answer["wide"]:
            self.problems[MENU].append(
                f"the menu lacks {sorted(missing)[:5]}, {answer['low']} links are less than 24 px high, "
                f"and its overflow is {answer['wide']}")

    def switch_scripts_off(self):
        """Opens a page without scripts, in both modes of the system."""
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        for mode, is_dark in SYSTEM.items():
            self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": mode}])
            self.browser.open("ata_04_tiled.html")
            visible = self.browser.evaluate("""(() => {
              const seen = selector => [...document.querySelectorAll(selector)].filter(one => one.checkVisibility()).length;
              return { ins: seen("pre.diff ins"), del: seen("pre.diff del"), dead: seen("form.search, button.mode, .copy"), links: seen("#sidebar a"),
                dark: getComputedStyle(document.body).backgroundColor };
            })()""")
            dark = sum(map(int, visible.pop("dark").removeprefix("rgb(").removesuffix(")").split(","))) < 200
            if not visible["ins"] or not visible["del"] or visible["dead"] or visible["links"] < 20 or dark != is_dark:
                self.problems[UNSCRIPTED].append(f"in {mode} mode, the page without scripts shows {visible}, dark: {dark}")
        self.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        self.browser.call("Emulation.setEmulatedMedia", features=[])

    def print(self):
        """Checks the printed form of a page."""
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        self.browser.open("ata_07_register_tiled.html")
        self.browser.evaluate("document.documentElement.classList.add('dark-mode')")
        visible = self.browser.evaluate("""(() => {
          const seen = selector => [...document.querySelectorAll(selector)].filter(one => one.checkVisibility()).length;
          return { frame: seen(".top, #sidebar, nav, .switch, button, .foot"), text: seen("h1") && seen("ins") && seen("del") && seen("dl"),
            folded: document.querySelectorAll("details.rest pre").length - seen("details.rest pre"), dark: book.pageIsDark() };
        })()""")
        if visible["frame"] or not visible["text"] or visible["folded"] or visible["dark"]:
            self.problems[PAPER].append(f"the printed page shows {visible}")
        self.browser.call("Emulation.setEmulatedMedia", media="")
        for path in sorted(HTML.glob("*_slides.html")):
            self.browser.open(path.name)
            paper = base64.b64decode(self.browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
            if (count := len(re.findall(rb"/Type\s*/Page\b", paper))) != 10:
                self.problems[PAPER].append(f"{path.name} takes {count} printed pages, not 10")

    def pick_lanes(self):
        """Compares the script of the warp figure with the functions in warp.py, and selects a lane in the figure."""
        page = "transformations.html"
        self.browser.open(page)
        for size in (4, 8):
            for stride in range(1, 34):
                for first in (0, 1, 7):
                    expected = [warp.sectors(stride, size, first), warp.wavefronts(stride, size, first)]
                    if (counted := self.browser.evaluate(f"staircaseWarp({stride}, {size}, {first})")) != expected:
                        self.problems[WARP].append(
                            f"stride {stride}, {size} bytes from {first}: the figure computes {counted}, not {expected}")
        visible = self.browser.evaluate("""(() => {
          const figure = document.getElementById("warp");
          figure.querySelector("[name=stride]").value = 1;
          figure.querySelector("[name=stride]").dispatchEvent(new Event("input", { bubbles: true }));
          figure.querySelectorAll(".cells button")[5].click();
          return { text: figure.innerText, table: figure.querySelector("table").checkVisibility() };
        })()""")
        for words in ("8 sectors per request; the minimum is 8, so 100 %", "2 wavefronts per request from shared memory; the minimum is 2",
                      "Lane 5 accesses bytes 40 to 47: sector 1, banks 10 and 11"):
            if words not in visible["text"]:
                self.problems[WARP].append(f"the figure lacks '{words}': {visible['text'][:300]}")
        if visible["table"]:
            self.problems[WARP].append("the table is visible in addition to the figure")

    def play(self):
        """Compares the scripts of the other interactive figures with the functions in played.py, and moves their
        sliders."""
        for page, name, rule, choices, words in (
                ("ata_07_register_tiled.html", "tile", played.tile, [(side,) for side in played.COMPILED], "10 × 10 sums: 254 registers"),
                ("transformations.html", "ring", played.ring, [(4, 9, 9, 9)] + [
                    (buffers, a, b, c) for buffers in (1, 2, 3) for a in (1, 4, 9) for b in (2, 5) for c in (1, 7)], "Eight slices take 90"),
                ("local_volatility_05_parallel_scan.html", "scan", played.scanned, [(step,) for step in range(5)], "16 lanes are done")):
            self.browser.open(page)
            for choice in choices:
                counted = self.browser.evaluate(f"staircasePlayed.{name}({', '.join(map(str, choice))})")
                if counted != json.loads(json.dumps(rule(*choice))):
                    self.problems[PLAYED].append(f"{name} computes {counted} for {choice}, not {rule(*choice)}")
            visible = self.browser.evaluate("""(() => {
              const figure = document.getElementById("play_%s");
              figure.querySelectorAll("input").forEach(input => {
                input.value = input.max;
                input.dispatchEvent(new Event("input", { bubbles: true }));
              });
              return { text: figure.innerText, table: figure.querySelector("table").checkVisibility() };
            })()""" % name)
            if words not in visible["text"] or visible["table"]:
                self.problems[PLAYED].append(f"the figure {name} lacks '{words}', or its table is visible: {visible}")

    def look(self, pages):
        """Performs the actions of readers."""
        for kind in WIDTHS:
            self.browser.resize(kind)
            self.toggle(kind)
        self.open_menu(pages)
        self.browser.resize("desktop")
        for look in (self.search, self.use_keys, self.switch_scripts_off, self.print, self.pick_lanes, self.play):
            look()


def reading_order():
    """The pages in reading order, by following each page's link to the next one."""
    pages, name = [], "index.html"
    while name and name not in pages:
        pages.append(name)
        following = re.search(r'<link rel="next" href="([^"]+)">', (HTML / name).read_text())
        name = following and following[1]
    return pages


def missed(pages):
    """The pages for readers that «next» does not reach."""
    names = {path.name for path in HTML.glob("*.html") if 'class="reading"' in path.read_text()}
    return [f"«next» does not reach {sorted(names.symmetric_difference(pages))}"] if names != set(pages) else []


def tasks(pages, directory):
    """The work of the tabs: methods of a visit, and their arguments. Pages of programs are alike, so only one in eight
    is opened."""
    names = sorted({path.name for path in HTML.glob("*.html")}.difference(pages))
    programs = [name for name in names if name.endswith("_source.html")]
    rest = sorted(set(names).difference(programs).union(programs[::8]))
    for first in range(0, len(pages), PAGES_AT_ONCE):
        yield Visit.walk, pages[first:first + PAGES_AT_ONCE], next(iter(pages[first + PAGES_AT_ONCE:]), None)
    for first in range(0, len(rest), PAGES_AT_ONCE):
        yield Visit.open_all, rest[first:first + PAGES_AT_ONCE]
    for check, fault in FAULTS:
        yield Visit.plant, check, fault, directory


def visit_all(browser, directory):
    """The problems of all checks."""
    pages = reading_order()
    problems = collections.defaultdict(list, {ORDER: missed(pages)})
    free = queue.SimpleQueue()
    for _ in range(TABS):
        free.put(Tab(browser))

    def take(method, *arguments):
        visit = Visit(free.get())
        try:
            method(visit, *arguments)
        finally:
            free.put(visit.browser)
        return visit
    foreground = Visit(Tab(browser, foreground=True))
    with concurrent.futures.ThreadPoolExecutor(TABS) as pool:
        taken = [pool.submit(take, *task) for task in tasks(pages, directory)]
        try:
            foreground.look(pages)
            visits = [foreground, *(task.result() for task in taken)]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    for visit in visits:
        for check, found in visit.problems.items():
            problems[check] += found
    return problems


def main():
    """Prints the results as TAP."""
    program = shutil.which("chromium")
    if not program or not (HTML / "index.html").exists():
        tap.skip("the book is not built" if program else "Chromium is not installed")
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        try:
            browser = Browser(program, profile)
        except ConnectionError:
            tap.skip("Chromium does not start here")
            return
        try:
            problems = visit_all(browser, profile)
        finally:
            browser.stop()
    tap.report((check, problems[check]) for check in CHECKS)


main()
