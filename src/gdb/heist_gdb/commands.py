"""The commands `heist agents`, `heist tasks`, `heist signals` and `heist bt`."""

import gdb

from . import program, show_agents, show_coroutines, show_signals, show_tasks


class Prefix(gdb.Command):
    """Shows what a program does with Heist: heist agents, heist tasks, heist signals, heist bt.

They read memory only, so they work on a running process that gdb has stopped and on a core file."""

    def __init__(self):
        super().__init__("heist", gdb.COMMAND_STATUS, prefix=True)

    def invoke(self, _argument, _from_tty):
        gdb.execute("help heist")


class Shown(gdb.Command):
    """A command that prints lines, and whose errors say what to do."""

    def __init__(self, name, lines, completion=gdb.COMPLETE_EXPRESSION):
        self.__doc__ = lines.__doc__
        self._lines = lines
        super().__init__(f"heist {name}", gdb.COMMAND_STATUS, completion)

    def invoke(self, argument, _from_tty):
        if not gdb.selected_inferior().threads():
            raise program.Trouble("heist: no program runs and no core file is loaded. Use run, attach or core-file"
                                  " first.")
        program.forget()
        try:
            for line in self._lines(argument.strip()):
                print(line)
        except gdb.GdbError:
            raise
        except KeyboardInterrupt:
            raise program.Trouble("heist: interrupted.") from None
        except gdb.MemoryError as error:
            raise program.Trouble(f"heist: {error}. The memory may belong to an object that is gone, or that a thread"
                                  " was changing when it stopped.") from None
        except gdb.error as error:
            raise program.Trouble(f"heist: {error}.") from None
        except Exception as error:  # a mistake of these commands is no reason for a traceback
            raise program.Trouble(f"heist: this command cannot read what it found ({type(error).__name__}: {error})."
                                  " Please report that with the version of gdb and of the compiler.") from None


def register():
    Prefix()
    Shown("agents", show_agents.lines)
    Shown("tasks", show_tasks.lines)
    Shown("signals", show_signals.lines)
    Shown("bt", show_coroutines.lines)
