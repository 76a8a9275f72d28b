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

HTML = pathlib.Path(sys.argv[1]).resolve()
WIDTHS = {"desktop": (1280, 800), "phone": (400, 800)}
WITH_FORMULAS = "local_volatility.html"
LEAST_CONTRAST = 4.5  # WCAG 2, level AA
PATIENCE = 60  # seconds for the slowest answer of the browser

CHECKS = ERRORS, MATHS, WIDE, ALTERNATIVE, CROWDED, PALE, TOGGLE, ORDER, CAUGHT = (
    "no page has an error or a request that fails", "every formula is typeset",
    "no page scrolls sideways", "every image has an alternative text",
    "words in diagrams have room and can be read", "text stands out in light and in dark mode",
    "the dark mode can be switched on and off",
    "clicks on «next» lead from the first page to the last",
    "planted mistakes are caught")

# What makes a page fail a check.
MISTAKES = [
    (ERRORS, "<script>console.error('planted')</script>"), (ERRORS, "<script>planted()</script>"),
    (ERRORS, "<img src='planted.png' alt='planted'>"), (MATHS, r"<p>\(\planted\)</p>"),
    (MATHS, r"<p>\(planted</p>"), (WIDE, "<p style='min-width: 3000px'>planted</p>"),
    (ALTERNATIVE, "<img src='doxygen.svg'>"), (PALE, "<p style='color: #888'>planted</p>"),
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
  const content = document.getElementById("doc-content");
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
  for (const element of new Set(textNodes(document.getElementById("doc-content") || document.body)
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
    DoxygenAwesomeDarkModeToggle.enableDarkMode(dark);
    problems.push(...pale(least).map(text => `${dark ? "dark" : "light"}: ${text}`));
  }
  return problems;
}

function pageIsDark() {
  return luminance(background(document.body)) < 0.2;
}

// The theme adds its button some time after the page is loaded.
async function toggle() {
  const find = () => document.querySelector("doxygen-awesome-dark-mode-toggle");
  for (let frame = 0; frame < 300 && !find(); ++frame) await new Promise(requestAnimationFrame);
  const button = find();
  if (!button || !isOnTop(button)) return "there is no visible button";
  button.click();
  return "";
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

return { tooWide, untypeset, withoutAlternative, crowded, paleInBothModes, pageIsDark, toggle, goOn };
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

    def inspect(self, name, width, kind):
        """Checks the page that is open, at one width."""
        checks = {MATHS: "book.untypeset()", WIDE: f"book.tooWide({width})", CROWDED: "book.crowded()"}
        if kind == "desktop":
            checks |= {ALTERNATIVE: "book.withoutAlternative()", PALE: f"book.paleInBothModes({LEAST_CONTRAST})"}
        for check, script in checks.items():
            self.problems[check] += [f"{name}, {width} px: {problem}"
                                     for problem in self.browser.evaluate(script)]
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
        """Opens every page that «next» does not lead to, once for all widths; of the lists of files in a directory, which
        are alike, one in eight."""
        names = sorted({path.name for path in HTML.glob("*.html")}.difference(self.visited))
        lists = [name for name in names if name.startswith("dir_")]
        for name in sorted(set(names).difference(lists).union(lists[::8])):
            self.browser.open(name)
            self.inspect_at(WIDTHS)

    def plant(self, directory):
        """Puts mistakes into a copy of a page, one at a time, and reports those that go unnoticed."""
        page, width = pathlib.Path(directory, "planted.html"), self.browser.resize("desktop")
        text = (HTML / WITH_FORMULAS).read_text().replace("<head>", f'<head><base href="{HTML.as_uri()}/">')
        for check, mistake in MISTAKES:
            page.write_text(text.replace('<div class="contents">', f'<div class="contents">{mistake}', 1))
            self.browser.open(page)
            found = Visit(self.browser)
            found.inspect("planted.html", width, "desktop")
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
            visit.open_rest()
            visit.plant(profile)
        finally:
            browser.stop()
    tap.report((check, visit.problems[check]) for check in CHECKS)


main()
