"""The benchmark programs at sizes that take no time."""

TINY = {"nn": ("--places", 1000), "nw": ("--length", 64), "bfs": ("--scale", 9), "histogram": ("--kib", 33),
        "spmv": ("--rows", 1000), "stencil": ("--size", 17, "--sweeps", 2), "kmeans": ("--points", 1500),
        "backprop": ("--inputs", 1024), "pathfinder": ("--columns", 777, "--rows", 9),
        "transpose": ("--width", 64, "--height", 48), "sad": ("--width", 64, "--height", 48, "--range", 3),
        "hotspot": ("--size", 68, "--steps", 2), "sgemm": ("--size", 64), "dgemm": ("--size", 64),
        "sw": ("--length", 300), "nbody": ("--bodies", 200), "lbm": ("--size", 33)}
