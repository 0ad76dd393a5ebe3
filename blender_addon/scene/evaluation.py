"""Objects in the shape and place that the user's own view layer evaluates.

Blender evaluates no object that the monitor icon hides or whose collection is excluded. While such objects are read,
a helper in the user's scene depends on them through a Geometry Nodes modifier. So the user's own dependency graph
evaluates them too: with this scene's frame, simplify settings, camera, drivers and physics.

Measured in 4.2, 4.5, 5.0 and 5.3 with 2,000 other objects in the scene: reading through the graph as it is costs
nothing. Whatever adds or removes data (a temporary scene, a view layer, a copy of a mesh, this object) costs 0.1 to
0.4 s, because Blender then rebuilds the relations of everything. In a scene without others it costs under 1 ms. A view
layer of its own costs twice as much, and a temporary scene knows none of the settings.

No handler of the user's runs for what happens here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Matrix

from ...core.editing.placement import EXACT, Placement, between, rounded
from ...core.errors import RefusedError
from ...core.text import plural
from . import custom_properties

AGREEMENT = 1e-6
"""How far a world matrix may be from the product that it is made of, as a part of the sums of absolute values: a few
roundings of float32."""

DEFORMS = {"ARMATURE", "LATTICE"}
"""Types of parents that deform their children, as a modifier would; a curve that does so calls itself an armature."""

SHAPELESS = {"EMPTY", "ARMATURE", "LATTICE", "CAMERA", "LIGHT", "LIGHT_PROBE", "SPEAKER"}
"""Types of objects without faces."""


class View:
    """What the view layer evaluates of some objects, while they are read."""

    def __init__(
        self,
        context: bpy.types.Context,
        root: bpy.types.Object,
        apply_modifiers: bool,
        depsgraph: bpy.types.Depsgraph | None = None,
    ) -> None:
        """Without a graph, that of the context is evaluated first."""
        self.depsgraph = depsgraph or context.evaluated_depsgraph_get()
        self.root, self.apply_modifiers = root, apply_modifiers
        self._view_layer = context.view_layer
        self._enabled: set[bpy.types.Collection] | None = None
        self._stand_ins: dict[bpy.types.Object, bpy.types.Object] = {}
        self._helpers: dict[bpy.types.Object, bpy.types.Object] = {}
        self._placements: dict[bpy.types.Object, Placement] = {}
        self._instances: dict[bpy.types.Object, int] | None = None

    # --- what is evaluated ------------------------------------------------------------------------

    def is_evaluated(self, obj: bpy.types.Object) -> bool:
        """Whether the graph evaluates an object's shape and place."""
        return obj in self._helpers or self.is_enabled(obj)

    def is_enabled(self, obj: bpy.types.Object) -> bool:
        """Whether the view layer evaluates an object by itself. It does so behind closed eyes too."""
        if obj.visible_get(view_layer=self._view_layer):
            return True
        if obj.hide_viewport or self._view_layer.objects.get(obj.name) != obj:
            return False
        if self._enabled is None:
            self._enabled = set(_enabled_collections(self._view_layer.layer_collection))
        return any(collection in self._enabled for collection in obj.users_collection)

    def evaluates_shape(self, obj: bpy.types.Object) -> bool:
        """Whether an object's shape is another than that of its own mesh."""
        if obj.type != "MESH":
            return obj.type not in SHAPELESS
        changes = obj.modifiers or obj.data.shape_keys or (obj.parent is not None and obj.parent_type in DEFORMS)
        return bool(self.apply_modifiers and changes)

    def is_missing(self, obj: bpy.types.Object) -> bool:
        """Whether an object can't be read without a helper of ours."""
        if obj.mode == "SCULPT" and self.evaluates_shape(obj):
            return True
        if self.is_enabled(obj):
            # Before 4.5 only instances of what is visible can be counted.
            counted = hasattr(obj, "evaluated_geometry") or obj.visible_get(view_layer=self._view_layer)
            return not counted and _has_nodes(obj)
        return self.evaluates_shape(obj) or not self._is_plain_chain(obj)

    def is_placed(self, obj: bpy.types.Object) -> bool:
        """Whether `placement` needs no helper of ours."""
        return self.is_evaluated(obj) or self._is_plain_chain(obj)

    def _is_plain_chain(self, obj: bpy.types.Object | None) -> bool:
        while obj is not None and obj != self.root:
            if not _is_plain(obj):
                return False
            obj = obj.parent
        return True

    # --- shapes -----------------------------------------------------------------------------------

    @contextmanager
    def mesh(self, obj: bpy.types.Object) -> Iterator[bpy.types.Mesh]:
        """The mesh that an object shows, for as long as it is read."""
        if self.evaluates_shape(obj):
            owner = self._stand_ins.get(obj, obj).evaluated_get(self.depsgraph)
        elif is_edited(obj):
            owner = obj  # the attributes of a mesh in edit mode can't be read, those of this copy can
        else:
            yield obj.data
            return
        try:
            yield owner.to_mesh()
        finally:
            owner.to_mesh_clear()

    def extras(self, obj: bpy.types.Object) -> list[str]:
        """What an object's nodes make besides a mesh, such as "5 instances"."""
        if not _has_nodes(obj):
            return []
        if not hasattr(obj, "evaluated_geometry"):  # before 4.5
            count = self._count_instances(obj)
            return [plural(count, "instance")] if count else []
        geometry = self._helpers.get(obj, obj).evaluated_get(self.depsgraph).evaluated_geometry()
        instances = geometry.instances_pointcloud()
        curves = geometry.curves if obj.type == "MESH" else None  # those of a curve object are what it is made from
        counted = {
            "instance": 0 if instances is None else len(instances.points),
            "point": 0 if geometry.pointcloud is None else len(geometry.pointcloud.points),
            "curve": 0 if curves is None else len(curves.curves),
        }
        found = [plural(count, what) for what, count in counted.items() if count]
        found += ["a volume"] if geometry.volume is not None else []
        return found + (["Grease Pencil strokes"] if geometry.grease_pencil is not None else [])

    def _count_instances(self, obj: bpy.types.Object) -> int:
        """The same from what Blender draws, which lists everything in the scene."""
        if self._instances is None:
            self._instances = {}
            for instance in self.depsgraph.object_instances:
                if instance.is_instance and instance.parent is not None and not _is_own_mesh(instance):
                    parent = instance.parent.original
                    self._instances[parent] = self._instances.get(parent, 0) + 1
        return self._instances.get(self._helpers.get(obj, obj), 0)

    # --- places -----------------------------------------------------------------------------------

    def placement(self, obj: bpy.types.Object) -> Placement:
        """From an object's space to the root's, or to the world's where it isn't below the root.

        Parents are composed in float64 where that agrees with what Blender evaluates, up to rounding; where it doesn't,
        because of constraints, bones, paths or physics, the evaluated matrices count. The shelf of a part only shows.
        Raises `SylpheedError` if a place can't be found below a root that is scaled to nothing.
        """
        if obj == self.root:
            return EXACT
        if obj not in self._placements:
            outer = EXACT if obj.parent is None else self.placement(obj.parent)
            self._placements[obj] = self._place(obj, outer)
        return self._placements[obj]

    def _place(self, obj: bpy.types.Object, outer: Placement) -> Placement:
        parent = obj.parent
        evaluates = self.is_evaluated(obj) or not self._is_plain_chain(obj)
        shown = obj.evaluated_get(self.depsgraph) if evaluates else obj
        local = [] if shown.matrix_basis.is_identity else [shown.matrix_basis]
        if parent is not None and not shown.matrix_parent_inverse.is_identity:
            local.insert(0, shown.matrix_parent_inverse)  # without a parent, one may be left over
        shelf = custom_properties.shelf(obj)
        on_shelf = shelf is not None and bool(local) and local[0] == Matrix.Translation(shelf)
        composed = outer if shelf is None or on_shelf else outer.after(_back_from(shelf))
        for matrix in local[1:] if on_shelf else local:
            composed = composed.after(rounded(matrix))
        if not evaluates:
            return composed
        world = shown.matrix_world
        above = None if parent is None else parent.evaluated_get(self.depsgraph).matrix_world
        is_below = self.root in _parents(obj)
        if is_below and not _is_plain(obj):
            _refuse_flat(obj, self.root, self.depsgraph)
        simple = len(local) < 2 and above is not None and world == (above @ local[0] if local else above)
        if simple or _agrees(world, above, local):
            return composed
        if not is_below:
            return rounded(world)
        _refuse_flat(obj, self.root, self.depsgraph)
        found = between(self.root.evaluated_get(self.depsgraph).matrix_world, world)
        return found if shelf is None else _back_from(shelf).after(found)


