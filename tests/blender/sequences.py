"""Random sequences of what users do to a hull or a set, and the judgement of what is then exported."""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import bpy
import numpy as np
from mathutils import Vector

from tests.blender.helpers import MANY_ASTEROIDS, NO_WALL, ONE_ASTEROID, TWO_ASTEROIDS, import_hull, select
from tests.blender.shown import difference, family, shown
from tests.blender.test_view import export_set, hide, import_set
from tests.blender.test_view_shapes import PARENTS, add_curve, add_parent, animate, edit_curve, put_below, sculpt
from tests.oracle.readers import read_col, read_set

Step = Callable[[Random, bpy.types.Object], None]

SOURCES = (ONE_ASTEROID, TWO_ASTEROIDS, MANY_ASTEROIDS, NO_WALL, "set")
PARTS = "mob_n0*"
HIDING = ("eye", "monitor", "excluded", "disabled collection")


@dataclass(slots=True)
class Outcome:
    """What came of a sequence: its steps, why the export was refused, and what is wrong."""

    steps: list[str] = field(default_factory=list)
    refused: str = ""
    fault: str = ""


def meshes(root: bpy.types.Object) -> list[bpy.types.Object]:
    return [obj for obj in family(root) if obj.type == "MESH" and len(obj.data.polygons)]


def any_of(random: Random, root: bpy.types.Object) -> bpy.types.Object:
    """A mesh, the wall seldom."""
    found = sorted(meshes(root), key=lambda obj: obj.name)
    return random.choice([obj for obj in found if "wall" not in obj.name or random.random() < 0.1] or found)


def visible(random: Random, root: bpy.types.Object) -> bpy.types.Object | None:
    """One that operators work on."""
    usable = [obj for obj in meshes(root) if obj.visible_get() and not (obj.override_library or obj.data.library)]
    found = sorted(usable, key=lambda obj: obj.name)
    return random.choice(found) if found else None


# --- steps ----------------------------------------------------------------------------------------


def move(random: Random, root: bpy.types.Object) -> None:
    any_of(random, root).location += _vector(random, 800)


def turn(random: Random, root: bpy.types.Object) -> None:
    obj = any_of(random, root)
    obj.rotation_mode = "XYZ"
    obj.rotation_euler[random.randrange(3)] += random.choice((2 * math.pi, math.pi / 2, random.uniform(-0.05, 0.05)))


def scale(random: Random, root: bpy.types.Object) -> None:
    any_of(random, root).scale[random.randrange(3)] *= random.choice((0.9, 1.05, -1))


def move_root(random: Random, root: bpy.types.Object) -> None:
    root.location, root.scale = _vector(random, 100), [random.uniform(0.0005, 2)] * 3
    root.rotation_euler[random.randrange(3)] += random.uniform(-3, 3)


def drag(random: Random, root: bpy.types.Object) -> None:
    mesh = any_of(random, root).data
    mesh.vertices[random.randrange(len(mesh.vertices))].co += _vector(random, 100)
    mesh.update()


def apply(random: Random, root: bpy.types.Object) -> None:
    if (obj := visible(random, root)) and obj.data.users == 1:
        select(obj)
        location, rotation, scale = (random.random() < 0.6 for _ in range(3))
        bpy.ops.object.transform_apply(location=location, rotation=rotation, scale=scale)


def apply_all(random: Random, root: bpy.types.Object) -> None:
    if random.random() < 0.2:
        select(*(obj for obj in meshes(root) if obj.visible_get() and obj.data.users == 1), root)
        bpy.ops.object.transform_apply(location=True, rotation=True, scale=True)


def clear(random: Random, root: bpy.types.Object) -> None:
    if obj := visible(random, root):
        select(obj)
        for clear_one in random.sample(("location_clear", "rotation_clear", "scale_clear"), 2):
            getattr(bpy.ops.object, clear_one)()


def parent_again(random: Random, root: bpy.types.Object) -> None:
    if (obj := visible(random, root)) and root.visible_get():
        select(obj)
        bpy.ops.object.parent_clear(type="CLEAR_KEEP_TRANSFORM")
        select(obj, root)
        bpy.ops.object.parent_set(type="OBJECT", keep_transform=random.random() < 0.5)


