"""The book in a browser: browser_test.py HTML_DIRECTORY. Speaks TAP.

Opens every page in one headless Chromium, at the width of a desktop and of a phone.
"""

import collections
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile

import tap
from draw import played, warp

HTML = pathlib.Path(sys.argv[1]).resolve()
WIDTHS = {"desktop": (1440, 1000), "phone": (390, 844)}
WITH_FORMULAS = "local_volatility.html"
LEAST_CONTRAST = 4.5  # WCAG 2, level AA
PATIENCE = 60  # seconds for the slowest answer of the browser

SYSTEM = {"light": False, "dark": True}
# What somebody looks for, and pages that have to be among the first ten found.
QUERIES = {"tensor": ("ata_09_tensor_core", "cholesky_08_tensor_cores", "glossary"), "tiling": ("transformations", "ata_04_tiled"),
           "roofline": ("measuring", "glossary"), "shared memory": ("glossary", "transformations"), "shared mem": ("glossary",),
           "cudaMemcpyAsync": ("matmul_05_pinned",), "bernstein": ("slicing_a_loop",), "multiply_tiles": ("ata_07_register_tiled",)}
NOTHING = "xylophone"

CHECKS = (ERRORS, MATHS, WIDE, ALTERNATIVE, CROWDED, PALE, TOGGLE, ORDER, NAMED, SEARCH, WOVEN, KEYS, MENU, UNSCRIPTED, PAPER, WARP,
          PLAYED, CAUGHT) = (
    "no page has an error or a request that fails", "every formula is typeset",
    "no page scrolls sideways", "every image has an alternative text",
    "words in diagrams have room and can be read", "text stands out in light and in dark mode",
    "the dark mode can be switched on and off",
    "clicks on «next» lead from the first page to the last",
    "everything has a name, a role and a place for readers with other senses", "the search finds what is looked for",
    "a piece of a diff shows the code before, the code after, and both", "keys alone lead through a page",
    "the menu of a phone leads to every page", "pages are whole without scripts", "paper has the text, unfolded, and no frame",
    "the figure of a warp counts as the table without scripts does", "the other figures to play with do as well",
    "planted mistakes are caught")

# What makes a page fail a check.
MISTAKES = [
    (ERRORS, "<script>console.error('planted')</script>"), (ERRORS, "<script>planted()</script>"),
    (ERRORS, "<img src='planted.png' alt='planted'>"), (MATHS, r"<p>\(\planted\)</p>"),
    (MATHS, r"<p>\(planted</p>"), (WIDE, "<p style='min-width: 3000px'>planted</p>"),
    (ALTERNATIVE, "<img src='staircase.svg'>"), (PALE, "<p style='color: #888'>planted</p>"), *((NAMED, planted) for planted in (
        "<p id='content'>planted</p>", "<a href='index.html'></a>", "<button></button>", "<input>", "<h5>planted</h5>",
        "<nav>planted</nav>", "<nav aria-label='The book'>planted</nav>", "<p tabindex='3'>planted</p>", "<ul><p>planted</p></ul>",
        "<div aria-labelledby='nowhere'>planted</div>", "<div role='planted'>planted</div>",
        "<div style='overflow-x: auto; width: 9em'><p style='width: 99em'>planted</p></div>", "<main>planted</main>",
        "<p aria-hidden='true'><a href='index.html'>planted</a></p>")),
    *((CROWDED, f"<figure class='diagram'><svg viewBox='0 0 99 99' width='99'>{words}</svg></figure>") for words in (
        "<text y='50'>planted</text><text y='52'>planted</text>", "<text x='80' y='50'>planted</text>",
        "<text y='50' style='font-size: 9px'>planted</text>"))]

# Defines what the checks below call, in every page, before the page's own scripts run.
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

function scrollsByItself(element, page) {
  for (let at = element; at && at !== page; at = at.parentElement)
    if (["auto", "scroll"].includes(getComputedStyle(at).overflowX) || at.localName === "svg") return true;
  return false;
}