def _back_from(shelf: np.ndarray) -> Placement:
    """From a shelf to the place in the file."""
    matrix = np.eye(4)
    matrix[:3, 3] = -shelf
    return Placement(matrix, np.zeros((4, 4)))


@contextmanager
def evaluated(
    context: bpy.types.Context, root: bpy.types.Object, objects: Iterable[bpy.types.Object], apply_modifiers: bool
) -> Iterator[View]:
    """The view layer's evaluation of objects of a root's, with those added for now that it leaves out.

    Raises `SylpheedError` where that is needed and the scene can't be changed, or where sculpting can't be read.
    """
    objects = list(dict.fromkeys(objects))
    context.view_layer.update()
    view = View(context, root, apply_modifiers)
    modes = [obj for obj in objects if obj.mode != "OBJECT" or is_edited(obj)]
    if modes:
        with _no_handlers():
            _flush(modes, view)
            view.depsgraph = context.evaluated_depsgraph_get()
    missing = [obj for obj in objects if view.is_missing(obj)]
    if not missing:
        yield view
        return
    if context.scene.library:
        raise RefusedError(
            f'"{missing[0].name}" is hidden, and the scene is linked from {context.scene.library.filepath}',
            remedy="show it in the viewport (the monitor icon, and the checkbox of its collection)",
        )
    made: list[bpy.types.ID] = []
    with _no_handlers():
        try:
            for obj in missing:
                _add_helper(context.scene, obj, view, made)
            _tag_animation(view)
            view.depsgraph = context.evaluated_depsgraph_get()
            yield view
        finally:
            bpy.data.batch_remove(made)
            context.view_layer.update()


