"""Exact signs for the tetrahedralization: on which side of a plane, and inside or outside a sphere.

Float64 decides where its error bound allows; integers decide the rest. The bounds are those of J. R. Shewchuk,
"Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates" (1997). Coordinates must be
float32 values, which are whole multiples of 2**-149 and whose differences float64 rounds at most once.
"""

from __future__ import annotations

from math import ldexp

Point = tuple[float, float, float]

_EPSILON = 2.0**-53
_PLANE_BOUND = (8 + 64 * _EPSILON) * _EPSILON
_SPHERE_BOUND = (18 + 256 * _EPSILON) * _EPSILON
_SMALLEST = 149
"""The exponent of the smallest float32: coordinates times two to this power are integers."""


def orientation(a: Point, b: Point, c: Point, d: Point) -> float:
    """The sign of the volume of the tetrahedron a, b, c, d: positive if d lies where the right-hand normal of a, b, c
    points, 0 if the four points lie in one plane."""
    ax, ay, az = a
    bx, by, bz = b[0] - ax, b[1] - ay, b[2] - az
    cx, cy, cz = c[0] - ax, c[1] - ay, c[2] - az
    dx, dy, dz = d[0] - ax, d[1] - ay, d[2] - az
    one, two, three, four, five, six = by * cz, bz * cy, bz * cx, bx * cz, bx * cy, by * cx
    volume = dx * (one - two) + dy * (three - four) + dz * (five - six)
    size = (
        abs(dx) * (abs(one) + abs(two)) + abs(dy) * (abs(three) + abs(four)) + abs(dz) * (abs(five) + abs(six))
    )  # the largest that rounding can have worked on
    if abs(volume) > _PLANE_BOUND * size:
        return volume
    return _exact_orientation(a, b, c, d)


def in_sphere(a: Point, b: Point, c: Point, d: Point, e: Point) -> float:
    """The sign that is positive if e lies inside the sphere through a, b, c, d, which have a positive `orientation`,
    and 0 if it lies on the sphere."""
    ex, ey, ez = e
    ax, ay, az = a[0] - ex, a[1] - ey, a[2] - ez
    bx, by, bz = b[0] - ex, b[1] - ey, b[2] - ez
    cx, cy, cz = c[0] - ex, c[1] - ey, c[2] - ez
    dx, dy, dz = d[0] - ex, d[1] - ey, d[2] - ez
    axby, bxay, bxcy, cxby, cxdy, dxcy = ax * by, bx * ay, bx * cy, cx * by, cx * dy, dx * cy
    dxay, axdy, axcy, cxay, bxdy, dxby = dx * ay, ax * dy, ax * cy, cx * ay, bx * dy, dx * by
    ab, bc, cd, da, ac, bd = axby - bxay, bxcy - cxby, cxdy - dxcy, dxay - axdy, axcy - cxay, bxdy - dxby
    a2, b2 = ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz
    c2, d2 = cx * cx + cy * cy + cz * cz, dx * dx + dy * dy + dz * dz
    abc, bcd = az * bc - bz * ac + cz * ab, bz * cd - cz * bd + dz * bc
    cda, dab = cz * da + dz * ac + az * cd, dz * ab + az * bd + bz * da
    inside = -((d2 * abc - c2 * dab) + (b2 * cda - a2 * bcd))
    az, bz, cz, dz = abs(az), abs(bz), abs(cz), abs(dz)
    ab, bc, cd = abs(axby) + abs(bxay), abs(bxcy) + abs(cxby), abs(cxdy) + abs(dxcy)
    da, ac, bd = abs(dxay) + abs(axdy), abs(axcy) + abs(cxay), abs(bxdy) + abs(dxby)
    size = (
        (cd * bz + bd * cz + bc * dz) * a2
        + (da * cz + ac * dz + cd * az) * b2
        + (ab * dz + bd * az + da * bz) * c2
        + (bc * az + ac * bz + ab * cz) * d2
    )
    if abs(inside) > _SPHERE_BOUND * size:
        return inside
    return _exact_in_sphere(a, b, c, d, e)


def _integers(point: Point) -> tuple[int, int, int]:
    x, y, z = point
    return int(ldexp(x, _SMALLEST)), int(ldexp(y, _SMALLEST)), int(ldexp(z, _SMALLEST))


def _minus(point: Point, origin: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, z = _integers(point)
    return x - origin[0], y - origin[1], z - origin[2]


def _determinant(a: tuple[int, int, int], b: tuple[int, int, int], c: tuple[int, int, int]) -> int:
    return (
        a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )  # fmt: skip


def _sign(value: int) -> float:
    return float((value > 0) - (value < 0))


def _exact_orientation(a: Point, b: Point, c: Point, d: Point) -> float:
    origin = _integers(a)
    return _sign(_determinant(_minus(b, origin), _minus(c, origin), _minus(d, origin)))


def _exact_in_sphere(a: Point, b: Point, c: Point, d: Point, e: Point) -> float:
    origin = _integers(e)
    rows = [_minus(point, origin) for point in (a, b, c, d)]
    lifted = [x * x + y * y + z * z for x, y, z in rows]
    p, q, r, s = rows
    value = (
        -lifted[0] * _determinant(q, r, s)
        + lifted[1] * _determinant(p, r, s)
        - lifted[2] * _determinant(p, q, s)
        + lifted[3] * _determinant(p, q, r)
    )  # the determinant of the rows with their squares behind them
    return _sign(-value)