def origin(random: Random, root: bpy.types.Object) -> None:
    if not (obj := visible(random, root)):
        return
    select(obj, *(other for other in meshes(root) if other.visible_get() and other.data.users == 1), obj)
    bpy.ops.object.origin_set(type=random.choice(("ORIGIN_GEOMETRY", "ORIGIN_CURSOR", "ORIGIN_CENTER_OF_MASS")))


def reparent(random: Random, root: bpy.types.Object) -> None:
    obj, kind = any_of(random, root), random.choice(list(PARENTS))
    if obj.parent == root:
        put_below(obj, add_parent(root, kind), kind)
        bpy.context.scene.frame_set(bpy.context.scene.frame_current)


def move_by_itself(random: Random, root: bpy.types.Object) -> None:
    obj = any_of(random, root)
    if obj.animation_data is None and not obj.data.shape_keys:
        animate(obj, random.choice(("driver", "action", "constraint")))
        bpy.context.scene.frame_set(bpy.context.scene.frame_current)  # the last key isn't where it is at this frame


def change_frame(random: Random, root: bpy.types.Object) -> None:
    bpy.context.scene.frame_set(random.randrange(1, 21))


def hide_one(random: Random, root: bpy.types.Object) -> None:
    obj = any_of(random, root)
    if obj.visible_get():
        hide(obj, random.choice(HIDING[:2] if obj.override_library else HIDING))


def modify(random: Random, root: bpy.types.Object) -> None:
    obj = any_of(random, root)
    kind = random.choice(("SUBSURF", "TRIANGULATE", "SIMPLE_DEFORM"))
    modifier = obj.modifiers.new(kind, kind)
    if kind == "SUBSURF":
        modifier.subdivision_type, modifier.levels = "SIMPLE", 1
    elif kind == "SIMPLE_DEFORM":
        modifier.deform_method, modifier.factor = "TAPER", 0.05


def simplify(random: Random, root: bpy.types.Object) -> None:
    render = bpy.context.scene.render
    render.use_simplify, render.simplify_subdivision = True, random.randrange(2)


def split(random: Random, root: bpy.types.Object) -> None:
    if obj := visible(random, root):
        select(obj)
        half = sum(face.center.x for face in obj.data.polygons) / len(obj.data.polygons)
        for face in obj.data.polygons:
            face.select = face.center.x > half
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_mode(type="FACE")
        with contextlib.suppress(RuntimeError):
            bpy.ops.mesh.separate(type="SELECTED")
        bpy.ops.object.mode_set(mode="OBJECT")


def copy(random: Random, root: bpy.types.Object) -> None:
    if obj := visible(random, root):
        select(obj)
        bpy.ops.object.duplicate(linked=random.random() < 0.5)
        bpy.context.object.location += _vector(random, 6000)


def delete(random: Random, root: bpy.types.Object) -> None:
    if len(found := meshes(root)) > 2:
        bpy.data.objects.remove(random.choice(sorted(found, key=lambda obj: obj.name)))


def add(random: Random, root: bpy.types.Object) -> None:
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2)
    obj = bpy.context.object
    obj.parent, obj.location, obj.scale = root, _vector(random, 9000), [random.uniform(300, 900)] * 3


def curve(random: Random, root: bpy.types.Object) -> None:
    kind = random.choice(("curve", "surface", "text"))
    obj = add_curve(root, kind)
    obj.location = _vector(random, 9000)
    if random.random() < 0.5:
        bpy.ops.object.mode_set(mode="EDIT")
        edit_curve(kind)


def edit(random: Random, root: bpy.types.Object) -> None:
    if obj := visible(random, root):
        select(obj)
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.transform.translate(value=tuple(root.matrix_world.to_scale()[0] * _vector(random, 300)))


def sculpt_one(random: Random, root: bpy.types.Object) -> None:
    if (obj := visible(random, root)) and obj.data.users == 1:
        sculpt(obj, random.choice(("plain", "dyntopo", "dyntopo new faces", "multires")))