function tooWide(width) {
  const content = document.querySelector("main");
  const problems = [];
  for (const [name, scroller] of [["page", document.scrollingElement], ["content", content]]) {
    if (!scroller) continue;
    const room = Math.min(width, scroller.clientWidth);
    if (scroller.scrollWidth > room) problems.push(`the ${name} is ${scroller.scrollWidth} px in ${room}`);
  }
  // What sticks out on the left cannot be scrolled to.
  const left = content ? content.getBoundingClientRect().left : 0;
  const culprits = [...(content || document.body).querySelectorAll("*")].filter(element => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && (box.right > width + 1 || box.left < left - 1) && element.checkVisibility() &&
      !scrollsByItself(element, content);
  });
  return problems.concat(culprits.slice(0, 3).map(nameOf));
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
  problems.push(...all.filter(jax => isFaulty(jax.root)).map(jax => `error in ${jax.originalText}`));
  for (const drawing of document.querySelectorAll(".MathJax_SVG"))
    if (drawing.checkVisibility() && !drawing.getBoundingClientRect().width) problems.push("an empty formula");
  for (const node of textNodes(document.body))
    if (/\\[a-zA-Z()\[\]{}$]/.test(node.data) && !node.parentElement.closest(quoted))
      problems.push(`raw TeX: ${node.data.trim().slice(0, 60)}`);
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

