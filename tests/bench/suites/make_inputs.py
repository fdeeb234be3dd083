#!/usr/bin/env python3
"""Random inputs in the forms that the programs of Rodinia and Parboil read, always the same.

    tests/bench/suites/make_inputs.py rodinia|parboil ROOT [--size small|large]

Writes ROOT/inputs/small and ROOT/inputs/large, which the lists beside this file name. A file that is there already stays.
"""
import argparse
import array
import functools
import pathlib
import random
import sys


class Folder:
    """Where inputs go; each gets random numbers of its own, so that they do not depend on each other's order."""

    def __init__(self, path):
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def write(self, name, make):
        """`make(random, file)` writes it, as bytes. A half-written one never has its name."""
        target, part = self.path / name, self.path / f"{name}.part"
        if target.exists():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "wb") as file:
            make(random.Random(name), file)
        part.rename(target)
        print(f"{target}: {target.stat().st_size / 1e6:.1f} MB", flush=True)


def write_lines(file, lines, together=10000):
    block = []
    for line in lines:
        block.append(line)
        if len(block) == together:
            file.write(("\n".join(block) + "\n").encode())
            block.clear()
    if block:
        file.write(("\n".join(block) + "\n").encode())


def floats(chance, count, low=0.0, high=1.0):
    return array.array("f", (low + (high - low) * chance.random() for _ in range(count)))


def numbers(low, high, count, chance, file):
    """A number a line."""
    write_lines(file, (f"{low + (high - low) * chance.random():.6f}" for _ in range(count)))


def graph(nodes, degree, chance, file):
    """Nodes with the first of their edges and how many, the first node, edges with where they lead and what they cost."""
    degrees = [chance.randint(1, 2 * degree - 1) for _ in range(nodes)]
    first, firsts = 0, []
    for d in degrees:
        firsts.append(f"{first} {d}")
        first += d
    write_lines(file, [str(nodes), *firsts, "", "0", "", str(first)])
    write_lines(file, (f"{int(chance.random() * nodes)} {1 + int(chance.random() * 10)}" for _ in range(first)))


def keys(count, _, file):
    write_lines(file, (str(n) for n in (count, *range(1, count + 1))))


def searches(count, _, file):
    """Point and range queries of the tree of keys."""
    write_lines(file, [f"j {count} 3000", "", f"k {count}"])


def elements(count, chance, file):
    """Of a mesh: an area, and for each of four neighbours its number (below 1: none) and two parts of the normal."""
    def element(number):
        around = [max(-1, min(count, number + d)) for d in (-40, -1, 1, 40)]
        return " ".join([f"{0.5 + chance.random():.6f}", *(f"{n if n > 0 else -1} {chance.uniform(-1, 1):.6f} "
                                                          f"{chance.uniform(-1, 1):.6f}" for n in around)])
    write_lines(file, [str(count)])
    write_lines(file, (element(i + 1) for i in range(count)))


def features(points, dimensions, chance, file):
    write_lines(file, (" ".join([str(i), *(f"{chance.random():.4f}" for _ in range(dimensions))]) for i in range(points)))


def records(count, chance, file):
    """Of hurricanes: lines of 48 characters with the latitude in columns 28 to 32, the longitude in 33 to 37."""
    def record(number):
        return f"{number:<28d}{chance.uniform(0, 90):5.1f}{chance.uniform(0, 359):5.1f}{'0':>10}"
    write_lines(file, (record(i) for i in range(count)))


def image_text(columns, rows, chance, file):
    file.write(f"P2\n{columns} {rows}\n255\n".encode())
    write_lines(file, (" ".join(str(chance.randrange(256)) for _ in range(columns)) for _ in range(rows)))


def raw_bytes(count, chance, file):
    file.write(chance.randbytes(count))


def words(count, text, _, file):
    write_lines(file, [text] * count)


SIZES = {  # small, large
    "bfs_nodes": (4096, 1 << 20), "tree_keys": (10000, 1000000), "tree_searches": (500, 10000),
    "mesh_elements": (2048, 97046), "grid": (64, 1024), "layers_grid": (64, 512), "points": (3000, 204800),
    "records": (2000, 1000000), "image": (128, 2048), "pixels": (64, 4096),
}


def rodinia(folder, size):
    s = {name: sizes[size == "large"] for name, sizes in SIZES.items()}
    part = functools.partial
    folder.write("graph.txt", part(graph, s["bfs_nodes"], 6))
    folder.write("keys.txt", part(keys, s["tree_keys"]))
    folder.write("searches.txt", part(searches, s["tree_searches"]))
    folder.write("mesh", part(elements, s["mesh_elements"]))
    for name, low, high in (("temp", 320, 340), ("power", 0, 0.002)):
        folder.write(name, part(numbers, low, high, s["grid"] ** 2))
        folder.write(f"{name}_layers", part(numbers, low, high, s["layers_grid"] ** 2 * 8))
    folder.write("features.txt", part(features, s["points"], 34))
    folder.write("records.db", part(records, s["records"]))
    folder.write("records.txt", part(words, 1, "records.db"))
    folder.write("heart/y.txt", part(words, 91, "0.5"))
    folder.write("heart/params.txt", part(words, 18, "0.5"))
    folder.write("rgb.bmp", part(raw_bytes, s["pixels"] ** 2 * 3))
    folder.write("image.pgm", part(image_text, s["image"], s["image"]))


