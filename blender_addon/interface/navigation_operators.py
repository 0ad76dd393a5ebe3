"""The operators of a hull's navigation volume: show it, patch it, rebuild it. What they make is kept with the root, and
exports write it as long as the hull is the same."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import bpy

from ...core.errors import RefusedError, SylpheedError
from ..checks import results
from ..checks.fix_kinds import FixKind
from ..scene import custom_properties, viewport
from ..scene.roots import find_root, has_root, shown_root
from ..scene.scene_rules import SceneRule
from ..translations import label_text, report_text
from .check_operators import RootProperties
from .preferences import folders
from .reporting import Result, refuse, report

if TYPE_CHECKING:
    from ..scene.navigation_object import Links

STEP = 0.1
"""Seconds between two looks at the progress and at Esc."""


def _links(volume: bytes) -> Links:
    from ...core.formats import regn, regn_contents
    from ..scene import navigation_object

    return navigation_object.links_of(regn_contents.decode(regn.decode(volume)))


def keep(context: bpy.types.Context, root: bpy.types.Object, volume: bytes, hull: bytes) -> None:
    """Keeps a volume with the root of the hull that it was made for, and shows it where the old one is shown."""
    from ..overlay import state
    from ..scene import navigation_object

    custom_properties.store_navigation(root, volume, hull)
    if navigation_object.find(root) is not None:
        links = _links(volume)
        navigation_object.show(context.scene, root, links)
        state.show_links(links)
    viewport.redraw(context)


def patch(context: bpy.types.Context, root: bpy.types.Object) -> str:
    """Patches the volume of a hull for its edit, keeps it, and checks the hull: what to report. Raises
    `SylpheedError`."""
    from ..scene import navigation

    volume, hull = navigation.current_volume(context, root, folders(context)[1])
    keep(context, root, volume, hull)
    results.run(context, root)
    return report_text('Patched the navigation of "{name}"', name=root.name)


class SYLPHEED_OT_fix_navigation(bpy.types.Operator, RootProperties):
    """Patch the navigation volume for the edit. It is kept with the root, and exports write it"""

    bl_idname = "sylpheed.fix_navigation"
    bl_label = "Patch Sylpheed Navigation"
    bl_options = {"REGISTER", "UNDO"}
    fix = FixKind.NAVIGATION

    severity: bpy.props.StringProperty(
        name="Severity", description="Limit to error, warning or info. Empty: all of them", default=""
    )

    def execute(self, context: bpy.types.Context) -> Result:
        try:
            text = patch(context, find_root(context, custom_properties.HULL, self.root, session_uid=self.root_uid))
        except SylpheedError as error:
            return refuse(self, error)
        report(self, "INFO", text)
        return {"FINISHED"}


class SYLPHEED_OT_show_navigation(bpy.types.Operator, RootProperties):
    bl_idname = "sylpheed.show_navigation"
    bl_label = "Show Sylpheed Navigation"
    bl_description = (
        "Show or hide the links by which computer-flown ships find their way, colored by how large a ship fits, and as "
        "an object of edges in a collection that is excluded at first"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        cls.poll_message_set("The scene has no hull")
        return context.mode == "OBJECT" and has_root(context.scene, custom_properties.HULL)

    def execute(self, context: bpy.types.Context) -> Result:
        from ..overlay import state, switch
        from ..scene import navigation, navigation_object

        try:
            root = find_root(context, custom_properties.HULL, self.root, session_uid=self.root_uid)
            if navigation_object.hide(root):
                state.show_links(None)
                viewport.redraw(context)
                return {"FINISHED"}
            volume, _ = navigation.current_volume(context, root, folders(context)[1])
            links = _links(volume)
            navigation_object.show(context.scene, root, links)
            switch.turn_on(context)
            state.bring_up_to_date(context)
        except SylpheedError as error:
            return refuse(self, error)
        state.show_links(links)
        viewport.redraw(context)
        closed = int((links.clearance < 1.0).sum())
        text = report_text("Links: {count:,}, closed: {closed:,}", count=len(links.faces), closed=closed)
        report(self, "INFO", text)
        return {"FINISHED"}


class _Stopped(RefusedError):
    """Esc was pressed."""


class SYLPHEED_OT_rebuild_navigation(bpy.types.Operator, RootProperties):
    """Divide the free space of the hull again, from the hull alone. This takes seconds. Esc cancels"""

    bl_idname = "sylpheed.rebuild_navigation"
    bl_label = "Rebuild Sylpheed Navigation"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        cls.poll_message_set("The scene has no hull")
        return context.mode == "OBJECT" and has_root(context.scene, custom_properties.HULL)

    def _hull(self, context: bpy.types.Context) -> tuple[bpy.types.Object, bytes]:
        from ...core.editing.options import Options
        from ..scene import exporting

        root = find_root(context, custom_properties.HULL, self.root, session_uid=self.root_uid)
        return root, exporting.export_hull(context, root, Options(), True).data

    def execute(self, context: bpy.types.Context) -> Result:
        from ...core.formats import mcol
        from ..scene import navigation

        try:
            root, hull = self._hull(context)
            volume = navigation.rebuild_for(mcol.decode(hull))
        except SylpheedError as error:
            return refuse(self, error)
        return self._finish(context, root, volume, hull)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        """Works beside Blender, which stays usable and takes Esc. The work touches no Blender data."""
        from ...core.formats import mcol
        from ..scene import navigation

        try:
            root, self._data = self._hull(context)
        except SylpheedError as error:
            return refuse(self, error)
        self.root_uid = root.session_uid
        self._part, self._stop, self._done = 0.0, False, []
        model = mcol.decode(self._data)

        def note(part: float) -> None:
            self._part = part
            if self._stop:
                raise _Stopped("it was canceled")

        def work() -> None:
            try:
                self._done.append(navigation.rebuild_for(model, note))
            except SylpheedError as error:
                self._done.append(error)

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()
        window = context.window_manager
        self._timer = window.event_timer_add(STEP, window=context.window)
        window.progress_begin(0, 1)
        context.workspace.status_text_set(label_text("Rebuilding the navigation. Esc: cancel"))
        window.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> Result:
        if event.type == "ESC" and event.value == "PRESS":
            self._stop = True
        if event.type != "TIMER":
            return {"RUNNING_MODAL"} if event.type == "ESC" else {"PASS_THROUGH"}
        context.window_manager.progress_update(self._part)
        if self._thread.is_alive():
            return {"RUNNING_MODAL"}
        self.cancel(context)
        done = self._done[0] if self._done else RefusedError("the rebuild failed")
        if isinstance(done, _Stopped):
            report(self, "INFO", "Canceled. The navigation is as it was")
            return {"CANCELLED"}
        if isinstance(done, SylpheedError):
            return refuse(self, done)
        try:
            root = find_root(context, custom_properties.HULL, session_uid=self.root_uid)
        except SylpheedError as error:
            return refuse(self, error)
        return self._finish(context, root, done, self._data)

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender calls this too, when it closes the window meanwhile."""
        self._stop = True
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)

    def _finish(self, context: bpy.types.Context, root: bpy.types.Object, volume: bytes, hull: bytes) -> Result:
        keep(context, root, volume, hull)
        text = report_text('Rebuilt the navigation of "{name}": {count:,} bytes', name=root.name, count=len(volume))
        report(self, "INFO", text)
        return {"FINISHED"}


class SYLPHEED_PT_navigation(bpy.types.Panel):
    bl_label = "Navigation"
    bl_category = "Sylpheed"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_order = 6
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_root(context.scene, custom_properties.HULL)

    def draw(self, context: bpy.types.Context) -> None:
        layout, root = self.layout, shown_root(context)
        result = results.of(root) if root is not None else None
        if result is not None and any(problem.check is SceneRule.NAVIGATION_OLD for problem in result.checked.problems):
            layout.label(text="Older than the edit", icon="ERROR")
        layout.operator(SYLPHEED_OT_show_navigation.bl_idname, text="Show or Hide", icon="OUTLINER_DATA_LATTICE")
        layout.operator(SYLPHEED_OT_fix_navigation.bl_idname, text="Patch", icon="MODIFIER")
        layout.operator(SYLPHEED_OT_rebuild_navigation.bl_idname, text="Rebuild", icon="FILE_REFRESH")


CLASSES = (
    SYLPHEED_OT_fix_navigation,
    SYLPHEED_OT_show_navigation,
    SYLPHEED_OT_rebuild_navigation,
    SYLPHEED_PT_navigation,
)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
