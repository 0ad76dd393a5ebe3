"""An independent judge of the written files: it shares no code with the package under test.

Three parts, each written from docs/FORMATS.md and from what is known of the game's own code:

* `reader` - naive readers that insist on every rule of the layout
* `game`   - the game's own collision queries on such a file, and brute-force truths to hold them against
* `exact`  - exact triangle/box overlap and smallest enclosing spheres
"""
