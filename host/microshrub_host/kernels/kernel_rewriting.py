"""What an engine changes in the kernels' syntax trees before they are compiled."""

from __future__ import annotations

import ast

POINTERS = ("ptr8", "ptr16", "ptr32")


class Overflows(ast.NodeTransformer):
    """Has _i32() check that each sum, difference, product and left shift fits 32 bits."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.LShift)):
            return node
        call = ast.Call(ast.Name("_i32", ast.Load()), [node], [])
        return ast.copy_location(call, node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        assert isinstance(node.target, ast.Name), "kernels update plain names only"
        value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        assign = ast.Assign([node.target], ast.copy_location(value, node))
        return ast.copy_location(self.generic_visit(assign), node)


def cast_arguments(node: ast.FunctionDef) -> None:
    """Make a kernel do what viper does with annotated arguments, and remove the annotations."""
    casts: list[ast.stmt] = []
    for arg in node.args.args:
        if arg.annotation and ast.unparse(arg.annotation) in POINTERS:
            casts += ast.parse(f"{arg.arg} = {ast.unparse(arg.annotation)}(_{arg.arg})").body
            arg.arg = "_" + arg.arg
        arg.annotation = None
    for cast in casts:
        for part in ast.walk(cast):
            ast.copy_location(part, node)
    docstring = int(ast.get_docstring(node) is not None)
    node.body[docstring:docstring] = casts
    node.returns = None
