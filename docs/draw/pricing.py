"""The scheme of local volatility in plain Python, for diagrams of the contents of its grids.

The scheme follows stages/local_volatility/00_original and 13_adjoint_sweep on a small grid. tests/book/book_test.py compares
its price with a price that stage zero has computed and with an exact price, and compares both ways of computing with each
other.
"""

import dataclasses
import math


@dataclasses.dataclass
class Market:
    """A grid and a market, with the names of the stages' problem."""

    num_x: int = 48
    num_y: int = 48
    num_t: int = 24
    s0: float = 0.03
    t: float = 5.0
    alpha: float = 0.2
    nu: float = 0.6
    beta: float = 0.5

    def __post_init__(self):
        step_x = 20 * self.alpha * self.s0 * math.sqrt(self.t) / self.num_x
        step_y = 10 * self.nu * math.sqrt(self.t) / self.num_y
        self.ix, self.iy = int(self.s0 / step_x), self.num_y // 2
        self.x = [max((i - self.ix) * step_x + self.s0, 1e-30) for i in range(self.num_x)]
        self.y = [(j - self.iy) * step_y + math.log(self.alpha) for j in range(self.num_y)]
        self.inverse_dt = (self.num_t - 1) / self.t
        self.of_x = second_derivative(self.x)
        self.along_y = [tuple(self.nu ** 2 / 2 * c for c in row) for row in second_derivative(self.y)]

    def along_x(self, j, g):
        """The operator along x for a point of y and a time, as three diagonals."""
        time = self.t * g / (self.num_t - 1)
        factor = math.exp(2 * (self.y[j] - self.nu ** 2 * time / 2)) / 2
        return [tuple(factor * x ** (2 * self.beta) * c for c in row) for x, row in zip(self.x, self.of_x)]


def second_derivative(z):
    """The second derivative: three coefficients per point, 0 at both ends."""
    rows = [(0, 0, 0)]
    for before, here, after in zip(z, z[1:], z[2:]):
        l, u = here - before, after - here
        rows.append((2 / l / (l + u), -2 * (1 / l + 1 / u) / (l + u), 2 / u / (l + u)))
    return rows + [(0, 0, 0)]


def transposed(rows):
    """The diagonals of the transposed matrix."""
    above = [0] + [row[2] for row in rows[:-1]]
    below = [row[0] for row in rows[1:]] + [0]
    return [(a, row[1], c) for a, row, c in zip(above, rows, below)]


def plus_scaled(number, rows, factor):
    """The diagonals of the matrix number · I + factor · rows."""
    return [(factor * a, number + factor * b, factor * c) for a, b, c in rows]


def times(rows, v):
    """The product of a tridiagonal matrix and a vector."""
    return [a * before + b * here + c * after
            for (a, b, c), before, here, after in zip(rows, [0] + v[:-1], v, v[1:] + [0])]


def solve(rows, r):
    """The solution of a tridiagonal system, by the Thomas algorithm."""
    pivots, u = [rows[0][1]], [r[0]]
    for (a, b, _), (_, _, above), right in zip(rows[1:], rows, r[1:]):
        factor = a / pivots[-1]
        pivots.append(b - factor * above)
        u.append(right - factor * u[-1])
    x = [u[-1] / pivots[-1]]
    for (_, _, c), pivot, value in zip(rows[-2::-1], pivots[-2::-1], u[-2::-1]):
        x.append((value - c * x[-1]) / pivot)
    return x[::-1]


def columns(grid):
    """The transposed grid: rows become columns."""
    return [list(column) for column in zip(*grid)]


def payoff(market, strike):
    """The value of an option at maturity, as grid[i][j]."""
    return [[max(x - strike, 0.0)] * market.num_y for x in market.x]


def step(market, grid, g):
    """The grid of values one time step earlier."""
    k, of_y = market.inverse_dt, market.along_y
    v = [times(of_y, row) for row in grid]
    u = []
    for j, (column, of_v) in enumerate(zip(columns(grid), columns(v))):
        of_x = market.along_x(j, g)
        right = [a + b for a, b in zip(times(plus_scaled(k, of_x, 0.5), column), of_v)]
        u.append(solve(plus_scaled(k, of_x, -0.5), right))
    return [solve(plus_scaled(k, of_y, -0.5), [k * a - b / 2 for a, b in zip(row, of_v)])
            for row, of_v in zip(columns(u), v)]


def transposed_step(market, z, g):
    """The grid of weights one time step later."""
    k, of_y = market.inverse_dt, transposed(market.along_y)
    z = [solve(plus_scaled(k, of_y, -0.5), row) for row in z]
    p, sums = [], []
    for j, column in enumerate(columns(z)):
        of_x = transposed(market.along_x(j, g))
        p.append(solve(plus_scaled(k, of_x, -0.5), [k * value for value in column]))
        sums.append(times(plus_scaled(k, of_x, 0.5), p[-1]))
    return [[a + b for a, b in zip(row, times(of_y, [c - d / 2 for c, d in zip(of_p, of_z)]))]
            for row, of_p, of_z in zip(columns(sums), columns(p), z)]


def surface(market, strike):
    """The value of an option today, on the whole grid."""
    grid = payoff(market, strike)
    for g in reversed(range(market.num_t - 1)):
        grid = step(market, grid, g)
    return grid


def weights(market, steps):
    """The weight of each grid point in the price, `steps` time steps after today."""
    z = [[0.0] * market.num_y for _ in market.x]
    z[market.ix][market.iy] = 1.0
    for g in range(steps):
        z = transposed_step(market, z, g)
    return z