STEPS: tuple[Step, ...] = (
    move, turn, scale, move_root, drag, apply, apply_all, clear, parent_again, origin, reparent, move_by_itself,
    change_frame, hide_one, hide_one, modify, simplify, split, copy, delete, add,
)  # fmt: skip
LAST: tuple[Step, ...] = (edit, sculpt_one, curve, change_frame, hide_one, move)
ONLY_HULLS = (split, copy, delete, add)


def _vector(random: Random, size: float) -> Vector:
    return Vector([random.uniform(-size, size) for _ in range(3)])


# --- a sequence -----------------------------------------------------------------------------------


def try_sequence(seed: int, package) -> Outcome:
    """A sequence of 2 to 7 steps on a new import, in the file that is open. `package` is the add-on."""
    random, outcome = Random(seed), Outcome()
    source = random.choice(SOURCES)
    root = _begin(random, source, outcome)
    steps = [step for step in STEPS if source != "set" or step not in ONLY_HULLS]
    chosen = [random.choice(steps) for _ in range(random.randrange(1, 6))]
    for step in (*chosen, random.choice(LAST)):
        outcome.steps.append(step.__name__)
        step(random, root)
        bpy.context.view_layer.update()
    frames: list = []

    def noted(scene: bpy.types.Scene, *_: object) -> None:
        frames.append(scene.name)

    bpy.app.handlers.frame_change_post.append(noted)
    try:
        file = _export(root, source, outcome)
        bpy.ops.sylpheed.check()
        checked = package.blender_addon.checks.problems.check_root(bpy.context, root)
    finally:
        bpy.app.handlers.frame_change_post.remove(noted)
    if frames:
        outcome.fault = "a frame-change handler ran"
    if checked.sound == bool(outcome.refused):
        outcome.fault = f"the check says {'sound' if checked.sound else 'refused'}, the export {outcome.refused!r}"
    if file is not None:
        if bpy.context.mode.startswith("SCULPT"):
            bpy.ops.object.mode_set(mode="OBJECT")
        extra, missing = difference(file, shown(root))
        if extra or missing:
            outcome.fault = f"{extra} triangles should not be there, {missing} are missing"
    return outcome


def _begin(random: Random, source: str, outcome: Outcome) -> bpy.types.Object:
    outcome.steps.append(source)
    if source == "set":
        return import_set(name_filter=PARTS)
    root = import_hull(source, surfaces=random.choice(("SEPARATE", "SEPARATE", "JOINED")))
    if random.random() > 0.15:
        return root
    outcome.steps.append("override")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "library.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
        bpy.ops.wm.read_homefile(use_empty=True)
        with bpy.data.libraries.load(str(path), link=True) as (_, into):
            into.collections = [Path(source).stem]
        (collection,) = into.collections
        bpy.context.scene.collection.children.link(collection)
        collection.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
        for data in [obj.data for obj in bpy.data.objects if obj.override_library and obj.data and obj.data.library]:
            data.make_local()
    return next(obj for obj in bpy.data.objects if obj.get("sylpheed_kind") == "hull" and obj.override_library)


def _export(root: bpy.types.Object, source: str, outcome: Outcome):
    with tempfile.TemporaryDirectory() as folder:
        try:
            if source == "set":
                names = {obj.name for obj in family(root)}
                parts = [part for part in read_set(export_set(Path(folder))) if part.name in names]
                first = np.cumsum([0, *(len(part.vertices) for part in parts)])
                triangles = [
                    np.asarray(part.triangles, np.int64) + start for part, start in zip(parts, first, strict=False)
                ]
                return np.concatenate([part.vertices for part in parts]), np.concatenate(triangles)
            path = Path(folder) / "exported.col"
            bpy.ops.export_scene.sylpheed_col(filepath=str(path), hull=root.name)
            col = read_col(path.read_bytes())
            return col.vertices, col.triangles
        except RuntimeError as error:
            outcome.refused = str(error).strip()
            if "Traceback" in outcome.refused:
                outcome.fault = outcome.refused
            return None
