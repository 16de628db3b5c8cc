"""Names for what an instruction does and where control goes after it, the same for all instruction sets."""

# Where control goes after an instruction.
NEXT = ""
BRANCH = "branch"  # to the target or to the next instruction
JUMP = "jump"  # to the target
END = "end"  # the kernel ends, or the target is not known
CALL = "call"  # to a function outside the listing, and back

# What an instruction does. Loads and stores have their width in bits after the word: "global load 128".
FMA = "multiply-add"
MATRIX = "matrix"
FLOAT = "other float"
INTEGER = "integer"
MOVE = "move"
CONVERT = "convert"
SHUFFLE = "shuffle"
BARRIER = "barrier"
WAIT = "wait"
CONTROL = "control"
ATOMIC = "atomic"
OTHER = "other"
GLOBAL_LOAD, GLOBAL_STORE = "global load", "global store"
LOCAL_LOAD, LOCAL_STORE = "local load", "local store"
PRIVATE_LOAD, PRIVATE_STORE = "private load", "private store"  # spilled registers, and arrays that are not in registers
CONSTANT_LOAD = "constant load"
COPY = "global to local copy"
LOAD, STORE = "load", "store"  # for instruction sets with only one memory
GATHERED, SCATTERED = "gathered load", "scattered store"  # an address for each lane
MEMORY = (
    GLOBAL_LOAD, GLOBAL_STORE, LOCAL_LOAD, LOCAL_STORE, PRIVATE_LOAD, PRIVATE_STORE, CONSTANT_LOAD, COPY, LOAD, STORE,
    GATHERED, SCATTERED,
)  # fmt: skip
