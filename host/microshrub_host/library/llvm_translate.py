"""The device library's kernels in LLVM's language, with the integers of viper.

Each construct of the kernels (see c_translate.py) has exactly one meaning here, too: integers have
32 bits and wrap around, loads of 8 and 16 bits are unsigned, and `//` rounds down. Each variable
of a kernel has a place in memory, %v_NAME; LLVM turns these places into registers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping

from .kernel_sources import (
    INT,
    NOTHING,
    OBJECT,
    POINTERS,
    Kernel,
    KernelFile,
    KernelScope,
    loaded,
    select,
)

_ARITHMETIC = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.LShift: "shl", ast.RShift: "ashr",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
}  # fmt: skip
_ROUNDED = {ast.FloorDiv: "floor_div", ast.Mod: "floor_mod"}
_COMPARISONS = {
    ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
_BITS = {POINTERS["ptr8"]: 8, POINTERS["ptr16"]: 16, POINTERS["ptr32"]: 32}  # bits of an item

Expression = Callable[[], str]
_ROUNDING = """
define internal i32 @floor_div(i32 %a, i32 %b) alwaysinline {
    %q = sdiv i32 %a, %b
    %r = srem i32 %a, %b
    %rest = icmp ne i32 %r, 0
    %signs = xor i32 %a, %b
    %other = icmp slt i32 %signs, 0
    %down = and i1 %rest, %other
    %less = sext i1 %down to i32
    %rounded = add i32 %q, %less
    ret i32 %rounded
}

define internal i32 @floor_mod(i32 %a, i32 %b) alwaysinline {
    %r = srem i32 %a, %b
    %rest = icmp ne i32 %r, 0
    %signs = xor i32 %r, %b
    %other = icmp slt i32 %signs, 0
    %down = and i1 %rest, %other
    %more = select i1 %down, i32 %b, i32 0
    %rounded = add i32 %r, %more
    ret i32 %rounded
}

"""


def translate(modules: Iterable[str], of: Collection[str]) -> tuple[str, list[Kernel]]:
    """Return the text for the kernels of the modules `of`, and these kernels.

    The text also has their callees, for internal use; `modules` have to include these. Raises
    TranslationError.
    """
    files, kernels = select(modules, of=of)
    texts = [_ROUNDING]
    for file in files:
        linkage = "" if file.name in of else "internal "
        for node in file.nodes:
            if (file.name, node.name) in kernels:
                texts.append(LlvmFunction(file, kernels, node).text(linkage))
    return "\n".join(texts), [kernel for kernel in kernels.values() if kernel.module in of]


def type_name(c_type: str) -> str:
    """Return LLVM's name for a type of kernel_sources."""
    return {INT: "i32", NOTHING: "void"}.get(c_type, "ptr")