// Words in diagrams that meet others, stick out, or are smaller than any reader should have to read.
function crowded() {
  const problems = [];
  for (const drawing of document.querySelectorAll(".diagram svg")) {
    if (!drawing.checkVisibility()) continue;
    const room = drawing.getBoundingClientRect();
    const words = [...drawing.querySelectorAll("text")].map(text => ({ text, box: text.getBoundingClientRect() }));
    for (const [i, { text, box }] of words.entries()) {
      const size = parseFloat(getComputedStyle(text).fontSize) * room.width / drawing.viewBox.baseVal.width;
      if (size < 9.4) problems.push(`${size.toFixed(1)} px: ${nameOf(text)}`);
      if (box.left < room.left - 1 || box.right > room.right + 1) problems.push(`sticks out: ${nameOf(text)}`);
      for (const other of words.slice(0, i))
        if (Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 1 &&
            Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top) > 3)
          problems.push(`${nameOf(text)} meets ${nameOf(other.text)}`);
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

function background(element) {
  if (!element) return [255, 255, 255];
  const own = parsed(getComputedStyle(element).backgroundColor);
  return own.alpha === 1 ? own.rgb : over(own, background(element.parentElement));
}

function luminance(rgb) {
  const [r, g, b] = rgb.map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(element) {
  const style = getComputedStyle(element);
  const behind = background(element);
  const text = over(parsed(element.closest("svg") ? style.fill : style.color), behind);
  const [dark, light] = [luminance(text), luminance(behind)].sort((a, b) => a - b);
  return { ratio: (light + 0.05) / (dark + 0.05), text, behind };
}

// Text that is too pale, one example for a pair of colours.
function pale(least) {
  const found = new Map();
  for (const element of new Set(textNodes(document.body)
      .map(node => node.parentElement))) {
    if (element.closest("script, style, noscript") || !element.checkVisibility({ visibilityProperty: true }))
      continue;
    const { ratio, text, behind } = contrast(element);
    const pair = `${text.map(Math.round)} on ${behind.map(Math.round)}`;
    if (ratio < least && !found.has(pair)) found.set(pair, `${ratio.toFixed(2)}: ${pair}, ${nameOf(element)}`);
  }
  return [...found.values()];
}

function paleInBothModes(least) {
  const problems = [];
  const atOnce = document.head.appendChild(document.createElement("style"));
  atOnce.textContent = "* { transition: none !important; }";
  for (const dark of [true, false]) {
    switchTo(dark);
    problems.push(...pale(least).map(text => `${dark ? "dark" : "light"}: ${text}`));
  }
  return problems;
}

function pageIsDark() {
  return luminance(background(document.body)) < 0.2;
}

function switchTo(dark) {
  document.documentElement.classList.toggle("dark-mode", dark);
  document.documentElement.classList.toggle("light-mode", !dark);
}

// What axe calls serious, as far as pages like these can have it.
function unnamed() {
  const problems = [];
  const say = (what, element) => problems.push(`${what}: ${nameOf(element)}`);
  const seen = selector => [...document.querySelectorAll(selector)].filter(element => element.checkVisibility({ visibilityProperty: true }));
  const nameFor = element => (element.getAttribute("aria-label") || element.labels?.[0]?.textContent || element.title ||
    element.textContent || "").trim();
  for (const element of seen("a[href], button, input, select, textarea, summary, [role=region], [role=group], nav, svg[role=img], fieldset"))
    if (!element.closest("[aria-hidden=true]") && !nameFor(element)) say("no name", element);
  const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
  for (const id of new Set(ids.filter((id, n) => ids.indexOf(id) < n))) problems.push(`an id twice: ${id}`);
  for (const attribute of ["aria-labelledby", "aria-controls", "aria-describedby", "for", "popovertarget"])
    for (const element of document.querySelectorAll(`[${attribute}]`))
      if (!document.getElementById(element.getAttribute(attribute))) say(`${attribute} leads nowhere`, element);
  for (const [selector, count] of [["h1", 1], ["main", 1], ["title", 1], ["body > header", 1], ["body > footer", 1]])
    if (document.querySelectorAll(selector === "title" ? "head > title" : selector).length !== count) problems.push(`${selector} is not there once`);
  if (!document.documentElement.lang) problems.push("no language");
  let level = 0;
  for (const heading of seen("main :is(h1, h2, h3, h4, h5, h6)")) {
    if (+heading.localName[1] > level + 1) say(`from level ${level} to`, heading);
    level = +heading.localName[1];
  }
  const landmarks = seen("nav, [role=search]").map(element => element.getAttribute("aria-label") || element.localName);
  for (const label of new Set(landmarks.filter((label, n) => landmarks.indexOf(label) < n))) problems.push(`two are called ${label}`);
  for (const element of seen("nav")) if (!element.hasAttribute("aria-label")) say("no label", element);
  for (const element of document.querySelectorAll("[tabindex]")) if (element.tabIndex > 0) say("an order of its own", element);
  for (const list of document.querySelectorAll("ul, ol"))
    for (const child of list.children) if (!["li", "script", "template"].includes(child.localName)) say("in a list", child);
  for (const item of document.querySelectorAll("li")) if (!item.parentElement.matches("ul, ol, menu")) say("in no list", item);
  const roles = ["button", "group", "img", "region", "search", "status", "presentation", "none", "list", "math", "figure", "note", "textbox"];
  for (const element of document.querySelectorAll("[role]")) if (!roles.includes(element.getAttribute("role"))) say("an unknown role", element);
  for (const hidden of document.querySelectorAll("[aria-hidden=true]"))
    for (const element of hidden.querySelectorAll("a[href], button, input, [tabindex='0']"))
      if (element.checkVisibility()) say("hidden, but in the way of keys", element);
  for (const element of seen("main *")) {
    const style = getComputedStyle(element);
    const scrolls = ["auto", "scroll"].includes(style.overflowX) && element.scrollWidth > element.clientWidth + 1 ||
      ["auto", "scroll"].includes(style.overflowY) && element.scrollHeight > element.clientHeight + 1;
    if (scrolls && element.tabIndex < 0 && !element.querySelector("a[href], button, input, [tabindex='0']")) say("no key scrolls", element);
  }
  return problems;
}

// The button is there once the page's script has run.
function toggle() {
  const button = document.querySelector("button.mode");
  if (!button || button.hidden || !isOnTop(button)) return "there is no visible button";
  const before = button.getAttribute("aria-pressed");
  button.click();
  return button.getAttribute("aria-pressed") === before ? "the button does not tell its state" : "";
}

async function found(text) {
  const field = document.querySelector(".search input");
  field.focus();
  field.value = text;
  document.getElementById("found").replaceChildren();
  field.dispatchEvent(new Event("input"));
  for (let frame = 0; frame < 900 && !document.querySelector("#found .count"); ++frame) await new Promise(requestAnimationFrame);
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
      if (shown(piece) !== wanted) problems.push(`${piece.id}, ${value}: ${shown(piece)}`);
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
    """One tab of a headless Chromium, driven over a pipe by the DevTools protocol."""

    def __init__(self, program, profile):
        # The browser reads file descriptor 3 and writes 4.
        command = ["sh", "-c", 'exec "$@" 3<&0 4>&1 0</dev/null 1>&2', "sh", program, "--headless=new",
                   "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run",
                   "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
                   "--disable-background-networking", "--disable-component-update", "about:blank"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.number, self.session, self.events, self.received = 0, None, [], b""
        tab = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=HELPERS)

    def stop(self):
        """Asks the browser to end, and makes it end where it does not."""
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def receive(self):
        """The next message."""
        while b"\0" not in self.received:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            more = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                raise ConnectionError("the browser says nothing any more")
            self.received += more
        message, _, self.received = self.received.partition(b"\0")
        return json.loads(message)

    def call(self, method, **parameters):
        """The result of a command; keeps the events that come before it."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.process.stdin.write(json.dumps(message).encode() + b"\0")
        self.process.stdin.flush()
        while (answer := self.receive()).get("id") != self.number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def evaluate(self, expression):
        """The value of a script, waited for where it is a promise."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {text_of(result['exceptionDetails'])}")
        return result["result"].get("value")

    def wait_for_load(self):
        """Waits until the page has loaded what it names."""
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def resize(self, kind):
        """Makes the window that of a desktop or a phone and returns its width."""
        width, height = WIDTHS[kind]
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=kind == "phone")
        self.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        return width

    def open(self, name):
        """Loads a page of the book."""
        self.events.clear()
        self.call("Page.navigate", url=(HTML / name).as_uri())
        self.wait_for_load()

    def open_next(self):
        """Clicks on the link to the next page and loads it; whether there is one."""
        self.events.clear()
        answer = self.evaluate("book.goOn()")
        if answer == "the end":
            return False
        if answer:
            raise RuntimeError(answer)
        self.wait_for_load()
        return True

    def complaints(self):
        """What went wrong in the page since it was opened: exceptions, console errors, failed requests."""
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
    """The first line of what the browser says of an exception."""
    return exception.get("exception", {}).get("description", exception["text"]).splitlines()[0]


class Visit:
    """What was found on the pages, by check."""

    def __init__(self, browser):
        self.browser = browser
        self.problems = collections.defaultdict(list)
        self.visited = []

    def inspect(self, name, width, kind, wanted=CHECKS):
        """Checks the page that is open, at one width, for what is wanted."""
        checks = {MATHS: "book.untypeset()", WIDE: f"book.tooWide({width})", CROWDED: "book.crowded()"}
        if kind == "desktop":
            checks |= {NAMED: "book.unnamed()", WOVEN: "book.pieces()", ALTERNATIVE: "book.withoutAlternative()", PALE: f"book.paleInBothModes({LEAST_CONTRAST})"}
        for check, script in checks.items():
            self.problems[check] += [f"{name}, {width} px: {problem}"
                                     for problem in (self.browser.evaluate(script) if check in wanted else ())]
        self.problems[ERRORS] += [f"{name}, {width} px: {complaint}" for complaint in self.browser.complaints()]

    def inspect_at(self, kinds):
        """Checks the page that is open at several widths, the one that it was opened at first."""
        name = self.browser.evaluate("document.documentURI").rpartition("/")[2].partition("#")[0]
        self.visited.append(name)
        for kind in kinds:
            self.inspect(name, self.browser.resize(kind), kind)

    def walk(self):
        """Follows «next» from the first page to the last; desktop and phone take turns in opening a page."""
        ordered = {path.name for path in HTML.glob("*.html") if 'class="reading"' in path.read_text()}
        kinds = list(WIDTHS)
        self.browser.resize(kinds[0])
        self.browser.open("index.html")
        self.inspect_at(kinds)
        while len(self.visited) <= len(ordered) and self.browser.open_next():
            kinds.reverse()
            self.inspect_at(kinds)
        if sorted(self.visited) != sorted(ordered):
            missed = sorted(ordered.symmetric_difference(self.visited))
            self.problems[ORDER].append(f"the walk ends at {self.visited[-1]}; {missed}")

    def open_rest(self):
        """Opens every page that «next» does not lead to, once for all widths; of the programs, which are alike, one in eight."""
        names = sorted({path.name for path in HTML.glob("*.html")}.difference(self.visited))
        programs = [name for name in names if name.endswith("_source.html")]
        for name in sorted(set(names).difference(programs).union(programs[::8])):
            self.browser.open(name)
            self.inspect_at(WIDTHS)

    def plant(self, directory):
        """Puts mistakes into a copy of a page, one at a time, and reports those that go unnoticed."""
        page, width = pathlib.Path(directory, "planted.html"), self.browser.resize("desktop")
        text = (HTML / WITH_FORMULAS).read_text().replace("<head>", f'<head><base href="{HTML.as_uri()}/">')
        for check, mistake in MISTAKES:
            page.write_text(text.replace("<article>", f"<article>{mistake}", 1))
            self.browser.open(page)
            found = Visit(self.browser)
            found.inspect("planted.html", width, "desktop", (check,))
            if not found.problems[check]:
                self.problems[CAUGHT].append(mistake)

    def toggle(self, kind):
        """Switches to dark mode and back, with a page opened in between."""
        for name, dark in (("index.html", True), ("how_to_read.html", False)):
            self.browser.open(name)
            if self.browser.evaluate("book.pageIsDark()") == dark:
                self.problems[TOGGLE].append(f"{kind}: {name} opens {'dark' if dark else 'light'}")
            problem = self.browser.evaluate("book.toggle()")
            if problem:
                self.problems[TOGGLE].append(f"{kind}: {name}: {problem}")
            elif self.browser.evaluate("book.pageIsDark()") != dark:
                self.problems[TOGGLE].append(f"{kind}: {name} does not turn {'dark' if dark else 'light'}")

    def search(self):
        """Looks for what readers look for, from a page that was opened as a file."""
        self.browser.open("index.html")
        for text, wanted in QUERIES.items():
            answer = self.browser.evaluate(f"book.found({json.dumps(text)})")
            first = [link.partition(".html")[0] for link in answer["links"][:10]]
            missed = [page for page in wanted if page not in first]
            if missed or not answer["marked"]:
                self.problems[SEARCH].append(f"'{text}' misses {missed}, finds {first}")
            for link in answer["links"]:
                page, _, anchor = link.partition("#")
                if anchor and f'id="{anchor}"' not in (HTML / page).read_text():
                    self.problems[SEARCH].append(f"'{text}' leads to {link}")
        if (answer := self.browser.evaluate(f"book.found('{NOTHING}')"))["links"]:
            self.problems[SEARCH].append(f"'{NOTHING}' finds {answer['links']}")

    def press(self, key, code=0, text=""):
        """Presses a key."""
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key if len(key) > 1 else "", text=text if kind == "keyDown" else "",
                              windowsVirtualKeyCode=code)
        self.browser.evaluate("new Promise(drawn => setTimeout(drawn, 250))")

    def use_keys(self):
        """Goes through a page by keys."""
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
        expect("ArrowDown does not lead to what was found", "document.activeElement.closest('#found') !== null")
        self.press("Escape", 27)
        expect("Escape does not end the search", "document.getElementById('found').hidden && document.activeElement.name === 'q'")
        self.press("Tab", 9)
        expect("the switch for dark mode is not behind the search", "document.activeElement.className === 'mode'")
        dark = browser.evaluate("book.pageIsDark()")
        self.press(" ", 32, " ")
        expect("Space does not switch the mode", f"book.pageIsDark() !== {json.dumps(dark)}")
        self.press(" ", 32, " ")
        browser.evaluate("document.querySelector('.piece input').focus()")
        self.press("ArrowRight", 39)
        expect("ArrowRight does not switch the diff", "document.querySelector('.piece input[value=old]').checked")
        browser.evaluate("document.querySelector('.piece pre').focus()")
        expect("a diff cannot have the focus", "document.activeElement.localName === 'pre'")

    def open_menu(self):
        """Opens the menu of a phone and looks where it leads."""
        self.browser.open("index.html")
        if self.browser.evaluate("document.getElementById('sidebar').checkVisibility()"):
            self.problems[MENU].append("it is open at once")
        self.browser.evaluate("document.querySelector('button.menu').click()")
        answer = self.browser.evaluate("""(() => {
          const menu = document.getElementById("sidebar");
          menu.querySelectorAll("details").forEach(part => { part.open = true; });
          const links = [...menu.querySelectorAll("a")].filter(link => link.checkVisibility());
          return { links: links.map(link => link.getAttribute("href")), low: links.filter(link => link.getBoundingClientRect().height < 24).length,
            wide: menu.getBoundingClientRect().right > innerWidth };
        })()""")
        missing = set(self.visited).difference(answer["links"], {path.name for path in HTML.glob("*_source.html")})
        missing = {name for name in missing if 'rel="next"' in (HTML / name).read_text()}
        if missing or answer["low"] or answer["wide"]:
            self.problems[MENU].append(f"misses {sorted(missing)[:5]}, {answer['low']} links are too low to hit, wide: {answer['wide']}")

    def switch_scripts_off(self):
        """Opens a page without scripts, in both modes of the system."""
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        for mode, is_dark in SYSTEM.items():
            self.browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": mode}])
            self.browser.open("ata_04_tiled.html")
            said = self.browser.evaluate("""(() => {
              const seen = selector => [...document.querySelectorAll(selector)].filter(one => one.checkVisibility()).length;
              return { ins: seen("pre.diff ins"), del: seen("pre.diff del"), dead: seen("form.search, button.mode, .copy"), links: seen("#sidebar a"),
                dark: getComputedStyle(document.body).backgroundColor };
            })()""")
            dark = sum(map(int, said.pop("dark").removeprefix("rgb(").removesuffix(")").split(","))) < 200
            if not said["ins"] or not said["del"] or said["dead"] or said["links"] < 20 or dark != is_dark:
                self.problems[UNSCRIPTED].append(f"{mode}: {said}, dark: {dark}")
        self.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        self.browser.call("Emulation.setEmulatedMedia", features=[])

    def print(self):
        """Looks at a page as it goes to paper."""
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        self.browser.open("ata_07_register_tiled.html")
        self.browser.evaluate("document.documentElement.classList.add('dark-mode')")
        said = self.browser.evaluate("""(() => {
          const seen = selector => [...document.querySelectorAll(selector)].filter(one => one.checkVisibility()).length;
          return { frame: seen(".top, #sidebar, nav, .switch, button, .foot"), text: seen("h1") && seen("ins") && seen("del") && seen("dl"),
            folded: document.querySelectorAll("details.rest pre").length - seen("details.rest pre"), dark: book.pageIsDark() };
        })()""")
        if said["frame"] or not said["text"] or said["folded"] or said["dark"]:
            self.problems[PAPER].append(str(said))
        self.browser.call("Emulation.setEmulatedMedia", media="")

    def pick_lanes(self):
        """Holds what the figure of a warp counts to what its table was made by, and picks a lane."""
        page = "transformations.html"
        self.browser.open(page)
        for size in (4, 8):
            for stride in range(1, 34):
                for first in (0, 1, 7):
                    expected = [warp.sectors(stride, size, first), warp.rounds(stride, size, first)]
                    if (counted := self.browser.evaluate(f"staircaseWarp({stride}, {size}, {first})")) != expected:
                        self.problems[WARP].append(f"stride {stride}, {size} bytes from {first}: {counted}, not {expected}")
        said = self.browser.evaluate("""(() => {
          const figure = document.getElementById("warp");
          figure.querySelector("[name=stride]").value = 1;
          figure.querySelector("[name=stride]").dispatchEvent(new Event("input", { bubbles: true }));
          figure.querySelectorAll(".cells button")[5].click();
          return { text: figure.innerText, table: figure.querySelector("table").checkVisibility() };
        })()""")
        for words in ("8 sectors move, where 8 would do: 100 %", "it takes 2 rounds, where 2 would do", "Lane 5 wants bytes 40 to 47: sector 1, banks 10 and 11"):
            if words not in said["text"]:
                self.problems[WARP].append(f"'{words}' is not in '{said['text'][:300]}'")
        if said["table"]:
            self.problems[WARP].append("the table is there beside the figure")


    def play(self):
        """Holds the other figures to play with to what their tables were made by, and moves their sliders."""
        for page, name, rule, choices, words in (
                ("ata_07_register_tiled.html", "tile", played.tile, [(side,) for side in played.COMPILED], "10 × 10 sums: 254 registers"),
                ("transformations.html", "ring", played.ring, [(4, 9, 9, 9)] + [
                    (buffers, a, b, c) for buffers in (1, 2, 3) for a in (1, 4, 9) for b in (2, 5) for c in (1, 7)], "Eight slices take 90"),
                ("local_volatility_05_tridag_scan.html", "scan", played.scanned, [(step,) for step in range(5)], "16 lanes are done")):
            self.browser.open(page)
            for choice in choices:
                counted = self.browser.evaluate(f"staircasePlayed.{name}({', '.join(map(str, choice))})")
                if counted != json.loads(json.dumps(rule(*choice))):
                    self.problems[PLAYED].append(f"{name} of {choice}: {counted}, not {rule(*choice)}")
            said = self.browser.evaluate("""(() => {
              const figure = document.getElementById("play_%s");
              figure.querySelectorAll("input").forEach(input => {
                input.value = input.max;
                input.dispatchEvent(new Event("input", { bubbles: true }));
              });
              return { text: figure.innerText, table: figure.querySelector("table").checkVisibility() };
            })()""" % name)
            if words not in said["text"] or said["table"]:
                self.problems[PLAYED].append(f"{name}: {said}")


def main():
    """Prints the results; meson reads them."""
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
            visit = Visit(browser)
            visit.walk()
            for kind in WIDTHS:
                browser.resize(kind)
                visit.toggle(kind)
            visit.open_menu()
            browser.resize("desktop")
            for look in (visit.search, visit.use_keys, visit.switch_scripts_off, visit.print, visit.pick_lanes, visit.play):
                look()
            visit.open_rest()
            visit.plant(profile)
        finally:
            browser.stop()
    tap.report((check, visit.problems[check]) for check in CHECKS)


main()
