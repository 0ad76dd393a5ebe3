"""The game's own collision queries on a hull, and brute-force truths to hold them against.

The queries follow docs/FORMATS.md, section 9: index box, lists, list spheres, triangle spheres, triangles. The
truths know nothing of grid, lists or spheres. If lists, spheres or fill states of a hull are wrong, the
two differ.

All arithmetic is float64 where the game has float32, so what is judged is the file and not the game's rounding.
Points are (3,) or (n, 3), times run from 0 (start) to 1 (start + movement), inf in an array means "no hit".
"""

import numpy as np

# A ray to a corner of the bounding box ends exactly on the corner of the wall. Rounding must not let it slip by, so
# planes and edges are met within this part of the hull's size: far below the game's own float32 rounding, far above
# that of float64.
SLACK = 1e-10


# ---------------------------------------------------------------------------------------------------------------------
# the hull as the queries need it


class _Tables:
    """Flat copies of a Col's lists in the order in which the game meets them: cells, list records, indices."""

    def __init__(self, col):
        self.low = col.bbox_min[:3].astype(float)
        self.high = col.bbox_max[:3].astype(float)
        self.cell_size = col.cell_size.astype(float)
        self.dims = np.array(col.dims)
        nx, ny, _ = col.dims
        self.states = np.array([c.state for c in col.cells])
        records = [(number, r) for number, c in enumerate(col.cells) for r in c.lists]
        number = np.array([n for n, _ in records], dtype=int)
        # A cell's place in the array is what counts; its own x, y, z bytes are not read.
        self.record_cell = np.stack([number % nx, number // nx % ny, number // nx // ny], axis=1)
        self.record_state = self.states[number]
        self.record_sphere = np.array([r.sphere for _, r in records], dtype=float).reshape(-1, 4)
        self.entry_record = np.repeat(np.arange(len(records)), [len(r.indices) for _, r in records])
        self.entry_triangle = np.array([i for _, r in records for i in r.indices], dtype=int)
        self.spheres = col.spheres.astype(float)
        self.faces = Faces(col.vertices.astype(float)[col.triangles.astype(int)])
        self.slack = SLACK * max(np.abs(self.low).max(), np.abs(self.high).max())


def _tables(col):
    # Kept on the hull: thousands of queries on one are the rule. To test a changed hull, change bytes and read again.
    if not hasattr(col, "query_tables"):
        col.query_tables = _Tables(col)
    return col.query_tables


def unit_normals(corners):
    """(n, 3, 3) corners to (n, 3) unit normals (v1 - v0) x (v2 - v0); 0 for a triangle without area, as in the game."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)


class Faces:
    """Triangles with all that the tests need of them, worked out once.

    corners (n, 3, 3), normals (n, 3), edges (n, 3, 3) from each corner to the next, squares (n, 3) of their lengths,
    and sides (n, 3, 3): unit vectors in the triangle's plane from each edge inward. Those of length 0 stay 0.
    """

    def __init__(self, corners):
        self.corners = corners
        self.normals = unit_normals(corners)
        self.edges = np.roll(corners, -1, axis=1) - corners
        self.squares = (self.edges * self.edges).sum(axis=2)
        self.sides = np.cross(self.normals[:, None], self.edges)
        length = np.sqrt(self.squares)[..., None]
        np.divide(self.sides, length, out=self.sides, where=length > 0)

    def take(self, which):
        part = object.__new__(Faces)
        part.__dict__ = {name: array[which] for name, array in self.__dict__.items()}
        return part

    def over(self, points, slack=0.0):
        """(n,) whether points (n, 3) lie within the prism over their triangles, its sides included."""
        away = points[:, None] - self.corners
        return ((self.sides * away).sum(axis=2) >= -slack).all(axis=1)

    def height(self, points):
        """(n,) signed distances of points, (3,) or (n, 3), from the planes; positive in front."""
        return (self.normals * (points - self.corners[:, 0])).sum(axis=1)

    def distance(self, points):
        """(n,) distances of points (n, 3) from their triangles."""
        away = points[:, None] - self.corners
        part = (self.edges * away).sum(axis=2) / np.where(self.squares > 0, self.squares, 1)
        gap = away - np.clip(part, 0, 1)[..., None] * self.edges
        nearest = np.sqrt((gap * gap).sum(axis=2).min(axis=1))
        beneath = self.over(points) & self.normals.any(axis=1)
        return np.where(beneath, np.abs(self.height(points)), nearest)


def cell_index(col, point):
    """(3,) index of a point, truncated toward zero and not clamped (section 3)."""
    t = _tables(col)
    return np.trunc((np.asarray(point, dtype=float) - t.low) / t.cell_size).astype(int)


def fill_state(col, point):
    """Fill state at a point; outside the grid 2 if byte 0x73 is set, else 0 (section 3)."""
    index, (nx, ny, nz) = cell_index(col, point), col.dims
    if (index < 0).any() or (index >= (nx, ny, nz)).any():
        return 2 if col.outside else 0
    return col.cells[(index[2] * ny + index[1]) * nx + index[0]].state


# ---------------------------------------------------------------------------------------------------------------------
# the queries


def ray(col, start, movement):
    """(time, triangle) of the first hit from either side, or None. Fill states play no part (section 3)."""
    return _query(_tables(col), np.asarray(start, dtype=float), np.asarray(movement, dtype=float), None)


def sweep(col, start, movement, radius):
    """The same for a moving sphere. Skips cells of fill state 0, whatever they list (section 3)."""
    return _query(_tables(col), np.asarray(start, dtype=float), np.asarray(movement, dtype=float), float(radius))


def rays(col, starts, movements):
    """(n,) times of `ray`, inf where nothing is hit."""
    return _times(ray(col, s, m) for s, m in zip(starts, movements, strict=True))


def sweeps(col, starts, movements, radius):
    """(n,) times of `sweep`, inf where nothing is hit."""
    return _times(sweep(col, s, m, radius) for s, m in zip(starts, movements, strict=True))


def _times(hits):
    return np.array([np.inf if hit is None else hit[0] for hit in hits])


def _query(t, start, movement, radius):
    grow = 0.0 if radius is None else radius

    # The index box around both ends; clamped only after the test that gives up.
    ends = np.stack([start, start + movement])
    first = np.trunc((ends.min(axis=0) - grow - t.low) / t.cell_size)
    last = np.trunc((ends.max(axis=0) + grow - t.low) / t.cell_size)
    if ((first < 0) & (last < 0)).any() or ((first >= t.dims) & (last >= t.dims)).any():
        return None
    first, last = np.clip(first, 0, t.dims - 1), np.clip(last, 0, t.dims - 1)

    # Every cell of the box is visited; all its list records whose sphere is met are looked at.
    visited = ((t.record_cell >= first) & (t.record_cell <= last)).all(axis=1)
    if radius is not None:
        visited &= t.record_state != 0
    visited[visited] = np.isfinite(_enter(start, movement, t.record_sphere[visited], grow))
    found = t.entry_triangle[visited[t.entry_record]]

    entered = _enter(start, movement, t.spheres[found], grow)
    near = np.isfinite(entered)
    found, entered = found[near], entered[near]
    if radius is None:
        times = _cross_triangles(start, movement, t.faces.take(found), t.slack)
    else:
        times = _touch_triangles(start, movement, radius, t.faces.take(found), t.slack)

    # The order matters only here: a triangle counts if its sphere is entered before the best hit so far.
    best = None
    for k in np.flatnonzero(np.isfinite(times)):
        if best is None or (entered[k] < best[0] and times[k] < best[0]):
            best = (float(times[k]), int(found[k]))
    return best


def _enter(start, movement, spheres, grow=0.0):
    """(n,) times at which a point enters spheres (n, 4): 0 if it starts inside, inf if it doesn't within 0..1."""
    away = start - spheres[..., :3]
    outside = (away * away).sum(axis=-1) - (spheres[..., 3] + grow) ** 2
    toward = -(away * movement).sum(axis=-1)
    square = (movement * movement).sum(axis=-1)
    root = toward * toward - square * outside
    met = (outside > 0) & (toward > 0) & (root >= 0)
    # The root that loses no digits: outside / (toward + sqrt(...)).
    times = np.full(outside.shape, np.inf)
    np.divide(outside, toward + np.sqrt(np.maximum(root, 0)), out=times, where=met)
    times[outside <= 0] = 0
    times[times > 1] = np.inf
    return times


def _cross_triangles(start, movement, faces, slack):
    """(n,) times at which a ray meets triangles from either side (section 5); an edge counts as inside.

    A triangle without area has the normal 0: both plane tests and all edge tests pass, and the time is 0. That is how
    the game comes to meet a wall that isn't there.
    """
    before = faces.height(start)
    after = before + faces.normals @ movement
    before = np.where(np.abs(before) <= slack, 0.0, before)
    after = np.where(np.abs(after) <= slack, 0.0, after)
    times = np.zeros(len(before))
    np.divide(before, before - after, out=times, where=before != after)
    hit = before * after <= 0
    hit &= faces.over(start + times[:, None] * movement, slack)
    return np.where(hit, times, np.inf)


def _touch_triangles(start, movement, radius, faces, slack):
    """(n,) times at which a moving sphere first touches triangles: at the face, an edge or a corner, the earliest."""
    n = len(faces.corners)

    # Face: the sphere's foremost point reaches the plane over the triangle.
    height = faces.height(start)
    closing = -np.where(height < 0, -1.0, 1.0) * (faces.normals @ movement)
    ahead = (closing > 0) & (np.abs(height) >= radius)
    face = np.full(n, np.inf)
    np.divide(np.abs(height) - radius, closing, out=face, where=ahead)
    reached = np.where(face <= 1, face, 0.0)
    face[(face > 1) | ~faces.over(start + reached[:, None] * movement, slack)] = np.inf

    # Edge: the centre enters a tube around it, seen along the edge, and at that time lies beside the edge. (n, 3) times
    square = np.where(faces.squares > 0, faces.squares, 1.0)
    away = start - faces.corners
    moving = movement - faces.edges * ((faces.edges @ movement) / square)[..., None]
    across = away - faces.edges * ((faces.edges * away).sum(axis=2) / square)[..., None]
    tube = _enter(across, moving, np.array([0.0, 0.0, 0.0, radius]))
    at = away + np.where(np.isfinite(tube), tube, 0.0)[..., None] * movement
    along = (faces.edges * at).sum(axis=2) / square
    tube[(along < 0) | (along > 1) | (faces.squares == 0)] = np.inf

    # Corner: the centre enters a sphere around it. (n, 3) times
    ball = _enter(start, movement, np.concatenate([faces.corners, np.full((n, 3, 1), radius)], axis=2))

    times = np.minimum(face, np.minimum(tube, ball).min(axis=1))
    times[faces.distance(np.broadcast_to(start, (n, 3))) <= radius] = 0
    # What a sweep makes of a triangle without area is inferred from the ray: met at once (section 5).
    times[~faces.normals.any(axis=1)] = 0
    return times


def inside(col, point):
    """Whether the game takes a point for solid (section 3).

    Outside the bbox: byte 0x73. Fill state 0 or 2 of the cell: that. Fill state 1: a ray to the nearest corner of the
    bbox; no hit: byte 0x73, a hit: solid if the nearest triangle is met from its back. Which corner counts as nearest
    when two are is not recorded; here it is the lower one.
    """
    t = _tables(col)
    point = np.asarray(point, dtype=float)
    if (point < t.low).any() or (point > t.high).any():
        return bool(col.outside)
    state = fill_state(col, point)
    if state != 1:
        return state == 2
    corner = np.where(point - t.low <= t.high - point, t.low, t.high)
    hit = ray(col, point, corner - point)
    if hit is None:
        return bool(col.outside)
    return bool(t.faces.normals[hit[1]] @ (corner - point) > 0)


def insides(col, points):
    """(n,) bool of `inside`."""
    return np.array([inside(col, p) for p in points], dtype=bool)


# ---------------------------------------------------------------------------------------------------------------------
# the truths


def first_hit(vertices, triangles, start, movement):
    """(time, triangle) of the first hit over all triangles, or None."""
    times, numbers = _first_hits(vertices, triangles, np.array([start], dtype=float), np.array([movement], dtype=float))
    return (float(times[0]), int(numbers[0])) if np.isfinite(times[0]) else None


def first_hits(vertices, triangles, starts, movements):
    """(n,) times of `first_hit`, inf where nothing is hit."""
    return _first_hits(vertices, triangles, starts, movements)[0]


def _first_hits(vertices, triangles, starts, movements):
    """Sides of the ray's line, edge by edge.

    An edge that two triangles share is worked out once, so that no ray slips between them, whatever the rounding.
    Triangles without area are no surface and never hit.
    """
    vertices = np.asarray(vertices, dtype=float)
    triangles = np.asarray(triangles, dtype=int)
    starts, movements = np.asarray(starts, dtype=float), np.asarray(movements, dtype=float)
    pairs = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    edges, number = np.unique(np.sort(pairs, axis=1), axis=0, return_inverse=True)
    number = number.reshape(-1, 3)
    turned = np.where(pairs[:, 0] < pairs[:, 1], 1.0, -1.0).reshape(-1, 3)
    origin = vertices[triangles[:, 0]]
    normals = np.cross(vertices[triangles[:, 1]] - origin, vertices[triangles[:, 2]] - origin)

    times, hit = np.full(len(starts), np.inf), np.full(len(starts), -1)
    step = max(1, 200_000 // max(1, len(edges)))
    for i in range(0, len(starts), step):
        s, m = starts[i : i + step, None], movements[i : i + step, None]
        to = vertices - s
        side = (np.cross(to[:, edges[:, 0]], to[:, edges[:, 1]]) * m).sum(axis=2)
        side = side[:, number] * turned
        through = (side >= 0).all(axis=2) | (side <= 0).all(axis=2)
        slope = m[:, 0] @ normals.T
        height = np.einsum("tk,tk->t", normals, origin) - s[:, 0] @ normals.T
        t = np.full(slope.shape, np.inf)
        np.divide(height, slope, out=t, where=through & (slope != 0))
        t[(t < 0) | (t > 1)] = np.inf
        hit[i : i + step] = t.argmin(axis=1)
        times[i : i + step] = t.min(axis=1)
    return times, hit


def first_sweep_hit(vertices, triangles, start, movement, radius):
    """(time, triangle) at which a moving sphere first touches one of all triangles, or None."""
    times, numbers = _first_sweep_hits(
        vertices, triangles, np.array([start], float), np.array([movement], float), radius
    )
    return (float(times[0]), int(numbers[0])) if np.isfinite(times[0]) else None


def first_sweep_hits(vertices, triangles, starts, movements, radius):
    """(n,) times of `first_sweep_hit`, inf where nothing is hit."""
    return _first_sweep_hits(vertices, triangles, starts, movements, radius)[0]


def _first_sweep_hits(vertices, triangles, starts, movements, radius):
    """The distance of a point from a triangle is convex along a straight line, so the first time at which it is down to
    the radius is found by halving, left of its minimum. Slow, and free of cases."""
    corners = np.asarray(vertices, dtype=float)[np.asarray(triangles, dtype=int)]
    starts, movements = np.asarray(starts, dtype=float), np.asarray(movements, dtype=float)
    centre = corners.mean(axis=1)
    reach = np.linalg.norm(corners - centre[:, None], axis=2).max(axis=1)
    # Pairs (sweep, triangle) that come near each other at all.
    sweep_of, triangle_of = [], []
    for i, (start, movement) in enumerate(zip(starts, movements, strict=True)):
        square = movement @ movement
        part = np.clip((centre - start) @ movement / square, 0, 1) if square else np.zeros(len(centre))
        gap = np.linalg.norm(centre - start - part[:, None] * movement, axis=1)
        near = np.flatnonzero(gap <= (reach + radius) * (1 + 1e-9))
        sweep_of.append(np.full(len(near), i))
        triangle_of.append(near)
    sweep_of, triangle_of = np.concatenate(sweep_of), np.concatenate(triangle_of)
    s, m, faces = starts[sweep_of], movements[sweep_of], Faces(corners[triangle_of])

    def gap_at(time):
        return faces.distance(s + time[:, None] * m)

    low, high = np.zeros(len(s)), np.ones(len(s))
    for _ in range(45):
        third = (high - low) / 3
        falling = gap_at(low + third) > gap_at(high - third)
        low, high = np.where(falling, low + third, low), np.where(falling, high, high - third)
    # A minimum at an end of the path is only approached by thirds.
    nearest = (low + high) / 2
    nearest = np.where(gap_at(np.ones(len(s))) <= gap_at(nearest), 1.0, nearest)
    touches = gap_at(nearest) <= radius
    low, high = np.zeros(len(s)), nearest
    for _ in range(40):
        middle = (low + high) / 2
        reached = gap_at(middle) <= radius
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    high[gap_at(np.zeros(len(s))) <= radius] = 0
    touches |= high == 0

    times, numbers = np.full(len(starts), np.inf), np.full(len(starts), -1)
    for i, number, time in zip(sweep_of[touches], triangle_of[touches], high[touches], strict=True):
        if time < times[i]:
            times[i], numbers[i] = time, number
    return times, numbers


def winding(vertices, triangles, points):
    """(n,) generalised winding number: the sum of the triangles' solid angles over 4 pi (Van Oosterom and Strackee).

    +1 inside a closed surface that faces outward, -1 inside one that faces inward. Memory stays bounded.
    """
    corners = np.asarray(vertices, dtype=float)[np.asarray(triangles, dtype=int)]
    points = np.asarray(points, dtype=float).reshape(-1, 3)
    total = np.zeros(len(points))
    step = max(1, 200_000 // max(1, len(corners)))
    for i in range(0, len(points), step):
        a, b, c = (corners[None, :, k] - points[i : i + step, None] for k in range(3))
        la, lb, lc = (np.sqrt((v * v).sum(axis=2)) for v in (a, b, c))
        volume = (a * np.cross(b, c)).sum(axis=2)
        below = la * lb * lc + (a * b).sum(axis=2) * lc + (b * c).sum(axis=2) * la + (c * a).sum(axis=2) * lb
        total[i : i + step] = 2 * np.arctan2(volume, below).sum(axis=1)
    return total / (4 * np.pi)


def solid(vertices, triangles, outside_solid, points):
    """(n,) whether points lie in rock: the outside's own 0 or 1, plus the surfaces around the point, is at least 1.

    The normal points into free space (docs/FORMATS.md, section 3): an asteroid faces outward and adds 1 within, the
    wall faces inward and takes 1 away within.
    """
    return int(bool(outside_solid)) + np.rint(winding(vertices, triangles, points)) >= 1
