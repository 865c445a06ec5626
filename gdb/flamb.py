"""Adds the `flamb` command to GDB: (gdb) source .../share/flamb/gdb/flamb.py"""

import os
import sys

OLDEST_GDB = 12


def problem():
    """Why flamb cannot work here, or None."""
    try:
        import gdb  # pylint: disable=import-outside-toplevel
    except ImportError:
        return "flamb.py runs inside GDB; start gdb and type: source " + os.path.abspath(__file__)
    version = gdb.VERSION
    major = "".join(part for part in version.split(".")[0] if part.isdigit())
    if not major or int(major) < OLDEST_GDB:
        return f"flamb needs GDB {OLDEST_GDB} or newer; this is {version}"
    return None


def main():
    """Registers the commands, or says in one line why not."""
    reason = problem()
    if reason is None:
        directory = os.path.dirname(os.path.abspath(__file__))
        if directory not in sys.path:
            sys.path.insert(0, directory)
        from flamb_gdb import c_api, commands  # pylint: disable=import-outside-toplevel

        try:
            commands.register()
        except c_api.LibraryError as error:
            reason = str(error)
    if reason is not None:
        print(f"flamb was not loaded: {reason}.", file=sys.stderr)


main()
