"""Commands and printers of gdb for programs that use Heist. heist.py registers them."""

import gdb

from . import commands, printers


def register():
    """Adds the commands and printers to gdb. A second call changes nothing."""
    if getattr(gdb, "heist_is_registered", False):
        return
    commands.register()
    printers.register()
    gdb.heist_is_registered = True
