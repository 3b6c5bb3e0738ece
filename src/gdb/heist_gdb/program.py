"""The program that gdb looks at: the types of its Heist, members by their names, and what stands at an address.

Nothing here calls a function of the program, so all of it works on a core file as well.
"""

import array
import functools
import re

import gdb

VERSION = "v0_1"  # the inline namespace whose members these commands know
NAMESPACE = f"heist::{VERSION}::"
WORD = 8
MOST_OF_TEXT = 80  # characters
MOST_ELEMENTS = 1 << 20  # of a std::vector of the library


class Trouble(gdb.GdbError):
    """What was wrong, and what to do. gdb prints it without a traceback."""


def type_of(name):
    """The type heist::<name>."""
    try:
        return gdb.lookup_type(NAMESPACE + name)
    except gdb.error:
        raise Trouble(_why_no_type(name)) from None


def _why_no_type(name):
    if not gdb.objfiles():
        return "heist: there is no program. Use the commands file, core-file or attach first."
    versions = sorted(set(re.findall(r"heist::(v\d+_\d+)::", _names_of_heist())))
    if not versions:
        return ("heist: this program has no symbols of Heist. It does not use Heist, its symbols were stripped, or its"
                " shared libraries are not loaded yet.")
    if VERSION not in versions:
        return (f"heist: these commands know Heist {VERSION}, and the program has Heist {', '.join(versions)}."
                " Source heist.py of that version.")
    return _without_debug_information(NAMESPACE + name)


def _without_debug_information(kind):
    return (f"heist: the debug information of the library is missing (what {kind} is). Compile Heist with -g, or install"
            " the package of its debug symbols (libheist0.1-dbgsym). If it is there, look whether gdb has found the"
            " library (info sharedlibrary): in a core file, the memory that says where it lies may be left out.")


def _names_of_heist():
    """A function and a thread-local variable that every program with Heist has, as gdb lists them."""
    return "".join(gdb.execute(f"info {kind} -q {pattern}", to_string=True) for kind, pattern in (
        ("functions", "heist::v[0-9_]*::detail::current_loop"),
        ("variables", "heist::v[0-9_]*::detail::loop_of_this_thread")))


def member(value, name):
    """value.<name>; says which member is missing if the program's Heist differs."""
    try:
        return value[name]
    except gdb.error:
        raise _no_member(value.type.strip_typedefs(), name) from None


def _no_member(kind, name):
    if kind.code == gdb.TYPE_CODE_STRUCT and not kind.fields():
        return Trouble(_without_debug_information(kind))
    return Trouble(f"heist: {kind} has no member {name} in this program. These commands know Heist {VERSION} as it was"
                   " released with them; source heist.py of the program's Heist.")


def members(value, path):
    """value.a.b.c for the path "a.b.c"."""
    for name in path.split("."):
        value = member(value, name)
    return value


def offset_of(kind, name):
    """How many bytes behind the beginning of an object of this type its member stands, bases included."""
    for field in kind.strip_typedefs().fields():
        if field.name == name and hasattr(field, "bitpos"):
            return field.bitpos // 8
        if field.is_base_class:
            try:
                return field.bitpos // 8 + offset_of(field.type, name)
            except Trouble:
                pass
    raise _no_member(kind, name)


def names_of_enum(name):
    """{value: name} of the enumeration heist::<name>."""
    return {field.enumval: field.name.rsplit("::", 1)[-1] for field in type_of(name).fields()}


def at(kind, address):
    """The object of this type at an address."""
    return gdb.Value(address).cast(kind.pointer()).dereference()


def address_of(value):
    return int(value.address)


def loaded(atomic):
    """What a std::atomic holds: whatever the library, its value stands at its beginning."""
    kind = atomic.type.strip_typedefs()
    return at(kind.template_argument(0), address_of(atomic))


def counted(own_count):
    """What an OwnCount says."""
    return int(loaded(member(own_count, "count_")))


def pointer_in(holder, kind):
    """The object of this type that a std::unique_ptr has, or None: that is one pointer and no more."""
    address = read_word(address_of(holder))
    return at(kind, address) if address else None


def target_of(ref):
    """The object that a Ref counts, or None."""
    target = member(ref, "target_")
    return target.dereference() if int(target) else None


def elements(array):
    """The elements of a std::array."""
    kind = array.type.strip_typedefs()
    first = address_of(array)
    element = kind.template_argument(0)
    return [at(element, first + i * element.sizeof) for i in range(int(kind.template_argument(1)))]


def entries(vector):
    """The elements of a std::vector, which begins with the pointers to its beginning and to its end."""
    element = vector.type.strip_typedefs().template_argument(0)
    begin, end = read_words(address_of(vector), 2)
    if not 0 <= end - begin <= MOST_ELEMENTS * element.sizeof:
        raise Trouble(f"heist: the list at {address_of(vector):#x} cannot be what its memory says. Something has"
                      " overwritten it, or a thread was changing it when it stopped.")
    return [at(element, address) for address in range(begin, end, element.sizeof)]


def read_bytes(address, count):
    try:
        return bytes(gdb.selected_inferior().read_memory(address, count))
    except gdb.error:
        raise Trouble(f"heist: the memory at {address:#x} cannot be read. The object is gone, or the core file leaves"
                      " its memory out.") from None


def read_words(address, count):
    return array.array("Q", read_bytes(address, count * WORD)).tolist()


def read_word(address):
    return int.from_bytes(read_bytes(address, WORD), "little")


def read_text(address):
    """What a const char* points to, as far as a line has room for it."""
    text = gdb.Value(address).cast(gdb.lookup_type("char").pointer())
    try:
        return text.string(errors="replace", length=-1)[:MOST_OF_TEXT]
    except gdb.error:
        return "a text that cannot be read"


def symbol_at(address):
    """The name of the function or variable that begins at an address, or None."""
    name, offset = symbol_around(address)
    return name if offset == 0 else None


@functools.cache
def symbol_around(address):
    """(name, how far the address is behind its beginning) of the function or variable at an address; (None, 0)."""
    found = gdb.execute(f"info symbol {address:#x}", to_string=True)
    match = re.match(r"(.*?)(?: \+ (\d+))? in section ", found)
    return (match[1], int(match[2] or 0)) if match else (None, 0)


def forget():
    """To be called before each command: libraries may have come or gone since the last one."""
    symbol_around.cache_clear()


def short(name):
    """A name as users write it, without the version."""
    return name.replace(NAMESPACE, "heist::").replace("[abi:cxx11]", "")


def evaluate(expression):
    try:
        return gdb.parse_and_eval(expression)
    except gdb.error as error:
        raise Trouble(f"heist: {expression}: {error}") from None


def plain_object(value):
    """The object behind references, pointers and typedefs."""
    kind = value.type.strip_typedefs()
    while kind.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        if kind.code == gdb.TYPE_CODE_PTR and int(value) == 0:
            raise Trouble("heist: that pointer is null.")
        value = value.dereference() if kind.code == gdb.TYPE_CODE_PTR else value.referenced_value()
        kind = value.type.strip_typedefs()
    return value


def symbol_of_static(name):
    """The address of the static member heist::<name>."""
    value = evaluate(f"&'{NAMESPACE}{name}'")
    return int(value)
