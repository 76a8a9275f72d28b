"""Working copies that contain the code of the stage itself, with gaps. These copies are for learners who have never written
a kernel."""

from workshop import Refused, book, head_of

# By workload and stage: the missing lines, and the task that replaces these lines.
GAPS = {("ata", "03_naive_cuda"): (
    ("  const unsigned i = blockIdx.y * tile + threadIdx.y;\n"
     "  const unsigned j = blockIdx.x * tile + threadIdx.x;\n"
     "  if (i >= cols || j >= cols) return;\n",
     "which row i and which column j of C does this thread compute? Which threads have no element of C?"),
    ("  double sum = 0;\n"
     "  for (std::size_t k = 0; k < rows; ++k) sum += a(k, i) * a(k, j);\n"
     "  c(i, j) = sum;\n",
     "add up the products over k, and store the sum"),
    ("  a.copy_from(problem.a.data());\n", "copy A to the device"),
    ("  const unsigned tiles = (cols + tile - 1) / tile;\n"
     "  multiply<<<dim3(tiles, tiles), dim3(tile, tile)>>>(a, c);\n",
     "launch multiply(a, c). How many blocks of 16 x 16 threads cover C?"),
    ("  c.copy_to(product.data());\n", "copy C to the host"))}


def skeleton_of(copy):
    """The text of a working copy with gaps. Raises Refused if there are no gaps for the stage."""
    stage = copy.stage
    if (stage.workload, stage.name) not in GAPS:
        there = ", ".join(" ".join(name) for name in GAPS)
        raise Refused(f"there is no skeleton of {copy.command}; --skeleton takes {there}")
    lines, _ = book.numbered_body(stage.source)
    body = "\n".join(lines) + "\n"
    for missing, task in GAPS[stage.workload, stage.name]:
        if body.count(missing) != 1:
            raise ValueError(f"{stage.source} does not contain once: {missing}")
        body = body.replace(missing, f"  // TODO: {task}\n")
    return head_of(copy, f"It is the code of {stage.name} with gaps.") + "\n" + body
