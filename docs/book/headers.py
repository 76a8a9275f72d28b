"""The pages of the headers that stages include. A page contains the purpose and the source of a header, and listings
link to it."""

import html
import re

INCLUDED = re.compile(r"&lt;staircase/(\w+)\.hpp&gt;")


def headers(root):
    """The headers, by the label of their page."""
    return {f"header_{path.stem}": path for path in sorted((root / "common" / "include" / "staircase").glob("*.hpp"))}


def purpose(path):
    r"""The purpose of a header: the text of its first comment, without `\file`."""
    comment = re.match(r"((?:///.*\n)+)", path.read_text())
    lines = [line.removeprefix("///").strip() for line in comment[1].splitlines()] if comment else []
    if not lines or lines[0] != "\\file":
        raise SystemExit(f"{path} does not begin with a comment that says what it is for")
    return "\n".join(lines[1:]).strip()


def write(root, generated):
    """Writes the page of every header, and the list of them."""
    items = ""
    for label, path in headers(root).items():
        name, what = f"staircase/{path.name}", purpose(path)
        (generated / f"{label}.md").write_text(
            f"# {name} {{#{label}}}\n\n{what}\n\n\\include{{lineno}} {path.relative_to(root)}\n")
        first = re.split(r"(?<=[.:])\s", re.sub(r"\s+", " ", what))[0].rstrip(":.") + "."
        text = re.sub(r"`(.*?)`", r"<code>\1</code>", html.escape(first, quote=False))
        items += f'<li><a href="{label}.html"><code>&lt;{name}&gt;</code></a>: {text}</li>'
    (generated / "headers.html").write_text(f"<ul>{items}</ul>\n")


def with_links(listing):
    """A listing with links from its includes to the pages of the headers."""
    return INCLUDED.sub(r'<a href="header_\1.html">&lt;staircase/\1.hpp&gt;</a>', listing)