class LlvmFunction(KernelScope):
    """The translation of one kernel to LLVM's language."""

    def __init__(
        self, file: KernelFile, kernels: Mapping[tuple[str, str], Kernel], node: ast.FunctionDef
    ) -> None:
        super().__init__(file, kernels, node)
        self.out = Instructions()
        self.loops: list[tuple[str, str]] = []  # labels for `continue` and `break`, innermost last

    def text(self, linkage: str = "") -> str:
        """Return the whole function, with the places of its variables at the top."""
        for name in self.arguments:
            self.out.put(f"store {type_name(self.types[name])} %a_{name}, ptr %v_{name}")
        self._block(self.body)
        returned = type_name(self.kernel.returns)
        if self.out.reached:
            self.out.leave("ret void" if returned == "void" else f"ret {returned} 0")
        places = [f"    %m{i} = alloca {llvm_type}" for i, llvm_type in enumerate(self.out.places)]
        for name, c_type in self.types.items():
            places.append(f"    %v_{name} = alloca {type_name(c_type)}")
            if name not in self.arguments and c_type == INT:
                places.append(f"    store i32 0, ptr %v_{name}")
        given = ", ".join(f"{type_name(self.types[name])} %a_{name}" for name in self.arguments)
        head = f"define {linkage}{returned} @{self.kernel.name}({given}) nounwind {{"
        return "\n".join([head, *places, *self.out.lines, "}", ""])

    # --- Statements ------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            self._assign(node.targets[0], node.value)
        elif isinstance(node, ast.AugAssign):
            self._assign(node.target, ast.BinOp(loaded(node.target), node.op, node.value))
        elif isinstance(node, ast.Return):
            self.out.leave(f"ret i32 {self._value(node.value)}" if node.value else "ret void")
        elif isinstance(node, ast.Expr):
            self._value(node.value)
        elif isinstance(node, ast.If):
            self._branches(node)
        elif isinstance(node, ast.While):
            self._while(node)
        elif isinstance(node, ast.For):
            self._for(node)
        elif isinstance(node, (ast.Break, ast.Continue)):
            self.out.leave(f"br label %{self.loops[-1][isinstance(node, ast.Break)]}")
        elif not isinstance(node, ast.Pass):
            raise self.error(node)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            c_type = self.type_of(value)
            result = self._value(value)
            if self.types.setdefault(target.id, c_type) != c_type:
                raise self.error(target)
            self.out.put(f"store {type_name(c_type)} {result}, ptr %v_{target.id}")
        elif isinstance(target, ast.Subscript):
            result, item = self._value(value), self._item(target)
            bits = self._bits(target)
            if bits < 32:
                result = self.out.new(f"trunc i32 {result} to i{bits}")
            self.out.put(f"store i{bits} {result}, ptr {item}")
        else:
            raise self.error(target)

    def _branches(self, node: ast.If) -> None:
        yes, no = self.out.label(), self.out.label()
        after = self.out.label() if node.orelse else no
        self._jump(node.test, yes, no)
        self.out.at(yes)
        self._block(node.body)
        if node.orelse:
            if self.out.reached:
                self.out.leave(f"br label %{after}")
            self.out.at(no)
            self._block(node.orelse)
        self.out.at(after)

    def _while(self, node: ast.While) -> None:
        test, body, after = self.out.label(), self.out.label(), self.out.label()
        self.out.at(test)
        self._jump(node.test, body, after)
        self.out.at(body)
        self._repeated(node.body, test, after)
        if self.out.reached:
            self.out.leave(f"br label %{test}")
        self.out.at(after)

    def _for(self, node: ast.For) -> None:
        target, start, stop, step = self.range_of(node)
        test, body, following, after = (self.out.label() for _ in range(4))
        place = self.out.place("i32")
        self.out.put(f"store i32 {self._value(start)}, ptr {place}")
        end = self._value(stop)
        self.out.at(test)
        i = self.out.new(f"load i32, ptr {place}")
        more = self.out.new(f"icmp {'slt' if step > 0 else 'sgt'} i32 {i}, {end}")
        self.out.leave(f"br i1 {more}, label %{body}, label %{after}")
        self.out.at(body)
        if target in self.read:
            self.out.put(f"store i32 {i}, ptr %v_{target}")
        self._repeated(node.body, following, after)
        self.out.at(following)
        raised = self.out.new(f"add nsw i32 {i}, {step}")
        self.out.put(f"store i32 {raised}, ptr {place}")
        self.out.leave(f"br label %{test}")
        self.out.at(after)

    def _repeated(self, body: list[ast.stmt], following: str, after: str) -> None:
        self.loops.append((following, after))
        self._block(body)
        self.loops.pop()

    # --- Conditions ------------------------------------------------------------------------------

    def _jump(self, node: ast.expr, yes: str, no: str) -> None:
        """Put a jump to one of two labels, by a condition."""
        if isinstance(node, ast.BoolOp):
            for part in node.values[:-1]:
                following = self.out.label()
                both = isinstance(node.op, ast.And)
                self._jump(part, *((following, no) if both else (yes, following)))
                self.out.at(following)
            self._jump(node.values[-1], yes, no)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._jump(node.operand, no, yes)
        elif isinstance(node, ast.Compare):
            left = self._value(node.left)
            for place, (op, comparator) in enumerate(zip(node.ops, node.comparators, strict=True)):
                last = place == len(node.ops) - 1
                right = self._value(comparator)
                goal = yes if last else self.out.label()
                bit = self._compared(op, left, right, node)
                self.out.leave(f"br i1 {bit}, label %{goal}, label %{no}")
                if not last:
                    self.out.at(goal)
                left = right
        else:
            bit = self.out.new(f"icmp ne i32 {self._value(node)}, 0")
            self.out.leave(f"br i1 {bit}, label %{yes}, label %{no}")

    def _compared(self, op: ast.cmpop, left: str, right: str, node: ast.AST) -> str:
        if type(op) not in _COMPARISONS:
            raise self.error(node)
        return self.out.new(f"icmp {_COMPARISONS[type(op)]} i32 {left}, {right}")

    def _chosen(self, test: ast.expr, llvm_type: str, body: Expression, other: Expression) -> str:
        """Put the choice of one of two values by a condition; only that value is computed."""
        place = self.out.place(llvm_type)
        yes, no, after = self.out.label(), self.out.label(), self.out.label()
        self._jump(test, yes, no)
        for label, value in ((yes, body), (no, other)):
            self.out.at(label)
            self.out.put(f"store {llvm_type} {value()}, ptr {place}")
            self.out.leave(f"br label %{after}")
        self.out.at(after)
        return self.out.new(f"load {llvm_type}, ptr {place}")

    # --- Expressions -----------------------------------------------------------------------------

    def _value(self, node: ast.expr) -> str:
        """Put the instructions for an expression; return the name of its value, or a number."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return str(int(node.value))
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.BinOp):
            return self._binop(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.out.new(f"sub i32 0, {self._value(node.operand)}")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            return self.out.new(f"xor i32 {self._value(node.operand)}, -1")
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = self._value(node.left), self._value(node.comparators[0])
            return self.out.new(f"zext i1 {self._compared(node.ops[0], left, right, node)} to i32")
        if isinstance(node, (ast.UnaryOp, ast.BoolOp, ast.Compare)):
            return self._chosen(node, "i32", lambda: "1", lambda: "0")
        if isinstance(node, ast.IfExp):
            llvm_type = type_name(self.type_of(node))
            body, other = node.body, node.orelse
            given = lambda: self._value(body), lambda: self._value(other)
            return self._chosen(node.test, llvm_type, *given)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._call(node.func.id, node)
        raise self.error(node)

    def _name(self, node: ast.Name) -> str:
        if node.id in self.types:
            return self.out.new(f"load {type_name(self.types[node.id])}, ptr %v_{node.id}")
        if node.id in self.file.constants:
            return str(self.file.constants[node.id])
        called = self.kernel_called(node.id)
        if called is None:
            raise self.error(node)
        return f"@{called.name}"

    def _binop(self, node: ast.BinOp) -> str:
        left, right = self._value(node.left), self._value(node.right)
        if type(node.op) in _ROUNDED:
            return self.out.new(f"call i32 @{_ROUNDED[type(node.op)]}(i32 {left}, i32 {right})")
        if type(node.op) not in _ARITHMETIC:
            raise self.error(node)
        return self.out.new(f"{_ARITHMETIC[type(node.op)]} i32 {left}, {right}")

    def _bits(self, node: ast.Subscript) -> int:
        return _BITS[self.pointer_of(node)]

    def _item(self, node: ast.Subscript, item_type: str = "") -> str:
        """Put the address of a pointer's item, of type `item_type`, or an integer of its width."""
        base, index = self._value(node.value), self._value(node.slice)
        item_type = item_type or f"i{self._bits(node)}"
        return self.out.new(f"getelementptr inbounds {item_type}, ptr {base}, i32 {index}")

    def _subscript(self, node: ast.Subscript) -> str:
        """Put the load of a pointer's item, or of an object in a tuple."""
        if self.type_of(node.value) == OBJECT:
            return self.out.new(f"load ptr, ptr {self._item(node, 'ptr')}")
        bits = self._bits(node)
        item = self.out.new(f"load i{bits}, ptr {self._item(node)}")
        return item if bits == 32 else self.out.new(f"zext i{bits} {item} to i32")

    def _call(self, name: str, node: ast.Call) -> str:
        if name == "int":
            return self._value(node.args[0])
        if name in POINTERS:
            return self._address(node.args[0])
        called = self.kernel_called(name)
        if called is None and name not in self.types:
            raise self.error(node)
        # A function that is an argument returns an integer
        returned = type_name(called.returns if called else INT)
        c_types = called.arguments if called else [self.type_of(part) for part in node.args]
        pairs = zip(c_types, node.args, strict=True)
        given = ", ".join([f"{type_name(c_type)} {self._value(part)}" for c_type, part in pairs])
        function = f"@{called.name}" if called else self._name(ast.Name(name))
        call = f"call {returned} {function}({given})"
        if returned != "void":
            return self.out.new(call)
        self.out.put(call)
        return "0"

    def _address(self, node: ast.expr) -> str:
        """Return the value to cast to a pointer: an object, or an item of a table of addresses."""
        if isinstance(node, ast.Subscript) and self.type_of(node.value) == POINTERS["ptr32"]:
            return self.out.new(f"load ptr, ptr {self._item(node, 'ptr')}")
        return self._value(node)