def matrix(rows, columns, chance, file):
    file.write(f"{rows} {columns} ".encode())
    for _ in range(columns):
        file.write((" ".join(f"{chance.random():.4f}" for _ in range(rows)) + " ").encode())
    file.write(b"\n")


def sparse(rows, degree, chance, file):
    """In the exchange form of matrices, with numbers of its lower half."""
    entries = sorted({(c, r) for r in range(1, rows + 1) for c in [r, *(chance.randint(1, r) for _ in range(degree))]})
    write_lines(file, ["%%MatrixMarket matrix coordinate real symmetric", f"{rows} {rows} {len(entries)}"])
    write_lines(file, (f"{r} {c} {chance.uniform(-1, 1):.6f}" for c, r in entries))


def some_floats(count, chance, file):
    for _ in range(0, count, 1 << 20):
        floats(chance, min(count, 1 << 20)).tofile(file)


def histogram_image(width, height, bins, chance, file):
    array.array("I", (width, height, *bins)).tofile(file)
    middle, count = bins[0] * bins[1] / 2, bins[0] * bins[1]
    array.array("I", (min(count - 1, max(0, int(chance.gauss(middle, count / 16)))) for _ in range(width * height))).tofile(file)


def obstacles(x, y, z, chance, file):
    """A cell a character: # is one that nothing flows through; an empty line ends each layer."""
    for layer in range(z):
        wall = layer in (0, z - 1)
        for row in range(y):
            edge = wall or row in (0, y - 1)
            file.write(bytes(35 if edge or i in (0, x - 1) or chance.random() < 0.02 else 46 for i in range(x)) + b"\n")
        file.write(b"\n")


def samples_of_space(k, points, chance, file):
    array.array("i", (k, points)).tofile(file)
    for count in (k, k, k, points, points, points, k, k):
        floats(chance, count, -1, 1).tofile(file)


def frame(width, height, chance, file):
    array.array("H", (width, height, *(chance.randrange(256) for _ in range(width * height)))).tofile(file)


def atoms(count, side, chance, file):
    def atom(number):
        x, y, z = (chance.uniform(0, side) for _ in range(3))
        return f"ATOM  {number:5d}  O   WAT {number % 9999:5d}    {x:8.3f}{y:8.3f}{z:8.3f} {chance.uniform(-1, 1):7.4f} 1.0"
    write_lines(file, (atom(i) for i in range(count)))


def stars(count, chance, file):
    write_lines(file, (f"{chance.uniform(0, 360):.6f} {chance.uniform(-90, 90):.6f}" for _ in range(count)))


def parboil(folder, size):
    large = size == "large"
    part = functools.partial
    rows, inner = (1024, 992) if large else (512, 96)
    folder.write("matrix1.txt", part(matrix, rows, inner))
    folder.write("matrix2.txt", part(matrix, inner, rows))
    folder.write("matrix2t.txt", part(matrix, rows, inner))
    dimension = 150000 if large else 1500
    folder.write("sparse.mtx", part(sparse, dimension, 12))
    folder.write("vector.bin", part(some_floats, dimension))
    folder.write("grid.bin", part(some_floats, 512 * 512 * 64 if large else 128 * 128 * 32))
    folder.write("graph.txt", part(graph, 1 << 20 if large else 4096, 6))
    folder.write("histogram.bin", part(histogram_image, *((4096, 2048) if large else (256, 128)), (256, 4096)))
    folder.write("obstacles.of", part(obstacles, 120, 120, 150))
    folder.write("space.bin", part(samples_of_space, *((2048, 262144) if large else (512, 4096))))
    for name in ("reference.bin", "frame.bin"):
        folder.write(name, part(frame, *((1920, 1072) if large else (176, 144))))
    folder.write("atoms.pqr", part(atoms, *((96600, 100) if large else (1000, 24))))
    folder.write("fft.bin", part(some_floats, 2 * 256 * (65536 if large else 64)))
    for number in range(11):
        folder.write(f"stars.{number}", part(stars, 10391 if large else 487))


SUITES = {"rodinia": rodinia, "parboil": parboil}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=sorted(SUITES))
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--size", choices=("small", "large"), action="append", help="both by default")
    options = parser.parse_args()
    if not options.root.is_dir():
        sys.exit(f"make_inputs.py: no folder {options.root}")
    for size in options.size or ("small", "large"):
        SUITES[options.suite](Folder(options.root / "inputs" / size), size)


if __name__ == "__main__":
    main()
