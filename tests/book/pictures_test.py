"""Tests the README's pictures: pictures_test.py ROOT. Prints TAP."""

import pathlib
import re
import struct
import sys
import xml.etree.ElementTree

import tap
from draw import pictures

ROOT = pathlib.Path(sys.argv[1]).resolve()
README = (ROOT / "README.md").read_text()
FRACTION = re.compile(r"-?\d+\.\d+")


def same_drawing(drawing, other):
    """Whether two drawings are equal up to the last digits of coordinates."""
    places, others = (list(map(float, FRACTION.findall(re.sub(r">[^<]*<", "", text)))) for text in (drawing, other))
    texts, other_texts = (re.findall(r">([^<]*)<", text) for text in (drawing, other))
    return texts == other_texts and len(places) == len(others) and all(
        abs(place - another) < 0.05 for place, another in zip(places, others))


def stale_ladders():
    """Yields ladders that do not show the recorded runs."""
    for mode in pictures.MODES:
        path = pictures.PICTURES / f"ladder_{mode}.svg"
        xml.etree.ElementTree.fromstring(path.read_text())
        if not same_drawing(pictures.ladder(mode), path.read_text()):
            yield f"{path.name} differs from the recorded runs; python3 docs pictures ladder draws it"


def accepted_changes():
    """Yields changes of a ladder that are not detected."""
    drawing = pictures.ladder("light")
    time = re.search(r">(\d+\.\d) s<", drawing)[1]
    for changed in (drawing.replace(f">{time} s<", ">12.3 s<", 1), re.sub(r'x="(\d+)\.\d\d"', r'x="\1.99"', drawing),
                    drawing.replace("revision", "revisions", 1)):
        if changed == drawing or same_drawing(drawing, changed):
            yield f"a changed ladder with {len(changed)} instead of {len(drawing)} characters is accepted"


def wrong_screenshots():
    """Yields files that are not pictures, or that have a wrong size."""
    for mode in pictures.MODES:
        head = (pictures.PICTURES / f"page_{mode}.png").read_bytes()[:24]
        if head[:8] != b"\x89PNG\r\n\x1a\n" or struct.unpack(">II", head[16:]) != pictures.SIZE:
            yield f"page_{mode}.png is not a PNG image of {pictures.SIZE} pixels"


def unused_or_missing():
    """Yields pictures that the README does not show, and missing pictures that it shows."""
    shown = set(re.findall(r'(?:src|srcset)="(docs/pictures/[^"]+)"', README))
    there = {str(path.relative_to(ROOT)) for path in pictures.PICTURES.iterdir()}
    yield from (f"only one of README and docs/pictures has {path}" for path in sorted(shown ^ there))
    yield from (f"the alternative text is too short: {image}"
                for image in re.findall(r"<img [^>]*>", README) if not re.search(r'alt="[^"]{20,}"', image))


CHECKS = [("the pictures of ladders show the recorded runs", stale_ladders),
          ("a change of a ladder is detected", accepted_changes),
          ("the screenshots of a page are PNG images of the right size", wrong_screenshots),
          ("the README shows every picture, with an alternative text of at least 20 characters", unused_or_missing)]

tap.report(((title, check()) for title, check in CHECKS), most=None)