class Instructions:
    """The instructions of a function; computed values are named %tN, and targets of jumps lN.

    lines    the instructions
    places   the types of places in memory that are not variables; place i is named %mi
    reached  whether the next instruction can be reached
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: list[str] = []
        self.reached = True
        self._count = 0  # number of names and labels so far

    def put(self, instruction: str) -> None:
        """Put an instruction without a value."""
        if not self.reached:
            self.at(self.label())
        self.lines.append("    " + instruction)

    def leave(self, instruction: str) -> None:
        """Put an instruction after which the next one is not reached."""
        self.put(instruction)
        self.reached = False

    def new(self, instruction: str) -> str:
        """Put an instruction with a value; return the value's name."""
        self._count += 1
        name = f"%t{self._count}"
        self.put(f"{name} = {instruction}")
        return name

    def label(self) -> str:
        """Return a new label, which is not placed yet."""
        self._count += 1
        return f"l{self._count}"

    def at(self, label: str) -> None:
        """Place a label before the next instruction."""
        if self.reached:
            self.lines.append(f"    br label %{label}")
        self.lines.append(f"{label}:")
        self.reached = True

    def place(self, llvm_type: str) -> str:
        """Return a new place in memory for a value of that type."""
        self.places.append(llvm_type)
        return f"%m{len(self.places) - 1}"