def is_edited(obj: bpy.types.Object) -> bool:
    """Whether the object's data are in edit mode, perhaps through another object that shares them."""
    return getattr(obj.data, "is_editmode", obj.mode == "EDIT")


def _flush(objects: Iterable[bpy.types.Object], view: View) -> None:
    """Writes what edit and sculpt mode keep apart to the objects' data."""
    for obj in objects:
        if is_edited(obj):
            obj.update_from_editmode()
    if any(obj.mode == "SCULPT" for obj in objects):
        _refuse_hidden_levels(view)
        bpy.ops.ed.flush_edits()


def _refuse_hidden_levels(view: View) -> None:
    """Blender crashes if it is asked for the levels of a Multiresolution modifier that was hidden while it was
    sculpted: they went with its evaluation."""
    for obj in bpy.data.objects:
        levels = obj.mode == "SCULPT" and any(modifier.type == "MULTIRES" for modifier in obj.modifiers)
        if levels and not view.is_enabled(obj):
            problem = f'"{obj.name}" is hidden while it is in Sculpt Mode'
            raise RefusedError(problem, remedy="show it in the viewport again")


@contextmanager
def _no_handlers() -> Iterator[None]:
    """Nobody's handlers run, and all are back afterwards."""
    lists: list[list] = [bpy.app.handlers.depsgraph_update_pre, bpy.app.handlers.depsgraph_update_post]
    kept = [list(handlers) for handlers in lists]
    try:
        for handlers in lists:
            handlers.clear()
        yield
    finally:
        for handlers, calls in zip(lists, kept, strict=True):
            handlers[:] = calls


def _add_helper(scene: bpy.types.Scene, obj: bpy.types.Object, view: View, made: list[bpy.types.ID]) -> None:
    """An object in the scene that needs another one's shape and place. What is made for it is added to `made`."""
    needed = obj
    if obj.mode == "SCULPT":  # the graph evaluates no modifiers there; its copy is in object mode
        needed = obj.copy()
        made.append(needed)
        view._stand_ins[obj] = needed
    nodes = bpy.data.node_groups.new("sylpheed reading", "GeometryNodeTree")
    made.append(nodes)
    nodes.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    info, output = nodes.nodes.new("GeometryNodeObjectInfo"), nodes.nodes.new("NodeGroupOutput")
    info.inputs["Object"].default_value = needed
    info.transform_space = "RELATIVE"
    nodes.links.new(info.outputs["Geometry"], output.inputs[0])
    mesh = bpy.data.meshes.new("sylpheed reading")
    made.append(mesh)
    helper = bpy.data.objects.new("sylpheed reading", mesh)
    made.append(helper)
    helper.modifiers.new("", "NODES").node_group = nodes
    scene.collection.objects.link(helper)
    view._helpers[obj] = helper


def _has_nodes(obj: bpy.types.Object) -> bool:
    return any(modifier.type == "NODES" and modifier.show_viewport for modifier in obj.modifiers)


def _tag_animation(view: View) -> None:
    """Has the actions of hidden objects evaluated at this frame, which new relations alone don't bring about. Those of
    others are left alone: they may have been moved since without a key."""
    for obj in bpy.data.objects:
        owners = [obj, obj.data, getattr(obj.data, "shape_keys", None)]
        animated = [owner for owner in owners if owner is not None and getattr(owner, "animation_data", None)]
        if animated and not view.is_enabled(obj):
            for owner in animated:
                owner.update_tag(refresh={"TIME"})


def _parents(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    while obj.parent is not None:
        obj = obj.parent
        yield obj


def _is_plain(obj: bpy.types.Object) -> bool:
    """Whether an object's place follows from what it says of itself, also where nothing evaluates it."""
    parent = obj.parent
    follows_path = parent is not None and parent.type == "CURVE" and parent.data.use_path
    changed = obj.constraints or obj.animation_data or obj.rigid_body or obj.rigid_body_constraint
    return obj.parent_type in {"OBJECT", *DEFORMS} and not changed and not follows_path


def _agrees(world: object, above: object | None, local: list) -> bool:
    """Whether a world matrix is its parent's times the local ones, up to rounding."""
    product = bound = np.eye(4)
    for matrix in ([] if above is None else [above]) + local:
        exact = np.array(matrix, np.float64)
        product, bound = product @ exact, bound @ np.abs(exact)
    return bool((np.abs(np.array(world, np.float64) - product) <= AGREEMENT * bound).all())


def _refuse_flat(obj: bpy.types.Object, root: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
    matrix = np.array(root.evaluated_get(depsgraph).matrix_world, np.float64)
    if np.linalg.matrix_rank(matrix[:3, :3]) < 3:
        raise RefusedError(
            f'"{obj.name}" gets its place from the scene, which can\'t be followed while its root is scaled to nothing',
            remedy="give the root a scale other than 0",
        )


def _is_own_mesh(instance: bpy.types.DepsgraphObjectInstance) -> bool:
    """Whether what Blender lists as an instance is the mesh that a curve or text is shown as."""
    own, parent = instance.object, instance.parent
    return own.original == parent.original and parent.type != "MESH" and instance.matrix_world == parent.matrix_world


def _enabled_collections(layer: bpy.types.LayerCollection) -> Iterator[bpy.types.Collection]:
    if not layer.exclude and not layer.collection.hide_viewport:
        yield layer.collection
        for child in layer.children:
            yield from _enabled_collections(child)
